import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readAssumptions } from '../../infra/acceptance/assumptions.ts';
import commands from '../../infra/package/windows/commands.json' with { type: 'json' };
import { getSddl, keepFileFromOthers, keepFolderFromOthers } from '../../src/check/windows-access.ts';
import { windowsPlaces } from '../../src/service/windows/places.ts';
import { windowsWords } from '../../src/service/words.ts';
import { filledIn } from '../azure-cli/shell.ts';
import { refusalOf } from '../documents/refusal.ts';
import { createPowerShellReader, type PowerShellReader } from '../support/powershell.ts';
import { readTree } from '../support/source-tree.ts';

let powerShell: PowerShellReader;
beforeAll(async () => {
  powerShell = await createPowerShellReader();
});

const documents = readTree('README.md', '.github/**/*.md', '{src,test,infra,bicep}/**/*.md');
const blocks = [...documents].flatMap(([path, text]) =>
  [...text.matchAll(/^( *)```powershell\n([\s\S]*?)^\1```$/gm)].map(([, , inside = '']) => ({ path, text: inside })),
);

test('Windows PowerShell 5.1 can read every block of it in a document', () => {
  const faults = blocks.flatMap(({ path, text }) =>
    powerShell.faultsIn(filledIn(text)).map((fault) => `${path}: ${fault}`),
  );
  expect(faults).toEqual([]);
});

/** What the scripts of the package make of their names. */
const verbs: Readonly<Record<string, readonly string[]>> = {
  'scheduled-events-bridge': [],
  install: ['service', 'install', '--from', 'folder'],
  update: ['service', 'update', '--from', 'folder'],
  remove: ['service', 'uninstall'],
};

/** The arguments of each call of the bridge, by its command or a script of the package. */
const callsOf = (text: string): readonly (readonly string[])[] =>
  powerShell.read(text, (root) =>
    root.descendantsOfType('command').flatMap((command) => {
      const [, script = ''] = /([\w-]+)\.cmd"?$/.exec(command?.childForFieldName('command_name')?.text ?? '') ?? [];
      const elements = command?.childForFieldName('command_elements')?.namedChildren ?? [];
      const words = elements.flatMap((one) => (one === null || one.type === 'command_argument_sep' ? [] : one.text));
      const [first = '-', ...others] = words;
      if (!(script in verbs)) return [];
      const isInstaller = script === 'install' || script === 'update';
      return [
        [...(verbs[script] ?? []), ...(isInstaller && !first.startsWith('-') ? ['--config', first, ...others] : words)],
      ];
    }),
  );

test('the bridge accepts every call of it in PowerShell', () => {
  const texts = [...blocks.map(({ text }) => text), ...windowsAssumptions, ...windowsSteps];
  const calls = texts.flatMap((text) => callsOf(filledIn(text)));
  expect(calls.length).toBeGreaterThan(8);
  expect(calls.map((call) => [call.join(' '), refusalOf(call)]).filter(([, refusal]) => refusal !== null)).toEqual([]);
  expect(callsOf('.\\a\\install.cmd config.json --no-strat').map(refusalOf)).toEqual([
    expect.stringMatching(/--no-strat/),
  ]);
});

test('Windows PowerShell 5.1 can read every command that installer and check print', () => {
  const folders = { programFiles: 'C:\\Program Files', programData: 'C:\\ProgramData' };
  const { command, showServiceLog, restartService, unmask, firewall } = windowsWords(windowsPlaces(folders));
  const inParentheses = /\(see: ([^)]*)\)/.exec(firewall)?.[1] ?? '';
  const inQuotes = /"([^"]*)"/.exec(firewall)?.[1] ?? '';
  const access = [getSddl, keepFileFromOthers("C:\\it's"), keepFolderFromOthers('C:\\a b')];
  const printed = [
    `${command} check`,
    showServiceLog,
    restartService,
    unmask.replace(/^run /, ''),
    inParentheses,
    inQuotes,
    ...access,
  ];
  expect(printed.filter((text) => text === '')).toEqual([]);
  expect(printed.flatMap((text) => powerShell.faultsIn(text))).toEqual([]);
});

/** The script in a command line for cmd.exe. */
const scriptIn = (line: string): string => / -Command "([^"]*)"/.exec(line)?.[1] ?? '';

test.for(['install', 'update', 'customScript'] as const)(
  'PowerShell runs its part of %s to the end or fails',
  (key) => {
    const script = scriptIn(commands[key].replace('<configuration>', 'e30=').replace('<package>', 'a/b.zip'));
    expect(powerShell.faultsInScript(script)).toEqual([]);
    // cmd.exe reads the line first.
    expect(script).not.toMatch(/[%"^!]/);
  },
);

test('PowerShell starts without a profile, without a prompt, and whatever the policy of the machine is', () => {
  for (const line of Object.values(commands)) {
    const calls = line.match(/powershell\.exe.*?(?= ")/g) ?? [];
    for (const call of calls) {
      expect(call).toBe('powershell.exe -NoLogo -NoProfile -NonInteractive -ExecutionPolicy Bypass -Command');
    }
  }
});

/** cmd.exe reads 8,191 characters. https://learn.microsoft.com/troubleshoot/windows-client/shell-experience/command-line-string-limitation */
test('the command of the Custom Script extension has room for a configuration of 5,000 bytes', () => {
  const configuration = Buffer.alloc(5_000, 'x').toString('base64');
  const name = `packages/scheduled-events-bridge-10.20.30-win-x64.zip`;
  const line = commands.customScript.replace('<configuration>', configuration).replace('<package>', name);
  expect(line.length).toBeLessThanOrEqual(8_191);
});

test('both commands of the VM application differ only in their verb', () => {
  expect(commands.update).toBe(commands.install.replace('install.cmd', 'update.cmd'));
  expect(commands.install).toContain(commands.packageFileName);
  expect(commands.install).toContain(`install.cmd ${commands.configFileName}`);
});

const windowsAssumptions = readAssumptions().flatMap(({ on, commands }) => (on === 'windows' ? (commands ?? []) : []));

const workflow = parse(readTree('.github/workflows/ci.yml').get('.github/workflows/ci.yml') ?? '') as {
  readonly jobs: Readonly<Record<string, { readonly 'runs-on': string; readonly steps: readonly { run?: string }[] }>>;
};
const windowsSteps = Object.values(workflow.jobs)
  .filter((job) => job['runs-on'].startsWith('windows'))
  .flatMap(({ steps }) => steps.flatMap(({ run }) => (run === undefined ? [] : [run])));

test('PowerShell can read every step that runs on Windows', () => {
  expect(windowsSteps.flatMap((step) => powerShell.faultsIn(step.replaceAll(/\$\{\{.*?\}\}/g, 'x')))).toEqual([]);
});

test.for([
  ['Get-Service -Name "bridge', /cannot read/],
  ['$x = $a ? 1 : 2', /cannot read/],
  ['$x = $a ?? 1', /cannot read/],
  ['$x = $a?.b', /cannot read/],
  ['Get-Item x && Get-Item y', /PowerShell 7/],
  ['Get-Item x || exit 1', /PowerShell 7/],
  ['Get-Item x > list.txt', /UTF-16/],
  ['Set-Content -Path x -Value y', /ANSI/],
  ['if ($IsWindows) { Get-Item x }', /PowerShell 6/],
  ['sc query bridge', /sc is Set-Content: write sc\.exe/],
  ['Remove-Service -Name bridge', /not a cmdlet/],
  ['Get-Service -Nmae bridge', /no -Nmae/],
  ['1..3 | ForEach-Object -Parallel { 1 }', /no -Parallel/],
] as const)('PowerShell with %j is reported', ([text, fault]) => {
  expect(powerShell.faultsIn(text)).toEqual([expect.stringMatching(fault)]);
});

const stop = "$ErrorActionPreference = 'Stop'; ";
test.for([
  ['Get-Item x', /is not first/],
  [`${stop}& .\\a.cmd; Get-Item b; exit $LASTEXITCODE`, /exit code of .*a\.cmd is not read/],
  [`${stop}& .\\a.cmd; $code = $LASTEXITCODE`, /does not end with the exit code/],
  [`${stop}Remove-Item x -Recurse`, /without -LiteralPath/],
] as const)('a PowerShell script with %j is reported', ([text, fault]) => {
  expect(powerShell.faultsInScript(text)).toEqual([expect.stringMatching(fault)]);
});
