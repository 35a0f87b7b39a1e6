import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeDirectory } from '../../src/outbox/directory.ts';
import { createRig } from './rig.ts';
import { mountSmallDisk, whyNoMount } from './small-disk.ts';

const reason = whyNoMount();
if (reason) console.warn(`  skipped: a state directory on a read-only disk, since none can be mounted here: ${reason}`);

describe('a state directory that cannot be made is told with its cause', () => {
  const root = mkdtempSync(join(tmpdir(), 'directory-'));
  const at = (...names: string[]): string => join(root, ...names);
  writeFileSync(at('file'), '');
  symlinkSync(at('nowhere'), at('link'), 'junction');
  test.each([
    {
      what: 'a file stands there',
      path: at('file'),
      code: 'ENOTDIR',
      message: `${at('file')} is a file, where the state directory should be`,
    },
    {
      what: 'its path leads through a file',
      path: at('file', 'a', 'b'),
      code: 'ENOTDIR',
      message: `${at('file')} is a file, where a directory on its path should be`,
    },
    {
      what: 'its path leads through a link to nowhere',
      path: at('link', 'a'),
      code: 'ENOENT',
      message: `${at('link')} is a symbolic link that leads nowhere`,
    },
  ])('as $what', ({ path, code, message }) => {
    expect(() => makeDirectory(path)).toThrow(expect.objectContaining({ code, message }));
  });

  test('and one that is there already is none of these', () => {
    mkdirSync(at('made'));
    makeDirectory(at('made'));
    makeDirectory(at('made', 'deeper', 'still'));
    rmSync(root, { recursive: true });
  });
});

test('a file in the place of the state directory is logged as that, with what to do', () => {
  using rig = createRig();
  const directory = join(rig.directory, 'state');
  writeFileSync(directory, '');
  expect(rig.open({ directory }).storage.trouble?.code).toBe('ENOTDIR');
  expect(rig.lines[0]?.message).toContain(
    `(${directory} is a file, where the state directory should be): records are kept in memory and sent from there until it can. Move that file away`,
  );
});

test
  .skipIf(reason !== null)
  .each([{ directories: ['state'] }, { directories: ['not', 'there', 'yet'] }, { directories: [] }])(
  'a read-only disk is called that, with $directories missing on it',
  ({ directories }) => {
    using disk = mountSmallDisk(4);
    disk.mount('ro');
    using rig = createRig();
    const outbox = rig.open({ directory: join(disk.path, ...directories) });
    expect(outbox.storage.trouble).toMatchObject({
      code: 'EROFS',
      reason: `${disk.path} is on a disk that is mounted read-only (EROFS)`,
    });
    expect(rig.lines[0]?.message).toContain('Mount that disk writable');
    outbox.close();
    disk.mount('rw');
  },
);
