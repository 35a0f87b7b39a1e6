import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { fileStore } from '../../src/consumer/index.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';

describe('the file with the state', () => {
  const directory = temporaryDirectory('act-once');
  afterEach(() => directory[Symbol.dispose]());

  test('is made with its folder, replaced as a whole, and read again', async () => {
    const path = join(directory.path, 'folder', 'state.json');
    expect(await fileStore(path).load()).toBeNull();
    for (const state of ['a longer state', 'short']) {
      await fileStore(path).save(state);
      expect(await fileStore(path).load()).toBe(state);
    }
    expect(readdirSync(join(directory.path, 'folder'))).toEqual(['state.json']);
    writeFileSync(`${path}.new`, 'half');
    expect(await fileStore(path).load()).toBe('short');
    await expect(fileStore(join(path, 'below')).load()).rejects.toThrow('ENOTDIR');
  });
});
