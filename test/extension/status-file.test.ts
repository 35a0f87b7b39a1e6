import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ExtensionStatus, hasSucceeded, shortened, writeStatus } from '../../src/extension/status-file.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { faultsOfStatus } from './status-rules.ts';

const times = { now: new Date('2026-03-04T05:06:07.890Z'), began: new Date('2026-03-04T05:06:00Z') };
const success: ExtensionStatus = { status: 'success', code: 0, message: 'It runs.', substatuses: [] };

function written(status: ExtensionStatus): string {
  using directory = temporaryDirectory('status');
  expect(hasSucceeded(directory.path, 3)).toBe(false);
  writeStatus(directory.path, 3, success, times);
  writeStatus(directory.path, 3, status, times);
  expect(hasSucceeded(directory.path, 3)).toBe(status.status === 'success');
  expect(readdirSync(directory.path)).toEqual(['3.status']);
  return readFileSync(join(directory.path, '3.status'), 'utf8');
}

test('a status has the fields that the guest agent reads', () => {
  const substatuses = [{ name: 'imds', status: 'warning', message: 'Late.' }] as const;
  const text = written({ status: 'error', code: 53, message: 'Wrong.', substatuses });
  expect(faultsOfStatus(text)).toEqual([]);
  const formatted = (message: string) => ({ lang: 'en-US', message });
  expect(JSON.parse(text)).toEqual([
    {
      version: 1,
      timestampUTC: '2026-03-04T05:06:07Z',
      status: {
        name: 'scheduled-events-bridge',
        operation: 'Enable',
        configurationAppliedTime: '2026-03-04T05:06:00Z',
        status: 'error',
        code: 53,
        formattedMessage: formatted('Wrong.'),
        substatus: [{ name: 'imds', status: 'warning', code: 0, formattedMessage: formatted('Late.') }],
      },
    },
  ]);
});

test('long messages are shortened, so that the agent shortens nothing', () => {
  const message = '😀"\n'.repeat(50_000);
  const substatuses = Array.from({ length: 8 }, (_, n) => ({ name: `sink${n}`, status: 'error', message }) as const);
  expect(faultsOfStatus(written({ ...success, message, substatuses }))).toEqual([]);
  expect(shortened('😀😀😀', 2)).toBe('😀…');
  expect(shortened('abc', 3)).toBe('abc');
});

const refused: readonly { name: string; text: string; fault: string }[] = [
  { name: 'an object', text: '{}', fault: 'it is no array' },
  { name: 'half a file', text: '[{"version', fault: 'it is not JSON' },
  { name: 'no status', text: '[{"version":1}]', fault: 'it has no status' },
  { name: 'a word of others', text: written(success).replace('"success"', '"failed"'), fault: 'status is "failed"' },
  { name: 'no language', text: written(success).replace('"lang":"en-US",', ''), fault: 'status has no lang' },
  { name: 'a local time', text: written(success).replace('07Z', '07+01:00'), fault: 'its timestampUTC is no time' },
];

test.for(refused)('the rules of the agent refuse $name', ({ text, fault }) => {
  expect(faultsOfStatus(text)).toContain(fault);
});

test('a status that another process is just writing is left to it', () => {
  using directory = temporaryDirectory('status');
  const about = { operation: 'Enable', ...times } as const;
  for (const name of ['.3.status.new', `.3.status.${process.ppid}.new`]) {
    writeFileSync(join(directory.path, name), 'half');
    writeStatus(directory.path, 3, success, about);
    expect(readFileSync(join(directory.path, name), 'utf8')).toBe('half');
  }
});
