import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { patiently, removeRenamed, removeTree, replaceFile } from '../../../src/service/windows/files.ts';
import { temporaryDirectory } from '../../support/bridge-process.ts';

/** A clock on which waiting takes no time, and the pauses that were asked for. */
function pausing() {
  const pauses: number[] = [];
  return { pauses, clock: { sleep: async (ms: number) => void pauses.push(ms) } };
}
const failure = (code: string): Error => Object.assign(new Error(code), { code });

test.each(['EPERM', 'EBUSY', 'EACCES'])(
  'a file that a virus scanner holds (%s) is tried again, with longer pauses',
  async (code) => {
    const { pauses, clock } = pausing();
    let tries = 0;
    const result = await patiently(clock, () => {
      tries += 1;
      if (tries < 4) throw failure(code);
      return 'done';
    });
    expect([result, pauses]).toEqual(['done', [50, 100, 200]]);
  },
);

test('a file that stays in use is an error after some seconds, and another error is one at once', async () => {
  const { pauses, clock } = pausing();
  const busy = () => {
    throw failure('EBUSY');
  };
  await expect(patiently(clock, busy)).rejects.toThrow('EBUSY');
  const seconds = pauses.reduce((sum, ms) => sum + ms, 0) / 1000;
  expect(seconds).toBeGreaterThan(5);
  expect(seconds).toBeLessThan(20);
  const full = () => {
    throw failure('ENOSPC');
  };
  await expect(patiently(clock, full)).rejects.toThrow('ENOSPC');
  expect(pauses).toHaveLength(8);
});

test('a file is replaced as a whole, with its permissions given first', async () => {
  using folder = temporaryDirectory('files');
  const { clock } = pausing();
  const path = join(folder.path, 'config.json');
  writeFileSync(path, 'old');
  writeFileSync(join(folder.path, '.config.json.new'), 'half');
  const seen: string[] = [];
  await replaceFile(clock, path, 'new', async (beside) => {
    seen.push(readFileSync(beside, 'utf8'), readFileSync(path, 'utf8'));
  });
  expect([seen, readFileSync(path, 'utf8'), readdirSync(folder.path)]).toEqual([['', 'old'], 'new', ['config.json']]);
});

test('a tree is removed, and a link in it is not followed', async () => {
  using folder = temporaryDirectory('files');
  const [tree, other] = [join(folder.path, 'tree'), join(folder.path, 'other')];
  mkdirSync(join(tree, 'deep', 'er'), { recursive: true });
  mkdirSync(other);
  writeFileSync(join(tree, 'deep', 'file'), '');
  writeFileSync(join(other, 'file'), '');
  symlinkSync(other, join(tree, 'link'));
  expect(await removeTree(pausing().clock, tree, join(folder.path, 'removed'))).toEqual([]);
  expect([existsSync(tree), existsSync(join(other, 'file')), existsSync(join(folder.path, 'removed'))]).toEqual([
    false,
    true,
    false,
  ]);
  expect(await removeTree(pausing().clock, tree, join(folder.path, 'removed'))).toEqual([]);
  expect(removeRenamed(join(folder.path, 'removed'))).toBe(false);
});
