import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

/** Names that were used for what has a standard term. src/README.md has the glossary. */
const retiredSymbols = `
  assembleBridge balanceBooks bearsWitness becomeOwnerOf Bell Bench carryOut CarryOut Circumstances Consequence CountedTurn
  Delivery feel Flight giveUp goThere Greeting Ground HostReading inTheTable Ink keepHouse knownIn layGround Leaving Ledger
  Lineup Look lookAll lookAround looks Making mostTelling Narrator onTheHub RequestDesk Rig sayOnce saysGoodbye Seen SeenDocument
  setAside Settlement Sight sights sightsOf StepToDescribe Storyteller Surroundings Symptom tell teller tellLeft tellPerson
  TickFigures tidy told Told toldBy TroubleTeller TurnLog UndecidedDocument unfit Unplaced Unsequenced untold Unwritten Vitals
  Voice wasFelt wayIsOpen Whereabouts
`;
const retiredFiles = `
  ask bell by-hand carry-out greeting ground ink ledger left-by-hand narrator overlay place request-desk rescue rig room
  set-aside sights surroundings symptom tally tidy told trouble turn-log unfit unwritten vitals voice
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
  [/sign of life/i, 'heartbeat'],
  [/\b(comes?|came) about\b/i, 'is established'],
];

/** Words that stand for a standard term in no comment and no message of these rooms. */
const plainRooms = [
  'approver',
  'azure-simulator',
  'check',
  'cli',
  'config',
  'health',
  'heartbeat',
  'host',
  'http',
  'imds',
  'lifecycle',
  'process',
  'recording',
  'requests',
  'service',
];
const privateWords = /\b(told|tells?|nobody|anybody|somebody|everybody|for ever|suffers?)\b/i;
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

test('no comment and no message of a plain room has a private word', () => {
  const rooms = filesIn('src', '.ts').filter((path) => plainRooms.some((room) => path.startsWith(`src/${room}/`)));
  expect(rooms.length).toBeGreaterThan(250);
  const found = rooms.flatMap((path) =>
    text(path)
      .split('\n')
      .filter((line) => privateWords.test(line) && !isContract(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});
