import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openJournal, readJournal } from '../../../infra/acceptance/journal.ts';
import { testDirectory } from '../../support/test-directory.ts';

const at = (second: number) => () => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

test('what was written is read by the next process, which appends', () => {
  const folder = join(testDirectory('journal'), 'runs', 'k3x9ab');
  const first = openJournal(folder, at(1));
  first.write({ event: 'step-begun', step: 'login' });
  // The first process is not ended: a crash closes no journal.
  const second = openJournal(folder, at(2));
  second.write({ event: 'clean-up-begun' });
  const expected = [
    { at: '2026-01-01T00:00:01.000Z', event: 'step-begun', step: 'login' },
    { at: '2026-01-01T00:00:02.000Z', event: 'clean-up-begun' },
  ];
  expect(second.entries).toEqual(expected);
  expect(readJournal(folder)).toEqual(expected);
  first.close();
  second.close();
});

test('a line that a crash left incomplete is passed over, and does not damage the next one', () => {
  const folder = testDirectory('journal');
  const first = openJournal(folder, at(1));
  first.write({ event: 'step-begun', step: 'login' });
  first.close();
  appendFileSync(join(folder, 'journal.jsonl'), '{"at":"2026-01-01T00:00:02.000Z","event":"will-cre');
  const second = openJournal(folder, at(3));
  second.write({ event: 'clean-up-begun' });
  second.close();
  expect(readJournal(folder).map(({ event }) => event)).toEqual(['step-begun', 'clean-up-begun']);
  expect(readFileSync(join(folder, 'journal.jsonl'), 'utf8')).toContain('will-cre\n{"at"');
});

test('only the owner may read it', () => {
  const folder = join(testDirectory('journal'), 'k3x9ab');
  openJournal(folder).close();
  expect(statSync(join(folder, 'journal.jsonl')).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('a folder without a journal has no entries', () => {
  expect(readJournal(testDirectory('journal'))).toEqual([]);
});
