import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { noProgress, type Outbox } from '../../../src/outbox/outbox.ts';
import { readOutbox } from '../../../src/outbox/reader.ts';
import { imbalance } from '../../../src/outbox/store/counters.ts';
import { OutboxInUse } from '../../../src/outbox/store/errors.ts';
import { observerNamed } from '../../support/observations.ts';
import { appendRecords, createHarness, deliverAll, type Harness, positions } from '../harness.ts';

/** Five records, of which `hub` has the first two. The state directory lies one deeper, so that it can be removed whole. */
function runningHarness(): Harness & { readonly outbox: Outbox; readonly streamId: string } {
  const harness = createHarness();
  const directory = join(harness.directory, 'state');
  const open: Harness['open'] = (options) => harness.open({ directory, ...options });
  const outbox = open();
  outbox.rememberObserver(observerNamed('web_3'), 'boot-1');
  appendRecords(outbox, { count: 5 });
  const settled = [1, 2].map((position) => ({ position, state: 'delivered' as const }));
  outbox.settle('hub', settled, { ...noProgress, lastSuccessAt: 'then' });
  // With a document of this moment everything is on disk, so that nothing else causes a write.
  outbox.append({ ...outbox.state, lastDocumentAt: harness.clock.now().toISOString() }, []);
  return { ...harness, directory, open, outbox, streamId: outbox.state.streamId };
}

const codes = (harness: Harness): unknown[] => harness.lines.map(({ fields }) => fields.code);

const canRemove = process.platform !== 'win32';
if (!canRemove)
  console.warn('  skipped: files that are removed while they are open, since Windows does not remove them');

describe.runIf(canRemove)('files that are removed while the bridge runs', () => {
  const everything = (directory: string): void => rmSync(directory, { recursive: true });
  const file =
    (...names: string[]) =>
    (directory: string): void => {
      for (const name of names) rmSync(join(directory, name));
    };
  const cases = [
    { what: 'the state directory', remove: everything, message: 'The state directory' },
    { what: 'the outbox', remove: file('outbox.sqlite'), message: 'outbox.sqlite was removed' },
    {
      what: 'the outbox with its log',
      remove: file('outbox.sqlite', 'outbox.sqlite-wal', 'outbox.sqlite-shm'),
      message: 'outbox.sqlite was removed',
    },
    { what: 'the lock', remove: file('lock.sqlite'), message: 'lock.sqlite was removed' },
  ];

  describe.each(cases)('$what, removed', ({ remove, message }) => {
    test.each([
      { when: 'the next poll', act: (outbox: Outbox) => outbox.retry(), more: 0 },
      { when: 'the next write', act: (outbox: Outbox) => void appendRecords(outbox), more: 1 },
      { when: 'the next maintenance', act: (outbox: Outbox) => outbox.maintain(), more: 0 },
      { when: 'its end', act: (outbox: Outbox) => outbox.close(), more: 0 },
    ])('are recreated at $when, and the stream continues', ({ act, more }) => {
      using harness = runningHarness();
      remove(harness.directory);
      act(harness.outbox);
      expect(harness.outbox.storage).toEqual({ fault: null, undurable: 0 });
      expect(codes(harness)).toEqual(['removed', 'recreated']);
      expect(harness.lines[0]?.message).toContain(message);
      expect(harness.lines[1]?.message).toContain('undelivered: hub 3, table 5');
      expect(readOutbox(harness.directory)).toMatchObject({ streamId: harness.streamId, position: 5 + more });
      harness.outbox.close();
      const again = harness.open();
      appendRecords(again);
      expect(again.state).toMatchObject({ streamId: harness.streamId, position: 6 + more });
      expect(again.storedObserver?.observer.vmName).toBe('web_3');
      expect(positions(again, 'hub').slice(0, 4)).toEqual([3, 4, 5, 6]);
      expect(positions(again, 'table')).toHaveLength(6 + more);
      expect(again.progress('hub').lastSuccessAt).toBe('then');
      expect(Object.values(again.counters()).map(imbalance)).toEqual([0, 0]);
      expect(codes(harness)).toEqual(['removed', 'recreated']);
    });

    test('let no second instance in afterwards', () => {
      using harness = runningHarness();
      remove(harness.directory);
      harness.outbox.retry();
      expect(() => harness.open()).toThrow(OutboxInUse);
    });
  });

  test('are recreated and logged each time', async () => {
    using harness = runningHarness();
    for (let n = 0; n < 3; n += 1) {
      everything(harness.directory);
      harness.outbox.retry();
      expect(existsSync(harness.directory)).toBe(true);
      await harness.clock.advance(10_000);
    }
    expect(codes(harness)).toEqual(['removed', 'recreated', 'removed', 'recreated', 'removed', 'recreated']);
    expect(positions(harness.outbox, 'hub')).toEqual([3, 4, 5]);
  });
});

describe.runIf(canRemove)('files that were removed and cannot be recreated', () => {
  test('are sent from what is open, and are all there when they can be', async () => {
    using harness = runningHarness();
    rmSync(harness.directory, { recursive: true });
    writeFileSync(harness.directory, '');
    harness.outbox.retry();
    appendRecords(harness.outbox);
    expect(harness.outbox.storage).toMatchObject({ fault: { code: 'ENOTDIR' }, undurable: 1 });
    expect(positions(harness.outbox, 'hub')).toEqual([3, 4, 5, 6]);
    harness.outbox.settle('hub', [{ position: 3, state: 'delivered' }], noProgress);
    for (let second = 0; second < 20; second += 1) {
      await harness.clock.advance(1_000);
      harness.outbox.retry();
    }
    expect(codes(harness)).toEqual(['removed', 'ENOTDIR']);
    rmSync(harness.directory);
    await harness.clock.advance(5_000);
    harness.outbox.retry();
    expect(codes(harness)).toEqual(['removed', 'ENOTDIR', 'recreated', 'writable']);
    expect(readOutbox(harness.directory)).toMatchObject({ streamId: harness.streamId, position: 6 });
    expect(positions(harness.outbox, 'hub')).toEqual([4, 5, 6]);
  });

  test('while another instance runs are left to it, and its outbox is moved aside when it has ended', async () => {
    using harness = runningHarness();
    rmSync(harness.directory, { recursive: true });
    const other = harness.open();
    appendRecords(other, { count: 9 });
    harness.outbox.retry();
    appendRecords(harness.outbox);
    expect(harness.outbox.storage.fault).toMatchObject({
      code: 'in-use',
      reason: new OutboxInUse(harness.directory).message,
    });
    expect(positions(harness.outbox, 'hub')).toEqual([3, 4, 5, 6]);
    expect(positions(other, 'hub')).toHaveLength(9);
    expect(readOutbox(harness.directory)?.streamId).toBe(other.state.streamId);
    other.close();
    await harness.clock.advance(5_000);
    harness.outbox.retry();
    expect(readOutbox(harness.directory)).toMatchObject({ streamId: harness.streamId, position: 6 });
    const [folder = ''] = readdirSync(harness.directory).filter((name) => name.startsWith('archived-'));
    expect(readOutbox(join(harness.directory, folder))).toMatchObject({ streamId: other.state.streamId, position: 9 });
    expect(harness.lines.find(({ fields }) => fields.code === 'recreated')?.message).toContain(folder);
  });

  test('are not sent twice where another instance took the very same outbox', async () => {
    using harness = runningHarness();
    rmSync(join(harness.directory, 'lock.sqlite'));
    const other = harness.open();
    appendRecords(other, { count: 2 });
    appendRecords(harness.outbox, { eventId: 'MEANWHILE' });
    expect(harness.outbox.storage.fault?.code).toBe('in-use');
    expect(positions(harness.outbox, 'hub')).toEqual([6]);
    expect(positions(other, 'hub')).toEqual([3, 4, 5, 6, 7]);
    other.close();
    deliverAll(harness.outbox, 'hub');
    deliverAll(harness.outbox, 'table');
    await harness.clock.advance(5_000);
    harness.outbox.retry();
    expect(harness.outbox.storage.fault).toBeNull();
    expect(harness.outbox.state).toMatchObject({ streamId: harness.streamId, position: 7 });
    expect(positions(harness.outbox, 'hub')).toEqual([3, 4, 5, 6, 7]);
  });
});

test.runIf(canRemove)('a file that was put in the place of a running outbox is moved aside', () => {
  using harness = runningHarness();
  const file = join(harness.directory, 'outbox.sqlite');
  mkdirSync(join(harness.directory, 'old'));
  renameSync(file, join(harness.directory, 'old', 'outbox.sqlite'));
  writeFileSync(file, 'theirs');
  harness.outbox.retry();
  expect(harness.lines[0]?.message).toContain(`${file} was replaced by another file while the bridge is running`);
  expect(readOutbox(harness.directory)).toMatchObject({ streamId: harness.streamId, position: 5 });
  expect(readdirSync(harness.directory).filter((name) => name.startsWith('archived-'))).toHaveLength(1);
});
