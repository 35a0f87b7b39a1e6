import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { explained, makeDirectory } from '../../../src/outbox/store/directory.ts';
import { appendRecords, createHarness, positions } from '../harness.ts';
import { mountSmallDisk, whyNoMount } from '../small-disk.ts';

const reason = whyNoMount();
const isRoot = process.geteuid?.() === 0;
if (!isRoot) console.warn('  skipped: files of another account, since only root can make them');
if (reason) console.warn(`  skipped: a state directory on a read-only disk, since none can be mounted here: ${reason}`);

describe('a state directory that cannot be created is reported with its cause', () => {
  const root = mkdtempSync(join(tmpdir(), 'directory-'));
  const at = (...names: string[]): string => join(root, ...names);
  writeFileSync(at('file'), '');
  symlinkSync(at('nowhere'), at('link'), 'junction');
  test.each([
    {
      what: 'a file is in its place',
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
      what: 'a link to nowhere is in its place',
      path: at('link'),
      code: 'ENOENT',
      message: `${at('link')} is a symbolic link that leads nowhere`,
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

  test('an existing one is no error', () => {
    mkdirSync(at('made'));
    makeDirectory(at('made'));
    makeDirectory(at('made', 'deeper', 'still'));
    rmSync(root, { recursive: true });
  });
});

test.skipIf(reason !== null)('a disk that counts no inodes, such as btrfs, does not lack them', () => {
  using disk = mountSmallDisk(1, 0);
  const error = new Error('unable to open database file');
  expect(explained(error, disk.path)).toBe(error);
});

test('a file in place of the state directory is logged with its remedy', () => {
  using harness = createHarness();
  const directory = join(harness.directory, 'state');
  writeFileSync(directory, '');
  expect(harness.open({ directory }).storage.fault?.code).toBe('ENOTDIR');
  expect(harness.lines[0]?.message).toContain(
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
    using harness = createHarness();
    const outbox = harness.open({ directory: join(disk.path, ...directories) });
    expect(outbox.storage.fault).toMatchObject({
      code: 'EROFS',
      reason: `${disk.path} is on a disk that is mounted read-only (EROFS)`,
    });
    expect(harness.lines[0]?.message).toContain('Mount that disk writable');
    outbox.close();
    disk.mount('rw');
  },
);

/** Makes the directory in a process that is killed after 5 s: what loops in the system cannot be stopped from inside. */
function makeElsewhere(path: string): { readonly isOver: boolean; readonly said: string } {
  const script = `import { makeDirectory } from '${import.meta.dirname}/../../../src/outbox/store/directory.ts';
    try { makeDirectory(${JSON.stringify(path)}); } catch ({ code, message }) { console.log(code, message); }`;
  const args = ['--input-type=module-typescript', '-e', script];
  const { signal, stdout } = spawnSync(process.execPath, args, {
    timeout: 5_000,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  });
  return { isOver: signal === null, said: stdout.trim() };
}

test.skipIf(process.platform !== 'linux')(
  'a system directory that cannot be written is reported, and does not prevent the start',
  () => {
    expect(makeElsewhere('/proc/nowhere/state')).toEqual({
      isOver: true,
      said: 'ENOENT /proc takes no new directory: it belongs to the system, or it was removed elsewhere while it is mounted here (ENOENT)',
    });
  },
);

test.skipIf(reason !== null)('records continue in memory when the host folder of a bind mount is removed', async () => {
  const host = mkdtempSync(join(tmpdir(), 'host-'));
  const mounted = mkdtempSync(join(tmpdir(), 'mounted-'));
  execFileSync('mount', ['--bind', host, mounted]);
  try {
    using harness = createHarness(join(mounted, 'state'));
    const outbox = harness.open();
    appendRecords(outbox);
    rmSync(host, { recursive: true });
    appendRecords(outbox);
    expect(outbox.storage.fault).toMatchObject({
      reason: expect.stringContaining('removed elsewhere while it is mounted'),
    });
    expect(positions(outbox, 'hub')).toEqual([1, 2]);
  } finally {
    execFileSync('umount', ['-l', mounted]);
    rmdirSync(mounted);
  }
});

describe.skipIf(process.platform === 'win32')('a directory that others may write', () => {
  test('their write permission is removed, and that is logged', () => {
    using harness = createHarness();
    chmodSync(harness.directory, 0o2777);
    appendRecords(harness.open());
    expect(statSync(harness.directory).mode & 0o7777).toBe(0o2755);
    expect(harness.lines).toMatchObject([{ level: 'warn', fields: { code: 'secured' } }]);
  });

  test.each(['outbox.sqlite', 'lock.sqlite', 'reserve.bin', 'outbox.position'])(
    'their write permission on the file %s is removed, and that is logged',
    (name) => {
      using harness = createHarness();
      const first = harness.open();
      appendRecords(first);
      first.close();
      const path = join(harness.directory, name);
      chmodSync(path, 0o666);
      const outbox = harness.open();
      expect(statSync(path).mode & 0o777).toBe(0o644);
      expect(harness.lines.filter(({ level }) => level === 'warn')).toMatchObject([
        { fields: { code: 'secured' }, message: expect.stringContaining(path) },
      ]);
      expect(positions(outbox, 'hub')).toEqual([1]);
    },
  );

  test.skipIf(!isRoot)('a file of another account in the place of the outbox is neither read nor changed', () => {
    using harness = createHarness();
    chmodSync(harness.directory, 0o1777);
    const path = join(harness.directory, 'outbox.sqlite');
    writeFileSync(path, 'planted');
    chownSync(path, 4711, 4711);
    const outbox = harness.open();
    appendRecords(outbox);
    outbox.maintain();
    expect(readFileSync(path, 'utf8')).toBe('planted');
    expect(outbox.storage.fault).toMatchObject({
      code: 'foreign-file',
      reason: `${path} belongs to another account (uid 4711)`,
    });
    expect(positions(outbox, 'hub')).toEqual([1]);
  });

  test.skipIf(!isRoot)('a file of the account that owns the directory is opened by root', () => {
    using harness = createHarness();
    const first = harness.open();
    appendRecords(first);
    first.close();
    for (const path of ['', 'outbox.sqlite', 'lock.sqlite']) chownSync(join(harness.directory, path), 4711, 4711);
    const second = harness.open();
    expect(second.storage.fault).toBeNull();
    expect(positions(second, 'hub')).toEqual([1]);
  });

  test.each(['outbox.sqlite', 'outbox.sqlite-wal', 'lock.sqlite', 'reserve.bin'])(
    'a symbolic link in the place of %s leads to nothing being written',
    (name) => {
      using harness = createHarness();
      using elsewhere = createHarness();
      const target = join(elsewhere.directory, 'target');
      writeFileSync(target, 'precious');
      chmodSync(harness.directory, 0o777);
      symlinkSync(target, join(harness.directory, name));
      const outbox = harness.open();
      appendRecords(outbox);
      outbox.maintain();
      expect(readFileSync(target, 'utf8')).toBe('precious');
      expect(readdirSync(elsewhere.directory)).toEqual(['target']);
      expect(outbox.storage.fault).toMatchObject({ code: 'ELOOP' });
      expect(positions(outbox, 'hub')).toEqual([1]);
      rmSync(join(harness.directory, name));
    },
  );

  test('a link created while the bridge runs is not followed either', () => {
    using harness = createHarness();
    using elsewhere = createHarness();
    const target = join(elsewhere.directory, 'target');
    writeFileSync(target, 'precious');
    const outbox = harness.open();
    rmSync(join(harness.directory, 'reserve.bin'));
    symlinkSync(target, join(harness.directory, 'reserve.bin'));
    outbox.maintain();
    expect(readFileSync(target, 'utf8')).toBe('precious');
    expect(statSync(join(harness.directory, 'reserve.bin')).size).toBe(4 * 2 ** 20);
  });
});

test('a state directory given by a symbolic link is created, recovered and recreated as any other', () => {
  using harness = createHarness();
  const link = `${harness.directory}.link`;
  symlinkSync(harness.directory, link, 'junction');
  try {
    const first = harness.open({ directory: link });
    appendRecords(first);
    expect(first.storage.fault).toBeNull();
    rmSync(join(harness.directory, 'outbox.sqlite'));
    appendRecords(first);
    first.maintain();
    first.close();
    writeFileSync(join(harness.directory, 'outbox.sqlite'), 'no database');
    const second = harness.open({ directory: link });
    appendRecords(second);
    expect(second.recovery).not.toBeNull();
    const errors = harness.lines.filter(({ level }) => level === 'error');
    expect(errors.map(({ fields }) => fields.code)).toEqual(['removed', 'recovered']);
    second.close();
    const third = harness.open({ directory: link });
    expect(third.counters().hub).toMatchObject({ accepted: 1 });
    third.close();
  } finally {
    unlinkSync(link);
  }
});
