import { expect, test } from 'vitest';
import { joinRecordings } from '../../../../infra/acceptance/events/join-recordings.ts';
import { readRecording } from '../../../../src/azure-simulator/recording/read-recording.ts';

const header = (begunAt: string): string =>
  `${JSON.stringify({ format: 'scheduled-events-recording', version: 1, begunAt, endpoint: 'http://169.254.169.254', apiVersion: '2020-07-01', vm: { name: 'vm-1' } })}\n`;
const change = (atSeconds: number, incarnation: number): string =>
  `${JSON.stringify({ atSeconds, document: { DocumentIncarnation: incarnation, Events: [] } })}\n`;

const before = `${header('2026-11-22T10:00:00.000Z')}${change(0.5, 1)}${change(3, 2)}`;
const after = `${header('2026-11-22T10:01:00.250Z')}${change(0.25, 2)}${change(4, 3)}`;

test('times of every file count from the beginning of the first, and what a restart has not changed is one change', () => {
  const { header: joined, changes } = readRecording('joined', joinRecordings([after, before]) ?? '');
  expect(joined.begunAt).toEqual(new Date('2026-11-22T10:00:00.000Z'));
  expect(changes.map(({ atSeconds }) => atSeconds)).toEqual([0.5, 3, 64.25]);
});

test('a line that a power cut has ended, and a file without a header, are left out', () => {
  const cut = `${before}{"atSeconds":5,"docu`;
  expect(joinRecordings(['', '{"for', cut])).toBe(before);
  expect(joinRecordings(['', '{"for'])).toBeNull();
});

test('times do not go back where the clock did', () => {
  const early = `${header('2026-11-22T10:00:01.000Z')}${change(0, 3)}`;
  const { changes } = readRecording('joined', joinRecordings([before, early]) ?? '');
  expect(changes.map(({ atSeconds }) => atSeconds)).toEqual([0.5, 3, 3]);
});
