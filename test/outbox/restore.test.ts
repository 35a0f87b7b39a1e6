import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { imbalance } from '../../src/outbox/counters.ts';
import { noProgress, type Outbox, OutboxInUse } from '../../src/outbox/outbox.ts';
import { readOutbox } from '../../src/outbox/reader.ts';
import { observerNamed } from '../support/story.ts';
import { createRig, deliverAll, observe, positions, type Rig } from './rig.ts';

/** Five records, of which `hub` has the first two. The state directory lies one deeper, so that it can be removed whole. */
function runningRig(): Rig & { readonly outbox: Outbox; readonly streamId: string } {
  const rig = createRig();
  const directory = join(rig.directory, 'state');
  const open: Rig['open'] = (options) => rig.open({ directory, ...options });
  const outbox = open();
  outbox.rememberObserver(observerNamed('web_3'), 'boot-1');
  observe(outbox, { count: 5 });
  const settled = [1, 2].map((position) => ({ position, outcome: 'delivered' as const }));
  outbox.settle('hub', settled, { ...noProgress, lastSuccessAt: 'then' });
  // With a document of this moment all there is stands on disk, so that nothing else asks for a write.
  outbox.append({ ...outbox.state, lastDocumentAt: rig.clock.now().toISOString() }, []);
  return { ...rig, directory, open, outbox, streamId: outbox.state.streamId };
}

const codes = (rig: Rig): unknown[] => rig.lines.map(({ fields }) => fields.code);

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
    { what: 'the state directory', remove: everything, told: 'The state directory' },
    { what: 'the outbox', remove: file('outbox.sqlite'), told: 'outbox.sqlite was removed' },
    {
      what: 'the outbox with its log',
      remove: file('outbox.sqlite', 'outbox.sqlite-wal', 'outbox.sqlite-shm'),
      told: 'outbox.sqlite was removed',
    },
    { what: 'the lock', remove: file('lock.sqlite'), told: 'lock.sqlite was removed' },
  ];

  describe.each(cases)('$what, removed', ({ remove, told }) => {
    test.each([
      { when: 'the next turn', act: (outbox: Outbox) => outbox.retry(), more: 0 },
      { when: 'the next write', act: (outbox: Outbox) => void observe(outbox), more: 1 },
      { when: 'the next tidying', act: (outbox: Outbox) => outbox.maintain(), more: 0 },
      { when: 'its end', act: (outbox: Outbox) => outbox.close(), more: 0 },
    ])('are made again at $when, and the stream goes on', ({ act, more }) => {
      using rig = runningRig();
      remove(rig.directory);
      act(rig.outbox);
      expect(rig.outbox.storage).toEqual({ trouble: null, undurable: 0 });
      expect(codes(rig)).toEqual(['removed', 'rescued']);
      expect(rig.lines[0]?.message).toContain(told);
      expect(rig.lines[1]?.message).toContain('undelivered: hub 3, table 5');
      expect(readOutbox(rig.directory)).toMatchObject({ streamId: rig.streamId, position: 5 + more });
      rig.outbox.close();
      const again = rig.open();
      observe(again);
      expect(again.state).toMatchObject({ streamId: rig.streamId, position: 6 + more });
      expect(again.observer?.vmName).toBe('web_3');
      expect(positions(again, 'hub').slice(0, 4)).toEqual([3, 4, 5, 6]);
      expect(positions(again, 'table')).toHaveLength(6 + more);
      expect(again.progress('hub').lastSuccessAt).toBe('then');
      expect(Object.values(again.counters()).map(imbalance)).toEqual([0, 0]);
      expect(codes(rig)).toEqual(['removed', 'rescued']);
    });

    test('let no second instance in afterwards', () => {
      using rig = runningRig();
      remove(rig.directory);
      rig.outbox.retry();
      expect(() => rig.open()).toThrow(OutboxInUse);
    });
  });

  test('again, are made again, and each time is said', async () => {
    using rig = runningRig();
    for (let n = 0; n < 3; n += 1) {
      everything(rig.directory);
      rig.outbox.retry();
      expect(existsSync(rig.directory)).toBe(true);
      await rig.clock.advance(10_000);
    }
    expect(codes(rig)).toEqual(['removed', 'rescued', 'removed', 'rescued', 'removed', 'rescued']);
    expect(positions(rig.outbox, 'hub')).toEqual([3, 4, 5]);
  });
});

describe.runIf(canRemove)('files that were removed and cannot be made again', () => {
  test('are sent from what is open, and are all there when they can be', async () => {
    using rig = runningRig();
    rmSync(rig.directory, { recursive: true });
    writeFileSync(rig.directory, '');
    rig.outbox.retry();
    observe(rig.outbox);
    expect(rig.outbox.storage).toMatchObject({ trouble: { code: 'ENOTDIR' }, undurable: 1 });
    expect(positions(rig.outbox, 'hub')).toEqual([3, 4, 5, 6]);
    rig.outbox.settle('hub', [{ position: 3, outcome: 'delivered' }], noProgress);
    for (let second = 0; second < 20; second += 1) {
      await rig.clock.advance(1_000);
      rig.outbox.retry();
    }
    expect(codes(rig)).toEqual(['removed', 'ENOTDIR']);
    rmSync(rig.directory);
    await rig.clock.advance(5_000);
    rig.outbox.retry();
    expect(codes(rig)).toEqual(['removed', 'ENOTDIR', 'rescued', 'mended']);
    expect(readOutbox(rig.directory)).toMatchObject({ streamId: rig.streamId, position: 6 });
    expect(positions(rig.outbox, 'hub')).toEqual([4, 5, 6]);
  });

  test('while another instance is there are left to it, and its outbox is moved aside when it has ended', async () => {
    using rig = runningRig();
    rmSync(rig.directory, { recursive: true });
    const other = rig.open();
    observe(other, { count: 9 });
    rig.outbox.retry();
    observe(rig.outbox);
    expect(rig.outbox.storage.trouble).toMatchObject({
      code: 'in-use',
      reason: new OutboxInUse(rig.directory).message,
    });
    expect(positions(rig.outbox, 'hub')).toEqual([3, 4, 5, 6]);
    expect(positions(other, 'hub')).toHaveLength(9);
    expect(readOutbox(rig.directory)?.streamId).toBe(other.state.streamId);
    other.close();
    await rig.clock.advance(5_000);
    rig.outbox.retry();
    expect(readOutbox(rig.directory)).toMatchObject({ streamId: rig.streamId, position: 6 });
    const [folder = ''] = readdirSync(rig.directory).filter((name) => name.startsWith('archived-'));
    expect(readOutbox(join(rig.directory, folder))).toMatchObject({ streamId: other.state.streamId, position: 9 });
    expect(rig.lines.find(({ fields }) => fields.code === 'rescued')?.message).toContain(folder);
  });

  test('are not sent twice where another instance took the very same outbox', async () => {
    using rig = runningRig();
    rmSync(join(rig.directory, 'lock.sqlite'));
    const other = rig.open();
    observe(other, { count: 2 });
    observe(rig.outbox, { eventId: 'MEANWHILE' });
    expect(rig.outbox.storage.trouble?.code).toBe('in-use');
    expect(positions(rig.outbox, 'hub')).toEqual([6]);
    expect(positions(other, 'hub')).toEqual([3, 4, 5, 6, 7]);
    other.close();
    deliverAll(rig.outbox, 'hub');
    deliverAll(rig.outbox, 'table');
    await rig.clock.advance(5_000);
    rig.outbox.retry();
    expect(rig.outbox.storage.trouble).toBeNull();
    expect(rig.outbox.state).toMatchObject({ streamId: rig.streamId, position: 7 });
    expect(positions(rig.outbox, 'hub')).toEqual([3, 4, 5, 6, 7]);
  });
});

test.runIf(canRemove)('a file that was put in the place of a running outbox is moved aside', () => {
  using rig = runningRig();
  const file = join(rig.directory, 'outbox.sqlite');
  mkdirSync(join(rig.directory, 'old'));
  renameSync(file, join(rig.directory, 'old', 'outbox.sqlite'));
  writeFileSync(file, 'theirs');
  rig.outbox.retry();
  expect(rig.lines[0]?.message).toContain(`${file} was replaced by another file while the bridge is running`);
  expect(readOutbox(rig.directory)).toMatchObject({ streamId: rig.streamId, position: 5 });
  expect(readdirSync(rig.directory).filter((name) => name.startsWith('archived-'))).toHaveLength(1);
});
