import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { contentsOf } from '../../../infra/package/contents.ts';
import { exitCodes } from '../../../src/cli/exit-codes.ts';
import { refusals } from '../../../src/service/refusals.ts';
import { moment, smallProgram, smallRuntime } from './harness.ts';

const folder = join(import.meta.dirname, '../../../infra');
const scripts = globSync('{package/windows,extension}/*.cmd', { cwd: folder }).map((path) => ({
  path,
  text: readFileSync(join(folder, path), 'utf8').replaceAll('\r\n', '\n'),
}));

test('the package has every script, with the line ends of Windows, and update is install', () => {
  const packed = new Map(
    contentsOf({
      platform: 'win-x64',
      program: smallProgram,
      runtime: smallRuntime,
      serviceHost: Buffer.from('MZ'),
      at: moment,
      key: null,
    }).map(({ path, content }) => [path, content.toString('latin1')]),
  );
  const ours = scripts.filter(({ path }) => path.startsWith('package/'));
  expect(ours.length).toBe(3);
  for (const { path, text } of ours) expect(packed.get(basename(path))).toBe(text.replaceAll('\n', '\r\n'));
  expect(packed.get('update.cmd')).toBe(packed.get('install.cmd'));
});

/** What cmd.exe would do otherwise than it looks, each a phrase. */
function faultsOf(text: string): readonly string[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('rem '));
  const labels = lines.filter((line) => line.startsWith(':')).map((line) => line.slice(1));
  const targets = [...text.matchAll(/\bgoto (\S+)/g)].map(([, label = '']) => label);
  const codes: readonly number[] = [exitCodes.usage, ...Object.values(refusals)].map(({ code }) => code);
  return [
    ...(lines[0] === '@echo off' ? [] : ['it prints its lines']),
    // cmd.exe reads a script in the code page of the machine.
    ...(/^[\n\x20-\x7e]*$/.test(text) ? [] : ['it is not ASCII']),
    ...(/^\s*(cd|chdir|pushd)\b/im.test(text) ? ['it changes the folder, which fails on a network path'] : []),
    ...targets.filter((label) => !labels.includes(label)).map((label) => `there is no label ${label}`),
    ...labels.filter((label) => !targets.includes(label) && label !== 'run').map((label) => `nothing goes to ${label}`),
    ...[...text.matchAll(/\bexit (?!\/b (\d+|%ERRORLEVEL%)$)/gm)].map(() => 'it ends the shell, or without a code'),
    ...[...text.matchAll(/\bexit \/b (\d+)/g)]
      .filter(([, code]) => !codes.includes(Number(code)))
      .map(([, code]) => `${code} is not documented`),
    // Without delayed expansion a path with & or ) would be read as a command.
    ...lines
      .filter((line) => line.startsWith('>&2 echo') && line.includes('%'))
      .map((line) => `unsafe message: ${line}`),
    ...lines
      .filter((line) => /%(~dp0|here%|~1)/.test(line.replaceAll(/"[^"]*"/g, '')))
      .map((line) => `a path without quotes: ${line}`),
    ...lines
      .filter((line) => /(^| )(certutil|findstr|reg)(\.exe)? /.test(line))
      .map((line) => `found by PATH: ${line}`),
  ];
}

test.for(scripts.map(({ path }) => path))('%s has no fault that cmd.exe would not report', (path) => {
  expect(faultsOf(scripts.find((one) => one.path === path)?.text ?? '')).toEqual([]);
});

test.for([
  ['echo hello', 'it prints its lines'],
  ['@echo off\nrem grüße', 'it is not ASCII'],
  ['@echo off\npushd "%~dp0"', 'it changes the folder, which fails on a network path'],
  ['@echo off\ngoto nowhere', 'there is no label nowhere'],
  ['@echo off\n:unused', 'nothing goes to unused'],
  ['@echo off\nexit 3', 'it ends the shell, or without a code'],
  ['@echo off\nexit /b 54', '54 is not documented'],
  ['@echo off\n>&2 echo In %here% nothing is.', 'unsafe message: >&2 echo In %here% nothing is.'],
  ['@echo off\ncall %~dp0x.cmd', 'a path without quotes: call %~dp0x.cmd'],
  ['@echo off\nreg query x', 'found by PATH: reg query x'],
] as const)('a script with %j is reported', ([text, fault]) => {
  expect(faultsOf(text)).toContain(fault);
});
