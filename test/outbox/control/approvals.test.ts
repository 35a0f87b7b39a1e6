import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { type ConcludedApproval, noProgress } from '../../../src/outbox/outbox.ts';
import { keepFileBusy } from '../busy-file.ts';
import { appendRecords, createHarness, positions, recordAt } from '../harness.ts';

const at = new Date('2026-01-01T00:00:00.000Z');
const terms = {
  eventType: 'Redeploy',
  eventSource: 'Platform',
  durationSeconds: -1,
  resources: ['web_0'],
  listedTwice: false,
};
const intent = (eventId: string) => ({ eventId, cause: 'by-hand', at, terms });
const concluded = (
  eventId: string,
  outcome: ConcludedApproval['outcome'] = 'accepted',
  when = at,
): ConcludedApproval => ({
  eventId,
  outcome,
  at: when,
  reason: outcome === 'accepted' ? null : 'Azure said no',
});

describe('an approval', () => {
  test('is on disk before it is sent, and open until its outcome is written with its record', () => {
    using harness = createHarness();
    const outbox = harness.open();
    expect(outbox.intend(intent('EVENT-1'))).toBe(true);
    expect(outbox.intend({ ...intent('EVENT-2'), at: new Date(at.getTime() - 1) })).toBe(true);
    expect(outbox.state.approved).toEqual(new Set(['event-1', 'event-2']));
    outbox.close();

    const again = harness.open();
    expect(again.openApprovals().map(({ eventId }) => eventId)).toEqual(['EVENT-2', 'EVENT-1']);
    expect(again.openApprovals()[1]).toEqual(intent('EVENT-1'));
    const { state } = again;
    again.append({ ...state, position: 1 }, [recordAt(1, 'EVENT-1', { phase: 'Approved' })], [concluded('EVENT-1')]);
    expect(again.openApprovals()).toMatchObject([{ eventId: 'EVENT-2' }]);
    again.close();
    const third = harness.open();
    expect(third.openApprovals()).toMatchObject([{ eventId: 'EVENT-2' }]);
    expect(third.state.approved).toEqual(new Set(['event-1', 'event-2']));
  });

  test('sent again has the cause and the terms of the first time', () => {
    using harness = createHarness();
    const outbox = harness.open();
    const anew = { ...intent('EVENT-1'), cause: 'freeze', terms: { ...terms, eventType: 'Freeze' } };
    outbox.intend(intent('EVENT-1'));
    outbox.intend(anew);
    expect(outbox.openApprovals()).toEqual([anew]);
    const { terms: _, ...unseen } = anew;
    outbox.intend(unseen);
    expect(outbox.openApprovals()).toEqual([{ ...unseen, terms: null }]);
  });

  test('with an unreadable time counts as old', () => {
    using harness = createHarness();
    const outbox = harness.open();
    outbox.intend(intent('EVENT-1'));
    outbox.close();
    const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
    db.exec(`UPDATE approvals SET intendedAt = 'never'`);
    db.close();
    expect(harness.open().openApprovals()).toEqual([{ ...intent('EVENT-1'), at: new Date(0) }]);
  });

  test('that Azure refused does not count, also after a restart', () => {
    using harness = createHarness();
    const outbox = harness.open();
    outbox.intend(intent('EVENT-1'));
    outbox.intend(intent('EVENT-2'));
    outbox.append(outbox.state, [], [concluded('EVENT-1', 'refused'), concluded('EVENT-2', 'outcome-unknown')]);
    expect(outbox.state.approved).toEqual(new Set(['event-2']));
    outbox.close();
    const again = harness.open();
    expect(again.state.approved).toEqual(new Set(['event-2']));
    expect(again.intend(intent('EVENT-1'))).toBe(true);
    expect(again.openApprovals()).toMatchObject([{ eventId: 'EVENT-1' }]);
  });

  test('is not sent while the disk takes no writes', () => {
    using harness = createHarness();
    const outbox = harness.open();
    const other = keepFileBusy(harness.directory);
    expect(outbox.intend(intent('EVENT-1'))).toBe(false);
    expect(outbox.state.approved).toEqual(new Set());
    other.letGo();
    expect(outbox.intend(intent('EVENT-1'))).toBe(true);
    expect(outbox.storage.fault).toBeNull();
  });

  test('is not sent before what was in memory only is on disk', () => {
    using harness = createHarness();
    const outbox = harness.open();
    const other = keepFileBusy(harness.directory);
    appendRecords(outbox);
    expect(outbox.storage.undurable).toBe(1);
    other.letGo();
    expect(outbox.intend(intent('EVENT-1'))).toBe(true);
    expect(outbox.storage).toEqual({ fault: null, undurable: 0 });
    expect(positions(outbox, 'hub')).toEqual([1]);
  });

  test('whose outcome cannot be written is concluded in memory, and on disk as soon as that can be', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    outbox.intend(intent('EVENT-1'));
    const other = keepFileBusy(harness.directory);
    const { state } = outbox;
    outbox.append({ ...state, position: 1 }, [recordAt(1)], [concluded('EVENT-1', 'refused')]);
    expect(outbox.openApprovals()).toEqual([]);
    expect(outbox.state.approved).toEqual(new Set());
    other.letGo();
    await harness.clock.advance(1_000);
    outbox.retry();
    outbox.settle('hub', [], noProgress);
    outbox.close();
    expect(harness.open().openApprovals()).toEqual([]);
  });

  test('is forgotten when its event is: a month after its outcome', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    for (const eventId of ['OLD', 'YOUNG', 'OPEN']) outbox.intend(intent(eventId));
    const month = 31 * 24 * 3_600_000;
    outbox.append(outbox.state, [], [concluded('OLD')]);
    await harness.clock.advance(month - 2 * 24 * 3_600_000);
    outbox.maintain();
    using db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'), { readOnly: true });
    expect(db.prepare(`SELECT eventKey FROM approvals WHERE outcome = 'accepted'`).all()).toEqual([
      { eventKey: 'old' },
    ]);
    await harness.clock.advance(2 * 24 * 3_600_000);
    outbox.append(outbox.state, [], [concluded('YOUNG', 'accepted', harness.clock.now())]);
    outbox.maintain();
    outbox.close();
    expect(harness.open().state.approved).toEqual(new Set(['young', 'open']));
  });
});

test('a committed intent survives kill -9', async () => {
  using harness = createHarness();
  const script = `
    import { openOutbox } from ${JSON.stringify(join(import.meta.dirname, '../../../src/outbox/durable-outbox.ts'))};
    import { systemClock as clock } from ${JSON.stringify(join(import.meta.dirname, '../../../src/clock.ts'))};
    import { silentLog as log } from ${JSON.stringify(join(import.meta.dirname, '../../../src/log.ts'))};
    const directory = ${JSON.stringify(harness.directory)};
    const outbox = openOutbox({ directory, sinks: ['hub'], maxMegabytes: 256, clock, log, version: '1.2.3' });
    if (outbox.intend({ eventId: 'EVENT-1', cause: 'by-hand', at: new Date() })) process.kill(process.pid, 'SIGKILL');`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], { stdio: 'inherit' });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
  const outbox = harness.open({ sinks: ['hub'] });
  expect(outbox.openApprovals()).toMatchObject([{ eventId: 'EVENT-1', cause: 'by-hand' }]);
  expect(outbox.state.approved).toEqual(new Set(['event-1']));
});

test('a file without the table of approvals is repaired', () => {
  using harness = createHarness();
  const outbox = harness.open();
  const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
  db.exec('DROP TABLE approvals');
  db.close();
  expect(outbox.openApprovals()).toEqual([]);
  expect(outbox.intend(intent('EVENT-1'))).toBe(false);
});
