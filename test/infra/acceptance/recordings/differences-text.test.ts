import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compare } from '../../../../infra/acceptance/recordings/compare.ts';
import { describeDifference, differenceKinds } from '../../../../infra/acceptance/recordings/difference.ts';
import { differencesText } from '../../../../infra/acceptance/recordings/differences-text.ts';
import { at, play, scheduled, started } from './plays.ts';

test('each difference says what both did, and which file to change', () => {
  const soon = play({ changes: [at(0, 1), at(10, 2, scheduled), at(30, 3, started), at(320, 4)] });
  const compared = compare(play(), soon).map((detail) => ({
    situation: 'restart',
    what: describeDifference(detail),
    file: 'recordings/restart.jsonl',
    detail,
  }));
  expect(compared.map(({ what }) => what)).toEqual([
    'Reboot by User: time from first listed to Started: Azure 900 s, the simulator 20 s (tolerance 94 s)',
  ]);
  const [first] = compared;
  expect(first && describeDifference(first.detail, ['the first play', 'the second play'])).toBe(
    'Reboot by User: time from first listed to Started: the first play 900 s, the second play 20 s (tolerance 94 s)',
  );
  const text = differencesText([...compared, { situation: 'throttled', what: 'Azure answers 429 | after a minute.' }]);
  expect(text.split('\n\n')).toEqual([
    '### `restart`: [recordings/restart.jsonl](recordings/restart.jsonl)',
    [
      '| about | what | Azure | simulator | tolerance | to change |',
      '| --- | --- | --- | --- | --- | --- |',
      '| Reboot by User | time from first listed to Started | 900 s | 20 s | 94 s | `src/azure-simulator/scenarios/requested.ts` |',
    ].join('\n'),
    [
      '| situation | what Azure did | file |',
      '| --- | --- | --- |',
      '| `throttled` | Azure answers 429 \\| after a minute. |  |',
    ].join('\n'),
    expect.stringMatching(/^To make the simulator do what Azure did, copy the recording/),
  ]);
});

test('without differences there is no section', () => {
  expect(differencesText([])).toBe('');
});

test('every file to change is in the repository', () => {
  const root = join(import.meta.dirname, '../../../..');
  const files = [...Object.values(differenceKinds).map(({ change }) => change), 'test/fixtures/recordings/README.md'];
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
