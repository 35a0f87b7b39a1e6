import { closeSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { placeOf } from '../../src/outbox/place.ts';

test('a name tells what became of the file that is open', () => {
  const directory = mkdtempSync(join(tmpdir(), 'place-'));
  const path = join(directory, 'file');
  writeFileSync(path, 'ours');
  const fd = openSync(path, 'r');
  const place = placeOf(path);
  expect(place.standing()).toBe('here');
  writeFileSync(path, 'ours, and longer');
  expect(place.standing()).toBe('here');
  renameSync(path, `${path}-elsewhere`);
  expect(place.standing()).toBe('gone');
  writeFileSync(path, 'theirs');
  expect(place.standing()).toBe('replaced');
  renameSync(`${path}-elsewhere`, path);
  expect(place.standing()).toBe('here');
  closeSync(fd);
  rmSync(directory, { recursive: true });
  expect(place.standing()).toBe('gone');
});
