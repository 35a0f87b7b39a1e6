import { closeSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { displacementOf } from '../../../src/outbox/store/files.ts';

test('a name shows whether the open file was removed or replaced', () => {
  const directory = mkdtempSync(join(tmpdir(), 'place-'));
  const path = join(directory, 'file');
  writeFileSync(path, 'ours');
  const fd = openSync(path, 'r');
  const displacement = displacementOf(path);
  expect(displacement()).toBeNull();
  writeFileSync(path, 'ours, and longer');
  expect(displacement()).toBeNull();
  renameSync(path, `${path}-elsewhere`);
  expect(displacement()).toBe(`${path} was removed`);
  writeFileSync(path, 'theirs');
  expect(displacement()).toBe(`${path} was replaced by another file`);
  renameSync(`${path}-elsewhere`, path);
  expect(displacement()).toBeNull();
  closeSync(fd);
  rmSync(directory, { recursive: true });
  expect(displacement()).toBe(`The state directory ${directory} was removed`);
});
