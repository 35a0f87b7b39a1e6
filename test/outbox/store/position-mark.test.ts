import { openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PositionMark, readPositionMark } from '../../../src/outbox/store/position-mark.ts';
import { temporaryDirectory } from '../../support/bridge-process.ts';

test('a closed mark writes to no file, also where another one got its descriptor', () => {
  using directory = temporaryDirectory('mark');
  const [path, other] = [join(directory.path, 'outbox.position'), join(directory.path, 'other')];
  const mark = new PositionMark(path);
  mark.write({ streamId: 'stream', position: 7 }, true);
  mark.close();
  writeFileSync(other, 'untouched');
  openSync(other, 'r+'); // The lowest free number: the one that the mark had.
  mark.write({ streamId: 'stream', position: 8 }, true);
  expect(readFileSync(other, 'utf8')).toBe('untouched');
  expect(readPositionMark(path, 'stream')).toEqual({ committed: 7, handedOut: 7 });
});
