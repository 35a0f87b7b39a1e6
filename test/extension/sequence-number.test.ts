import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  inFile,
  numberInRegistry,
  registryDelete,
  registryKey,
  registryQuery,
  registryWrite,
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
  { name: 'there are none', env: {}, files: [], number: null },
];

test.for(cases)('the number of the settings: $name', ({ env, files, number }) => {
  using directory = temporaryDirectory('sequence');
  expect(sequenceNumber(env, folderWith(directory.path, files))).toBe(number);
  expect(sequenceNumber({}, join(directory.path, 'absent'))).toBeNull();
});

test('the number that was applied last is kept in a file, whose content may be that of another handler', async () => {
  using directory = temporaryDirectory('sequence');
  const applied = inFile(directory.path);
  expect(await applied.read()).toBeNull();
  await applied.write(12);
  expect(await applied.read()).toBe(12);
  await applied.forget();
  expect(await applied.read()).toBeNull();
  await applied.forget();
  for (const [text, number] of [
    ['5\n', 5],
    ['', null],
    ['five', null],
  ] as const) {
    writeFileSync(join(directory.path, 'mrseq'), text);
    expect([text, await applied.read()]).toEqual([text, number]);
  }
});

// The places are those of https://github.com/Azure/azure-extension-platform/blob/main/pkg/seqno/seqno_windows.go
test('on Windows it is kept in the registry, below the name and version of the handler', () => {
  const folder = 'C:\\Packages\\Plugins\\Contoso.Bridge.ScheduledEventsBridge\\1.0.0';
  const key = 'HKLM\\Software\\Microsoft\\Windows Azure\\HandlerState\\Contoso.Bridge.ScheduledEventsBridge_1.0.0';
  expect(registryKey(folder)).toBe(key);
  expect(registryQuery(folder)).toEqual(['query', key, '/v', 'SequenceNumber']);
  expect(registryWrite(folder, 5).join('|')).toBe(`add|${key}|/v|SequenceNumber|/t|REG_DWORD|/d|5|/f`);
  expect(registryDelete(folder)).toEqual(['delete', key, '/v', 'SequenceNumber', '/f']);
});

test.for([
  { printed: '\r\nHKEY_LOCAL_MACHINE\\Software\\X\r\n    SequenceNumber    REG_DWORD    0x1f\r\n\r\n', number: 31 },
  { printed: '    SequenceNumber    REG_DWORD    0x0\n', number: 0 },
  { printed: '    SequenceNumber    REG_SZ    5\n', number: null },
  { printed: 'ERROR: The system was unable to find the specified registry key or value.\r\n', number: null },
])('the registry prints $number', ({ printed, number }) => {
  expect(numberInRegistry(printed)).toBe(number);
});
