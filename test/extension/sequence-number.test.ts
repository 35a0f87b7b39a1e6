import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  appliedInRegistry,
  inFile,
  registryDeletes,
  registryKey,
  registryQuery,
  registryWrites,
  sequenceNumber,
} from '../../src/extension/sequence-number.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';

/** A folder with settings of these numbers, each written a second after the one before. */
function folderWith(directory: string, names: readonly string[]): string {
  const folder = join(directory, 'config');
  mkdirSync(folder);
  for (const [n, name] of names.entries()) {
    writeFileSync(join(folder, name), '');
    utimesSync(join(folder, name), 1_000 + n, 1_000 + n);
  }
  return folder;
}

const cases: readonly { name: string; env: NodeJS.ProcessEnv; files: readonly string[]; number: number | null }[] = [
  { name: 'the agent says it', env: { ConfigSequenceNumber: '7' }, files: ['3.settings'], number: 7 },
  { name: 'the agent says 0', env: { ConfigSequenceNumber: '0' }, files: ['3.settings'], number: 0 },
  { name: 'the newest file, not the highest', env: {}, files: ['9.settings', '2.settings'], number: 2 },
  { name: 'other files do not count', env: {}, files: ['5.settings', 'HandlerState', 'a.6.settings'], number: 5 },
  { name: 'what is no number does not count', env: { ConfigSequenceNumber: 'x' }, files: ['4.settings'], number: 4 },
  {
    name: 'a number that Azure never gives does not count',
    env: { ConfigSequenceNumber: '9'.repeat(24) },
    files: ['4.settings', `${'8'.repeat(24)}.settings`],
    number: 4,
  },
  { name: 'there are none', env: {}, files: [], number: null },
];

test.for(cases)('the number of the settings: $name', ({ env, files, number }) => {
  using directory = temporaryDirectory('sequence');
  expect(sequenceNumber(env, folderWith(directory.path, files))).toBe(number);
  expect(sequenceNumber({}, join(directory.path, 'absent'))).toBeNull();
});

test('the settings that were applied last are kept in a file, whose content may be that of another handler', async () => {
  using directory = temporaryDirectory('sequence');
  const applied = inFile(directory.path);
  expect(await applied.read()).toBeNull();
  await applied.write({ number: 12, hash: 'abc' });
  expect(await applied.read()).toEqual({ number: 12, hash: 'abc' });
  await applied.forget();
  expect(await applied.read()).toBeNull();
  await applied.forget();
  for (const [text, is] of [
    // As a version before has written it.
    ['5\n', { number: 5, hash: null }],
    ['5', { number: 5, hash: null }],
    ['', null],
    ['five', null],
    ['9'.repeat(24), null],
  ] as const) {
    writeFileSync(join(directory.path, 'mrseq'), text);
    expect([text, await applied.read()]).toEqual([text, is]);
  }
});

// The places are those of https://github.com/Azure/azure-extension-platform/blob/main/pkg/seqno/seqno_windows.go
test('on Windows it is kept in the registry, below the name and version of the handler', () => {
  const folder = 'C:\\Packages\\Plugins\\Contoso.Bridge.ScheduledEventsBridge\\1.0.0';
  const key = 'HKLM\\Software\\Microsoft\\Windows Azure\\HandlerState\\Contoso.Bridge.ScheduledEventsBridge_1.0.0';
  expect(registryKey(folder)).toBe(key);
  expect(registryQuery(folder)).toEqual(['query', key]);
  expect(registryWrites(folder, { number: 5, hash: 'abc' }).map((args) => args.join('|'))).toEqual([
    `add|${key}|/v|SettingsHash|/t|REG_SZ|/d|abc|/f`,
    `add|${key}|/v|SequenceNumber|/t|REG_DWORD|/d|5|/f`,
  ]);
  expect(registryDeletes(folder)).toEqual([
    ['delete', key, '/v', 'SequenceNumber', '/f'],
    ['delete', key, '/v', 'SettingsHash', '/f'],
  ]);
});

const head = '\r\nHKEY_LOCAL_MACHINE\\Software\\X\r\n';
test.for([
  {
    printed: `${head}    SettingsHash    REG_SZ    0f3a\r\n    SequenceNumber    REG_DWORD    0x1f\r\n\r\n`,
    is: { number: 31, hash: '0f3a' },
  },
  { printed: '    SequenceNumber    REG_DWORD    0x0\n', is: { number: 0, hash: null } },
  { printed: `${head}    SettingsHash    REG_SZ    0f3a\r\n`, is: null },
  { printed: '    SequenceNumber    REG_SZ    5\n', is: null },
  { printed: 'ERROR: The system was unable to find the specified registry key or value.\r\n', is: null },
])('the registry prints $is', ({ printed, is }) => {
  expect(appliedInRegistry(printed)).toEqual(is);
});
