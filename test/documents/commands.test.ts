import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { npmPackageName } from '../../infra/package/npm.ts';
import { simulatorPackageName } from '../../infra/package/npm-simulator.ts';
import { filledIn } from '../azure-cli/shell.ts';
import { root } from '../support/source-tree.ts';
import { type Block, documents, fencedBlocks } from './blocks.ts';
import { manuals, missingInHelp } from './help.ts';
import { createRecordedShell, type RecordedShell } from './recorded-shell.ts';
import { refusalOf } from './refusal.ts';

const blocks = fencedBlocks();

const product = 'scheduled-events-bridge';
/** Programs of this project, and those that other tests parse: `az` by test/azure-cli. */
const ours = [
  product,
  'scheduled-events-simulator',
  'npm',
  'npx',
  'node',
  'az',
  './reader',
  './subscriber',
  `${product}-version-linux-x64/install.sh`,
  '.ci/run',
];
const isProgram = (word: string): boolean => [...ours, ...Object.keys(manuals), 'sudo'].includes(word);

/** Generated from what the program prints, with placeholders: see test/operating-system.test.ts. */
const printed = 'infra/reference/messages.md';

/** Code spans that begin with a program and have arguments: commands within a sentence. Paths on a machine are held in test/infra. */
const spans: readonly Block[] = [...documents]
  .filter(([path]) => path !== printed)
  .flatMap(([path, text]) =>
    [...text.replace(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/`([^`\n]+)`/g)]
      .map(([, span = '']) => span)
      .filter(
        (span) =>
          !/^sudo \.?\//.test(span) &&
          /^(\S+=\S+ )?[\w./-]+ ./.test(span) &&
          isProgram(span.replace(/^\S+=\S+ /, '').split(' ')[0] ?? ''),
      )
      .map((span) => ({ path, language: 'span', text: span })),
  );

interface Call {
  readonly of: Block;
  readonly words: readonly string[];
}

let shell: RecordedShell;
let calls: readonly Call[];
beforeAll(() => {
  shell = createRecordedShell([...ours, ...Object.keys(manuals)], ['local-azure/variables.sh']);
  const commands = [...blocks.filter(({ language }) => language === 'bash'), ...spans];
  const called = shell.callsOf(commands.map(({ text }) => filledIn(text)));
  calls = commands.flatMap((of, index) => (called[index] ?? []).map((words) => ({ of, words })));
});
afterAll(() => shell.close());

const callsOf = (...programs: readonly string[]): readonly Call[] =>
  calls.filter(({ words: [program = ''] }) => programs.includes(program));
/** What is wrong with the calls, each with its document and its words. */
const faultsOf = (of: readonly Call[], fault: (words: readonly string[]) => string | null): readonly string[] =>
  of.flatMap((call) => {
    const found = fault(call.words);
    return found === null ? [] : [`${call.of.path}: ${call.words.join(' ')}: ${found}`];
  });

test('every fenced block has a language', () => {
  expect(blocks.filter(({ language }) => language === '').map(({ path, text }) => `${path}: ${text}`)).toEqual([]);
  expect(blocks.length).toBeGreaterThan(60);
});

test('bash runs every block of commands, and calls a program that is known here', () => {
  const called = new Set(calls.map(({ of }) => of));
  const without = blocks.filter((of) => of.language === 'bash' && !called.has(of));
  expect(without.map(({ text }) => text.trim())).toEqual(['. local-azure/variables.sh']);
  expect(() => shell.callsOf(['scheduled-events-brigde status'])).toThrow('command not found');
});

/** The arguments in a call of the bridge, however it is started; null for a call of another program. */
function argumentsOfBridge([program, ...words]: readonly string[]): readonly string[] | null {
  if (program === product || program === 'scheduled-events-simulator') return words;
  if (program === 'npx' && ours.includes(words[0] ?? '')) return words.slice(1);
  if (program === 'node' && /\.cjs$/.test(words[0] ?? '')) return words.slice(1);
  if (program === 'npm' && words[0] === 'start') return words.slice(words.indexOf('--') + 1);
  if (program === 'npm' && words[1] === 'demo') return ['demo', ...words.slice(3)];
  if (program === 'docker' && words[0] === 'exec') return words.slice(4);
  if (program === 'kubectl' && words.includes('exec')) return words.slice(words.indexOf('--') + 3);
  return null;
}

test('the bridge accepts every call of it', () => {
  const of = calls.filter(({ words }) => argumentsOfBridge(words) !== null);
  expect(of.length).toBeGreaterThan(25);
  expect(faultsOf(of, (words) => refusalOf(argumentsOfBridge(words) ?? []))).toEqual([]);
  expect(refusalOf(['status', '--jsno'])).toMatch(/unknown option/);
  expect(refusalOf(['outbox', 'shwo', '1'])).toMatch(/unknown command/);
});

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const helpOfScripts = new Map<string, string>();
/** The help of the program that a script starts, or of its verb. */
function helpOfScript(script: string, verb: string): string {
  const file = /^node (\S+)$/.exec(scripts[script] ?? '')?.[1];
  if (file === undefined) return '';
  const words = [join(root, file), ...(verb === 'repository' || verb === 'verify' ? [verb] : []), '--help'];
  const help = helpOfScripts.get(words.join(' ')) ?? spawnSync(process.execPath, words, { encoding: 'utf8' }).stdout;
  helpOfScripts.set(words.join(' '), help);
  return help;
}

const installable = new RegExp(
  `^(--save-dev|${npmPackageName}|${simulatorPackageName}|\\./dist/npm(-simulator)?|@azure/(event-hubs|identity|storage-blob))$`,
);

/** What is wrong with a call of npm that starts something else than the bridge. */
function faultOfNpm([, verb = '', script = '', ...rest]: readonly string[]): string | null {
  if (['ci', 'test', 'start'].includes(verb)) return null;
  // test/infra/package/npm.test.ts installs the package for consumers.
  if (verb === 'install')
    return [script, ...rest].every((name) => installable.test(name)) ? null : 'it is not installed';
  if (verb !== 'run') return `npm ${verb} is not known here`;
  if (!(script in scripts)) return 'there is no such script';
  const given = rest.slice(1);
  if (/^test:/.test(script)) {
    const missing = given.filter((word) => !word.startsWith('-') && !existsSync(join(root, word)));
    return missing.length > 0 ? `there is no ${missing.join(', ')}` : null;
  }
  const help = given.some((word) => word.startsWith('--')) ? helpOfScript(script, given[0] ?? '') : '';
  const unknown = given.filter((word) => word.startsWith('--') && !new RegExp(`${word}[ ,<\\n]`).test(help));
  return unknown.length > 0 ? `it has no ${unknown.join(', ')}` : null;
}

test('npm has every script, each with the options and files that are shown', () => {
  const of = callsOf('npm').filter(({ words }) => words[2] !== 'demo');
  expect(of.length).toBeGreaterThan(20);
  expect(faultsOf(of, faultOfNpm)).toEqual([]);
  expect(faultOfNpm(['npm', 'run', 'costs', '--', '--vmss', '10'])).toBe('it has no --vmss');
  expect(faultOfNpm(['npm', 'run', 'test:unit', '--', 'test/nowhere'])).toMatch(/no test\/nowhere/);
});

test('node is given a file that there is', () => {
  const made = [
    'subscriber.ts',
    'subscriber.mjs',
    'reader.mjs',
    `dist/${product}.cjs`,
    `${product}.cjs`,
    'dist/scheduled-events-simulator.cjs',
  ];
  expect(
    faultsOf(callsOf('node'), ([, file = '']) =>
      made.includes(file) || existsSync(join(root, file)) ? null : 'no such file',
    ),
  ).toEqual([]);
});

test('the help of every other program names the verbs and options that are shown', () => {
  const of = callsOf(...Object.keys(manuals));
  const notInstalled = new Set(
    of.filter(({ words }) => missingInHelp(words) === null).map(({ words }) => words[0] ?? ''),
  );
  for (const program of notInstalled) {
    console.warn(`  not held against its help: ${program} (it is not installed here; see ${manuals[program]?.source})`);
  }
  expect(of.length).toBeGreaterThan(25);
  const faults = faultsOf(of, (words) => {
    const missing = missingInHelp(words) ?? [];
    return missing.length > 0 ? `its help lacks ${missing.join(', ')}` : null;
  });
  expect(faults).toEqual([]);
});

test('help without an option or a verb is noticed', () => {
  expect(missingInHelp(['tar', '--extarct'])).toEqual(['--extarct']);
  expect(missingInHelp(['tar', '-xzf', 'a.tar.gz'])).toEqual([]);
});
