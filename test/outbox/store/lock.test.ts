import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OutboxInUse } from '../../../src/outbox/store/errors.ts';
import { layoutOf } from '../../../src/outbox/store/layout.ts';
import { takeLock } from '../../../src/outbox/store/lock.ts';
import { appendRecords, createHarness, positions } from '../harness.ts';

test('a second instance ends at once with a sentence that names the remedy', () => {
  using harness = createHarness();
  const first = harness.open();
  appendRecords(first);
  expect(() => harness.open()).toThrow(OutboxInUse);
  expect(() => harness.open()).toThrow(`with the state directory ${harness.directory}. Stop that one first`);
  appendRecords(first);
  expect(positions(first, 'hub')).toEqual([1, 2]);
  first.close();
  expect(positions(harness.open(), 'hub')).toEqual([1, 2]);
});

test('another process is a second instance, too', () => {
  using harness = createHarness();
  harness.open();
  const { status, stderr } = spawnSync(
    process.execPath,
    [`${import.meta.dirname}/../writer-process.ts`, harness.directory],
    {
      encoding: 'utf8',
    },
  );
  expect(status).toBe(1);
  expect(stderr).toContain('OutboxInUse');
});

test('a lock file with other content is used anyway', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lock-'));
  const layout = layoutOf(directory);
  writeFileSync(layout.lock, 'not a database '.repeat(100));
  const lock = takeLock(layout);
  expect(() => takeLock(layout)).toThrow(OutboxInUse);
  lock.release();
  takeLock(layout).release();
  rmSync(directory, { recursive: true });
  expect(() => takeLock(layout)).toThrow(/unable to open/);
  expect(existsSync(layout.lock)).toBe(false);
});

test.skipIf(process.platform === 'win32')('a lock that is a link does not truncate its target', () => {
  using harness = createHarness();
  const target = `${harness.directory}/target`;
  writeFileSync(target, 'precious '.repeat(100));
  const layout = layoutOf(harness.directory);
  symlinkSync(target, layout.lock);
  expect(() => takeLock(layout)).toThrow(expect.objectContaining({ code: 'ELOOP' }));
  expect(readFileSync(target, 'utf8')).toHaveLength(900);
});
