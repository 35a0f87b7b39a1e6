import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withoutComments } from '../support/import-rule.ts';
import { readTree, root } from '../support/source-tree.ts';
import { extensionCommands, extensionOf, refusalOfExtension, refusalsOf, whyNoAzureCli } from './azure-cli.ts';
import { callOfAz, type Written, writtenIn } from './documents.ts';
import { printed, remedyLines } from './messages.ts';
import { createPowerShell, type PowerShell } from './powershell.ts';
import { createShell, filledIn, type Shell } from './shell.ts';

const documents = readTree('*.md', '{src,infra,bicep}/**/*.{md,yaml,bicepparam}');
const written: readonly Written[] = [
  ...[...documents].flatMap(([path, text]) => (path === 'CHANGELOG.md' ? [] : writtenIn(path, text))),
  ...printed,
];

/** A call of `az` in what is written. */
interface Call {
  readonly of: Written;
  readonly args: readonly string[];
}

let shell: Shell;
let powerShell: PowerShell;
let calls: readonly Call[];
beforeAll(async () => {
  shell = createShell();
  powerShell = await createPowerShell();
  calls = written.flatMap(callsOf);
});
afterAll(() => shell.close());

/** Every call that bash makes of a line; of a command that is only named, the one that shows its help. */
function callsOf(of: Written): Call[] {
  const made = of.kind === 'name' ? [[...of.text.split(' ').slice(1), '--help']] : shell.callsOf(filledIn(of.text));
  return made.map((args) => ({ of, args }));
}

const occurrences = (text: string): number => [...text.matchAll(callOfAz)].length;

describe('every line for the Azure CLI is found', () => {
  /** By `git grep`, which shares nothing with the extraction: path and line of each place. */
  const { stdout } = spawnSync(
    'git',
    // The acceptance run makes its argument lists in functions, each of which its own tests put to the parser.
    ['grep', '--untracked', '-nIoP', '\\baz (?=[a-z$])', '--', ':!test', ':!CHANGELOG.md', ':!infra/acceptance/*.ts'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  const counted = new Map<string, number>();
  for (const line of stdout.trim().split('\n')) {
    const path = line.split(':')[0] ?? '';
    counted.set(path, (counted.get(path) ?? 0) + 1);
  }
  const sources = new Set(printed.map(({ path }) => path));

  test('in documents, as many as grep finds', () => {
    const inDocuments = [...counted].filter(([path]) => documents.has(path));
    const found = inDocuments.map(([path]): [string, number] => [
      path,
      written.filter((one) => one.path === path).reduce((sum, { text }) => sum + occurrences(text), 0),
    ]);
    expect(found).toEqual(inDocuments);
    expect(found.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(40);
  });

  test('in files that print commands', () => {
    expect([...counted.keys()].filter((path) => !documents.has(path)).sort()).toEqual([...sources].sort());
  });

  test('wherever a program prints one: its words are in a line that was made', () => {
    const missing = [...sources].flatMap((path) => {
      const code = withoutComments(readTree(path).get(path) ?? '');
      const made = printed.filter((one) => one.path === path).map(({ text }) => text);
      const spelled = [...code.matchAll(/\baz [a-z][a-z-]*( [a-z][a-z-]*)*/g)].map(([words]) => words);
      expect(code.search(callOfAz), path).not.toBe(-1);
      return spelled.filter((words) => !made.some((line) => line.includes(words)));
    });
    expect(missing).toEqual([]);
  });
});

test('bash calls az for each of them, and nothing is left to fill in', () => {
  const called = new Set(calls.map(({ of }) => of));
  expect(written.filter((one) => !called.has(one))).toEqual([]);
  expect(calls.filter(({ args }) => /[<>]|\$[({]|undefined|null/.test(args.join(' ')))).toEqual([]);
});

test('a line that bash cannot run is reported', () => {
  expect(() => shell.callsOf('az vm show --name "web')).toThrow(/unexpected EOF/);
  expect(() => shell.callsOf('az vm show --resource-group web(test)')).toThrow(/syntax error/);
  expect(() => shell.callsOf('az vm show | jqq .')).toThrow(/jqq: command not found/);
});

const hasParentheses = (line: string): boolean => line.includes('"rg(test)"');

test.for(remedyLines.filter((line) => !hasParentheses(line)))('PowerShell calls az with the same words: %s', (line) => {
  expect(powerShell.callsOf(filledIn(line))).toEqual(shell.callsOf(filledIn(line)));
});

test.for([
  { line: 'az vm show --name $name', message: /PowerShell/ },
  { line: 'az vm show --name "web', message: /PowerShell cannot read/ },
  { line: 'az vm show && az vm list', message: /PowerShell cannot read|more than one command/ },
  { line: `az rest --body '{"a":1}'`, message: /az\.cmd does not get/ },
  { line: 'az vm list --query "length(@)"', message: /az\.cmd does not get/ },
  { line: 'az vm show --ids @(1,2)', message: /expression/ },
  // Quotes that bash takes too do not help: https://github.com/Azure/azure-cli/blob/dev/doc/quoting-issues-with-powershell.md
  { line: 'az vm show --resource-group "rg(test)"', message: /az\.cmd does not get/ },
])('a line that PowerShell would change is reported: $line', ({ line, message }) => {
  expect(() => powerShell.callsOf(line)).toThrow(message);
});

describe('a command of an extension', () => {
  test('has the options documented by Microsoft', () => {
    const ofExtensions = calls.flatMap(({ args }) => {
      const extension = extensionOf(args);
      return extension === null ? [] : [{ args, extension }];
    });
    expect(ofExtensions.flatMap(({ args, extension }) => refusalOfExtension(args, extension) ?? [])).toEqual([]);
    expect(new Set(ofExtensions.map(({ extension }) => extension))).toEqual(new Set(extensionCommands));
    for (const { command, extension, source } of extensionCommands) {
      console.warn(`  not put to the parser: az ${command} (extension ${extension} is not on PyPI; see ${source})`);
    }
  });

  test('is not called where the question whether to install it could not be seen', () => {
    const hidden = written.filter(
      ({ text }) =>
        extensionCommands.some(({ command }) => text.includes(`$(az ${command} `)) &&
        !text.startsWith('az extension add --name '),
    );
    expect(hidden).toEqual([]);
  });

  test.for([
    { args: ['graph', 'query', '--first', '9'], refused: 'required: --graph-query' },
    { args: ['graph', 'query', '--graph-query', 'x', '--skip-tokn', 'y'], refused: 'unknown: --skip-tokn' },
  ])('is refused: $refused', ({ args, refused }) => {
    const extension = extensionOf(args);
    expect(extension && refusalOfExtension(args, extension)).toBe(refused);
  });
});

const missing = whyNoAzureCli();
if (missing !== null) {
  console.warn(`  skipped: what the parser of the Azure CLI says (${missing}); test/azure-cli/prepare fetches it`);
}

/** Lines with one fault each, and what the CLI says of it. */
const faults: readonly { readonly line: string; readonly message: RegExp }[] = [
  { line: 'az vm shwo --resource-group rg --name x', message: /'shwo' is misspelled or not recognized/ },
  { line: 'az policy remediations list', message: /'remediations' is misspelled or not recognized/ },
  { line: 'az monitor data-collection rule list', message: /'data-collection' is misspelled or not recognized/ },
  { line: 'az vm show --resource-group rg --name x --expnad y', message: /unrecognized arguments: --expnad y/ },
  { line: 'az vm show --resource-group rg', message: /--name .* required/ },
  { line: 'az policy assignment delete --scope /x', message: /required: -n\/--name/ },
  { line: 'az rest --method gte --url /x', message: /'gte' is not a valid value for '--method'/ },
  { line: 'az vm list --query "[?x"', message: /argument --query: invalid/ },
  { line: 'az vm show --ids web_3', message: /invalid resource ID: web_3/ },
  { line: 'az sig delete --resource-group rg --gallery-name', message: /--gallery-name: expected one argument/ },
  { line: 'az vm list-sizes --location westeurope', message: /has been deprecated/ },
  { line: 'az vmss aplication --help', message: /'aplication' is misspelled or not recognized/ },
];

describe.skipIf(missing !== null)('the parser of the Azure CLI', () => {
  let parsed: readonly Call[];
  let refusals: readonly (string | null)[];
  // One process for all: the Azure CLI takes seconds to start.
  beforeAll(() => {
    parsed = calls.filter(({ args }) => extensionOf(args) === null);
    refusals = refusalsOf([...parsed.map(({ args }) => args), ...faults.flatMap(({ line }) => shell.callsOf(line))]);
  }, 300_000);

  test('accepts every line of documents and messages, and knows every command that is named', () => {
    const refused = parsed.flatMap(({ of }, index) =>
      refusals[index] === null ? [] : { of, message: refusals[index] },
    );
    expect(refused).toEqual([]);
    expect(parsed.length).toBeGreaterThan(70);
  });

  test.for(faults.map((fault, index) => ({ ...fault, index })))('refuses $line', ({ message, index }) => {
    expect(refusals[parsed.length + index]).toMatch(message);
  });
});
