import { describe, expect, test } from 'vitest';
import { type LifecycleRecord, parseEventData } from '../../src/consumer/index.ts';
import { createFleetFeed } from '../../src/tail/fleet-feed.ts';
import { lineOutput, terminalOutput } from '../../src/tail/output.ts';
import { HubRefused } from '../../src/tail/refusal.ts';
import { type TailOptions, tail } from '../../src/tail/tail.ts';
import { createFakeClock, settled } from '../support/fake-clock.ts';
import { at, event, nothing, type ObservationSpec, observe, observerNamed, started } from '../support/observations.ts';

const freeze = event({ resources: ['web_0', 'web_1'] });
const reboot = event({ eventId: 'AAAAAAAA-0000', eventType: 'Reboot', resources: ['web_5'], notBefore: at(1200) });

const reported = (vm: string, observations: readonly ObservationSpec[], witnessRate = 0) =>
  observe(observations, { observer: observerNamed(vm), witnessRate }).records;

/** A freeze that two VMs and a witness reported at 12:00:02 and 12:00:03 and that ended at 12:00:04; a reboot, announced at 12:00:02. */
const ended = [nothing, { events: [freeze] }, { events: [started(freeze)] }, nothing];
const history = [
  ...['web_1', 'web_0'].flatMap((vm) => reported(vm, ended)),
  ...reported('web_7', ended, 1),
  ...reported('web_5', [nothing, { events: [reboot] }]),
];
const [started5, ended5] = reported('web_5', [
  nothing,
  { events: [reboot] },
  { events: [started(reboot)] },
  nothing,
]).slice(1);

const message = (record: LifecycleRecord | undefined) => ({
  kind: 'record' as const,
  record: record as LifecycleRecord,
});
const unreachable = {
  code: 'connection-refused',
  message: 'Nothing listens; retrying.',
  remedy: null,
  isPermanent: false,
};
const noRole = { code: 'unauthorized', message: 'May not read.', remedy: 'az role', isPermanent: true };

/** A tail at 12:10 of what arrives by `feed`. */
function follow(given: Partial<TailOptions> = {}) {
  const clock = createFakeClock(at(600));
  const feed = createFleetFeed({ clock, explain: (error) => (error === 'role' ? noRole : unreachable) });
  const stop = new AbortController();
  const out: string[] = [];
  const err: string[] = [];
  const plain = { hub: 'vm-lifecycle in x', json: false, colour: false, columns: Number.POSITIVE_INFINITY };
  const output = lineOutput(
    (text) => out.push(...text.trimEnd().split('\n')),
    (text) => err.push(text),
    plain,
  );
  const filter = { vms: [], event: null, types: [], phases: [] };
  const tailed = tail({ feed, filter, onlyOwn: false, from: null, output, clock, stop: stop.signal, ...given });
  const lines = (): string[] => out.map((line) => line.slice(11, 49).trimEnd());
  const end = async (): Promise<void> => {
    stop.abort();
    await tailed;
  };
  return { clock, feed, out, err, lines, end, tailed };
}

const freezeLines = [
  '12:00:02Z  Scheduled  Freeze     web_0',
  '12:00:03Z  Started    Freeze     web_0',
  '12:00:04Z  Completed  Freeze     web_0',
];

describe('a tail', () => {
  test('prints nothing before history is read, then the steps of events that are open', async () => {
    const { feed, lines, end } = follow();
    feed.onMessages(history.map(message), '0');
    expect(lines()).toEqual([]);
    feed.onHistoryRead();
    expect(lines()).toEqual(['12:00:02Z  Scheduled  Reboot     web_5']);
    await end();
  });

  test('says that it follows the hub where history has nothing to show', async () => {
    const { feed, out, err, end } = follow();
    feed.onMessages(reported('web_0', ended).map(message), '0');
    feed.onHistoryRead();
    expect({ out, err }).toEqual({
      out: [],
      err: ['Following vm-lifecycle in x: 3 records, nothing to show yet.\n'],
    });
    await end();
  });

  test('prints what happened since the time that is asked for, in the order in which it happened', async () => {
    const { feed, lines, end } = follow({ from: new Date(at(3)) });
    feed.onMessages(history.toReversed().map(message), '0');
    feed.onHistoryRead();
    expect(lines()).toEqual(freezeLines.slice(1));
    await end();
  });

  test('prints each later transition once, copies and witnesses included', async () => {
    const { feed, lines, end } = follow({ from: new Date(at(600)) });
    feed.onMessages(history.map(message), '0');
    feed.onHistoryRead();
    const again = [...history, started5, started5, ended5, ...history, ended5].map(message);
    feed.onMessages(again, '0');
    expect(lines()).toEqual(['12:00:03Z  Started    Reboot     web_5', '12:00:04Z  Completed  Reboot     web_5']);
    await end();
  });

  test.for([
    { by: 'a VM', filter: { vms: ['WEB_0'] }, count: 3 },
    { by: 'one of two VMs', filter: { vms: ['web_5', 'web_1'] }, count: 4 },
    { by: 'a VM that only reported', filter: { vms: ['web_7'] }, count: 0 },
    { by: 'the beginning of an id', filter: { event: 'aaaa' }, count: 1 },
    { by: 'the end of an id', filter: { event: '0000' }, count: 0 },
    { by: 'a type', filter: { types: ['freeze'] }, count: 3 },
    { by: 'a phase', filter: { phases: ['Scheduled'] }, count: 2 },
    { by: 'two phases of a type', filter: { phases: ['Started', 'Completed'], types: ['Freeze'] }, count: 2 },
  ])('filtered by $by prints $count lines', async ({ filter, count }) => {
    const all = { vms: [], event: null, types: [], phases: [] };
    const { feed, lines, end } = follow({ from: new Date(0), filter: { ...all, ...filter } });
    feed.onMessages(history.map(message), '0');
    feed.onHistoryRead();
    expect(lines()).toHaveLength(count);
    await end();
  });

  test('reports a failure of many partitions once, and its end', async () => {
    const { feed, err, end } = follow();
    feed.onHistoryRead();
    for (const partition of ['0', '1', '0']) feed.onError('reset', partition);
    expect(feed.problems.map(({ partitionId, code }) => [partitionId, code])).toEqual([
      ['0', 'connection-refused'],
      ['1', 'connection-refused'],
    ]);
    feed.onMessages([], '1');
    feed.onMessages([], '0');
    expect(err).toEqual(['Nothing listens; retrying.\n', 'Reading all partitions again.\n']);
    await end();
  });

  test('ends where a partition is refused for good that was never read, and continues where it was', async () => {
    const early = follow();
    early.feed.onError('role', '0');
    await expect(early.tailed).rejects.toThrow(new HubRefused(noRole));
    expect(early.err).toEqual([]);
    const late = follow();
    late.feed.onMessages([], '0');
    late.feed.onHistoryRead();
    late.feed.onError('role', '0');
    await settled();
    expect(late.err).toEqual(['May not read.\n\n  az role\n\n']);
    await late.end();
  });

  test('reports once which records are missing, a minute after the last one of the VM, and which VM lost its state', async () => {
    const { feed, err, clock, end } = follow();
    const [first] = history;
    if (first === undefined) throw new Error('no record');
    // Positions 1 and 40 arrive at 12:09:30; it is 12:10.
    feed.onMessages(
      [1, 40].map((position) => message({ ...first, position, observedAt: at(570), clockOffsetSeconds: 0 })),
      '0',
    );
    feed.onHistoryRead();
    await clock.advance(20_000);
    expect(err).toEqual([]);
    await clock.advance(30_000);
    expect(err).toEqual(['38 records of web_1 are not in the hub\n']);
    feed.onMessages([message({ ...first, streamId: 'new', position: 1, observedAt: at(640) })], '1');
    await clock.advance(30_000);
    expect(err.slice(1)).toEqual(['38 records of web_1 are not in the hub, web_1 lost its state at 12:10:40Z\n']);
    await end();
  });

  test('reports a message that is no record, and continues', async () => {
    const { feed, err, end } = follow();
    feed.onMessages([{ kind: 'invalid', problem: 'partition 0: vmId: expected a text' }], '0');
    expect(err).toEqual(['Skipped a message: partition 0: vmId: expected a text\n']);
    await end();
  });

  test('passes no control character of a message on to the terminal', async () => {
    const { feed, err, end } = follow();
    const body = JSON.stringify({ ...history[0], tags: { 'a\u001b[2J\u009b\u202e': 1 } });
    const properties = { 'cloudEvents:type': 'com.scheduledeventsbridge.scheduledevent.scheduled.v1' };
    const bad = parseEventData({ body, properties });
    const noJson = parseEventData({ body: '{\u001b[2J\u009b}', properties });
    expect([bad.kind, noJson.kind]).toEqual(['invalid', 'invalid']);
    feed.onMessages([bad, noJson], '0');
    expect(err).toHaveLength(2);
    for (const text of err) expect(text.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    await end();
  });
});

test('a terminal shows lines and notices above the open events, and nothing of them when it is left', () => {
  const feed = createFleetFeed({ clock: createFakeClock(at(600)), explain: () => unreachable });
  feed.onMessages(history.map(message), '0');
  feed.onHistoryRead();
  const written: string[] = [];
  const shown = { hub: 'vm-lifecycle in x', feed, isShown: () => true, colour: false };
  const output = terminalOutput((text) => written.push(text), { columns: 100, rows: 24 }, shown);
  output.refresh(new Date(at(600)));
  output.notice('May not read.\n\n  az role\n');
  output.close();
  output.close();
  const lines = written.map((text) => text.split('\n').map((line) => line.replace(controls, '').trimEnd()));
  const picture = [
    expect.stringMatching(/^─+$/),
    expect.stringMatching(/^ 1 open event /),
    expect.stringMatching(/^ Scheduled {2}Reboot/),
    '',
  ];
  expect(lines).toEqual([picture, ['May not read.', '', '  az role', ...picture], ['']]);
  // Every line is cleared to its end: a longer one may have been there.
  for (const text of written.slice(0, 2))
    expect(
      text
        .split('\n')
        .slice(0, -1)
        .every((line) => line.endsWith(`${esc}[K`)),
    ).toBe(true);
});

const esc = String.fromCharCode(27);
const controls = new RegExp(`${esc}\\[[?0-9]*[A-Za-z]|\r`, 'g');

describe('a feed', () => {
  test('forgets ended events after a day, and open ones that no VM has reported for a month', async () => {
    const clock = createFakeClock(at(600));
    const feed = createFleetFeed({ clock, explain: () => unreachable });
    feed.onMessages(history.map(message), '0');
    feed.onHistoryRead();
    const types = async (hours: number): Promise<unknown[]> => {
      await clock.advance(hours * 3_600_000);
      feed.onMessages([], '0');
      return feed.view.events().map(({ latest }) => latest?.eventType);
    };
    expect(await types(1)).toEqual(['Freeze', 'Reboot']);
    expect(await types(24)).toEqual(['Reboot']);
    expect(await types(28 * 24)).toEqual(['Reboot']);
    expect(await types(2 * 24)).toEqual([]);
    expect(feed.recordCount).toBe(history.length);
  });

  test('keeps ended events that are still to be printed, however many records history has', () => {
    const clock = createFakeClock(at(48 * 3600));
    const many = Array.from({ length: 20_000 }, () => message(history[0]));
    const typesIn = (keepSince?: Date): unknown[] => {
      const feed = createFleetFeed({ clock, explain: () => unreachable, ...(keepSince && { keepSince }) });
      feed.onMessages([...history.map(message), ...many], '0');
      return feed.view.events().map(({ latest }) => latest?.eventType);
    };
    expect(typesIn()).toEqual(['Reboot']);
    expect(typesIn(new Date(at(0)))).toEqual(['Freeze', 'Reboot']);
  });

  test('takes no record for missing that another partition brings after much history', () => {
    const clock = createFakeClock(at(48 * 3600));
    const feed = createFleetFeed({ clock, explain: () => unreachable });
    const [first] = history;
    if (first === undefined) throw new Error('no record');
    const records = [1, 2, 3, 4, 5].map((position) => message({ ...first, position, recordId: `${position}` }));
    const many = Array.from({ length: 20_000 }, () => message(history.at(-1)));
    feed.onMessages([...records.filter((_, index) => index % 2 === 1), ...many], '0');
    feed.onMessages([...records.filter((_, index) => index % 2 === 0)], '1');
    expect(feed.view.streams().find(({ vmId }) => vmId === first.vmId)).toMatchObject({ missing: [], lastPosition: 5 });
  });

  test('notifies of records until the subscription ends', () => {
    const feed = createFleetFeed({ explain: () => unreachable });
    const changed: (readonly string[])[] = [];
    const unsubscribe = feed.subscribe({ onRecord: (_, ids) => void changed.push(ids) });
    feed.onMessages([started5, started5].map(message), '0');
    unsubscribe();
    feed.onMessages([message(ended5)], '0');
    expect(changed).toEqual([['aaaaaaaa-0000'], []]);
  });
});
