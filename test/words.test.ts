import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

/** Names that were used for what has a standard term. src/README.md has the glossary. */
const retiredSymbols = `
  assembleBridge balanceBooks bearsWitness becomeOwnerOf Bell Bench carryOut CarryOut Circumstances Consequence CountedTurn
  Delivery feel Flight giveUp goThere Greeting Ground HostReading inTheTable Ink keepHouse knownIn layGround Leaving Ledger
  Lineup Look lookAll lookAround looks Making mostTelling Narrator onTheHub RequestDesk Rig sayOnce saysGoodbye Seen SeenDocument
  setAside Settlement Sight sights sightsOf StepToDescribe StorageTrouble Storyteller Surroundings Symptom tell teller tellLeft tellPerson
  TickFigures tidy told Told toldBy troubleOf TroubleTeller TurnLog UndecidedDocument unfit Unplaced Unsequenced untold Unwritten Vitals
  Voice wasFelt wayIsOpen Whereabouts

  Affliction afflict asItGoes askOnTerminal AskPerson askTheService asAzureSaid createDoor doors Feeling greet greeting
  greetings Heart Life lifeOf lives lookForService Misfit misfit misfits patienceMs RigOptions saidAt says Spoken stories
  story Story storyOf strangers VmStory
`;
/** Names that no identifier has: neither a declaration nor a property, a column or a variable of a query. */
const retiredIdentifiers =
  /\b(away(From|To|Until|Ms|Seconds)|Away(From|Until)|isAway|IsTakenAway|Tellers?|lockPatienceMs|patienceMs|VmStory|[a-z]+Misfits?)\b|\b(tell|greet)\(/;
const retiredFiles = `
  ask bell by-hand carry-out greeting ground ink ledger left-by-hand narrator overlay place request-desk rescue rig room
  set-aside sights story surroundings symptom tally tidy told trouble turn-log unfit unwritten vitals voice
`;

/** Sentences of comments, messages, help texts and documents, each with its plain form. */
const retiredPhrases: readonly (readonly [phrase: RegExp, plain: string])[] = [
  [/unless it is told/i, 'unless … is configured'],
  [/derives? the li(f|v)es? of/i, 'tracks the lifecycle of'],
  [/\b(any|the) .* with npm will do\b/i, 'npm installs the Node.js version it needs'],
  [/answers? nonsense/i, 'failed or malformed response'],
  [/what mends|\bmend(s|ed)?\b/i, 'how to fix'],
  [/proves? every/i, 'verifies each'],
  [/asks nobody/i, 'makes no network calls'],
  [/told by|\btold of\b|is told\b/i, 'reported by, is reported'],
  [/must bear to/i, 'must be idempotent'],
  [/(tells?|says) how the bridge is/i, 'shows health'],
  [/\bgiv(e|es|en|ing) (it |them )?up\b/i, 'discard'],
  [/of no use\b/i, 'unusable'],
  [/needs a person/i, 'operator action required'],
  [/it was not done/i, 'request failed'],
  [/as list tells/i, 'as listed'],
  [/^There is none\.$/m, 'No pending or dead records.'],
  [/nothing is to be done/i, 'no action needed'],
  [/(is|are) given again/i, 'recovered'],
  [/nobody can be asked/i, 'No terminal to confirm on; pass --yes'],
  [/as whom the service/i, 'run the service as'],
  [/tells? nothing of itself/i, 'left no status'],
  [/the least that is logged/i, 'Minimum log level'],
  [/\bis no matter of\b/i, 'does not affect'],
  [/mistakes? of (ours|this program)/i, 'internal error'],
  [/later is dear/i, 'Switching later is expensive'],
  [/\breckon(s|ed)?\b/i, 'estimates'],
  [/\b(comes?|came) about\b/i, 'is established'],
  [/\b(stands?|stood) in\b/i, 'is in, replaces'],
  [/\bsigns? of life\b/i, 'heartbeat'],
  [/\bgo(es)? unseen\b/i, 'are missed'],
  [/has taken nothing/i, 'has accepted nothing'],
  [/cannot be asked|asked how it is/i, 'does not answer status requests'],
  [/single records, /i, 'refused 2 records, now dead letters'],
  [/(starts?|start) with the machine/i, 'starts at boot'],
  [/\bis at (work|fault) on this machine/i, 'is running on this machine'],
  [/cannot be made\b/i, 'cannot be created'],
  [/(came|comes?) in sight|hides in a gap/i, 'first saw the event; polls were missed'],
  [/looked at on/i, 'checked on'],
  [/did not come to an end/i, 'did not finish'],
  [/which makes the account/i, 'which creates the account'],
];

/** Words that no line of src has, and no comment and no test title anywhere: each has a plain form. */
const privateWords =
  /\b(told|tells?|nobody|anybody|somebody|everybody|for ever|suffers?|so many|in vain|anew|(stood|stands?) still)\b/i;
/** Words that only comments and test titles must not have: in code some are published values. */
const privateInProse =
  /\b(by hand|sights?|given up|comes? back|goes on|go on|(is|are) over(?! the)|whoever|but for)\b/i;
/** A value of the status socket, a published contract. */
const isContract = (line: string): boolean => /'nobody'|`nobody`|\bnobody\b(;|: ServiceAnswer)/.test(line);

/** SQL that is published: it never changes, nor do its comments. */
const migrations = 'src/outbox/store/schema/';

const root = join(import.meta.dirname, '..');
const filesIn = (folder: string, extension: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(extension) && !path.includes('node_modules'))
    .map((path) => join(folder, path));
const text = (path: string): string => readFileSync(join(root, path), 'utf8');
const linesOf = (paths: readonly string[]): readonly { readonly path: string; readonly line: string }[] =>
  paths.flatMap((path) =>
    text(path)
      .split('\n')
      .map((line) => ({ path, line: line.trim() })),
  );
const listOf = (names: string): ReadonlySet<string> => new Set(names.trim().split(/\s+/));
const sources = ['src', 'test', 'infra'].flatMap((folder) => filesIn(folder, '.ts'));

test('no file has a retired name', () => {
  expect(sources.length).toBeGreaterThan(500);
  const retired = listOf(retiredFiles);
  expect(sources.filter((path) => retired.has(basename(path).replace(/(\.test)?\.ts$/, '')))).toEqual([]);
});

test('no symbol has a retired name', () => {
  const declared = /^\s*(?:export )?(?:async )?(?:function\*?|const|let|class|interface|type) (\w+)/gm;
  const retired = listOf(retiredSymbols);
  const found = sources.flatMap((path) =>
    [...text(path).matchAll(declared)]
      .filter(([, name = '']) => retired.has(name) || retired.has(name.replace(/^create/, '')))
      .map(([, name]) => `${path}: ${name}`),
  );
  expect(found).toEqual([]);
});

test('no identifier has a retired name', () => {
  const others = ['.kql', '.py', '.go', '.java', '.rs'].flatMap((extension) =>
    ['infra', 'test'].flatMap((folder) => filesIn(folder, extension)),
  );
  expect(others.length).toBeGreaterThan(40);
  const code = [...sources, ...others].filter((path) => path !== 'test/words.test.ts');
  expect(linesOf(code).filter(({ line }) => retiredIdentifiers.test(line))).toEqual([]);
});

test('no comment, no message and no document has a retired phrase', () => {
  const documents = [...filesIn('src', '.md'), ...filesIn('infra', '.md'), 'README.md'];
  expect(documents.length).toBeGreaterThan(20);
  const code = filesIn('src', '.ts').filter((path) => !path.startsWith(migrations));
  const found = [...code, ...documents].flatMap((path) =>
    retiredPhrases.flatMap(([phrase, plain]) => {
      const [match] = text(path).match(phrase) ?? [];
      return match === undefined ? [] : [`${path}: "${match}", plainly: "${plain}"`];
    }),
  );
  expect(found).toEqual([]);
});

test('no comment and no message of src has a private word', () => {
  const code = filesIn('src', '.ts').filter((path) => !path.startsWith(migrations));
  expect(linesOf(code).filter(({ line }) => privateWords.test(line) && !isContract(line))).toEqual([]);
});

test('no comment and no test title has a private word', () => {
  const isProse = (line: string): boolean => /^\s*(\/\*|\*|\/\/|\]\)\(|(test|describe)\b.*\()|\s\/\/ /.test(line);
  const code = sources.filter((path) => !path.startsWith(migrations) && path !== 'test/words.test.ts');
  const prose = linesOf(code).filter(({ line }) => isProse(line));
  expect(prose.length).toBeGreaterThan(8000);
  const found = prose.filter(({ line }) => privateWords.test(line) || privateInProse.test(line));
  expect(found.filter(({ line }) => !isContract(line))).toEqual([]);
});
