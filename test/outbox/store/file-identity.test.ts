import { closeSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileIdentityOf } from '../../../src/outbox/store/files.ts';

test('a name shows whether the open file was removed or replaced', () => {
  const directory = mkdtempSync(join(tmpdir(), 'place-'));
  const path = join(directory, 'file');
  writeFileSync(path, 'ours');
  const fd = openSync(path, 'r');
  const place = fileIdentityOf(path);
  expect(place.status()).toBe('here');
  writeFileSync(path, 'ours, and longer');
  expect(place.status()).toBe('here');
  renameSync(path, `${path}-elsewhere`);
  expect(place.status()).toBe('gone');
  writeFileSync(path, 'theirs');
  expect(place.status()).toBe('replaced');
  renameSync(`${path}-elsewhere`, path);
  expect(place.status()).toBe('here');
  closeSync(fd);
  rmSync(directory, { recursive: true });
  expect(place.status()).toBe('gone');
});
