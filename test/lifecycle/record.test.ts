import { describe, expect, test } from 'vitest';
import { at, event, nothing, observe, observerNamed, started } from '../support/observations.ts';

const scheduled = event();
const recordsOf = (...observations: Parameters<typeof observe>[0][number][]) =>
  observe([nothing, ...observations]).records;

describe('the fields of a record besides its phase', () => {
  test('notice is the time from the first sighting to the start', () => {
    const [first, second] = recordsOf({ events: [scheduled] }, { events: [started(scheduled)], after: 8 });
    expect(first).toMatchObject({ firstSeenAt: at(2), startedAt: null, noticeSeconds: 898 });
    expect(second).toMatchObject({ firstSeenAt: at(2), startedAt: at(10), noticeSeconds: 8 });
  });

  test('an event that starts without notice gave none', () => {
    expect(recordsOf({ events: [started(scheduled)] })[0]).toMatchObject({ noticeSeconds: 0, startedAt: at(2) });
  });

  test('the notice of an event that was there before us is unknown', () => {
    expect(observe([{ events: [scheduled] }]).records[0]?.noticeSeconds).toBeNull();
  });

  test('a notBefore that had passed at the first sighting gave no notice, not a negative one', () => {
    expect(recordsOf({ events: [event({ notBefore: at(-60) })] })[0]?.noticeSeconds).toBe(0);
  });

  test('Started blanks notBefore on the wire, the record remembers it', () => {
    expect(recordsOf({ events: [scheduled] }, { events: [started(scheduled)] })[1]?.notBefore).toBe(at(900));
  });

  test('startedSeconds is the time that Azure listed it as Started, only in its end', () => {
    const records = recordsOf(
      { events: [scheduled] },
      { events: [started(scheduled)] },
      ...fiveSecondsStarted,
      nothing,
    );
    expect(records.map(({ startedSeconds }) => startedSeconds)).toEqual([null, null, 6]);
  });

  test('startedSeconds is in whole milliseconds, however precise the clock is', () => {
    const records = recordsOf(nothing, { events: [started(scheduled)] }, { events: [], after: 2.004128709 });
    expect(records.at(-1)?.startedSeconds).toBe(2.004);
  });

  test('startedSeconds is unknown across a gap', () => {
    const [, end] = recordsOf({ events: [started(scheduled)] }, { events: [], after: 60 });
    expect(end).toMatchObject({ phase: 'Completed', startedSeconds: null });
    const [, later] = observe([{ events: [started(scheduled)] }, nothing]).records;
    expect(later).toMatchObject({ phase: 'Completed', startedSeconds: null });
  });

  test('pauses are summed up and the longest is kept, until the end', () => {
    const [, , end] = recordsOf(
      { events: [scheduled], pauseMs: 0 },
      { events: [started(scheduled)], pauseMs: 1200 },
      { events: [started(scheduled)], pauseMs: 5100 },
      { events: [], pauseMs: 300 },
    );
    expect(end).toMatchObject({ observedPauseMs: 5100, observedPauseTotalMs: 6600 });
  });

  test('a pause that was not measured is null, one measured as none is 0', () => {
    expect(recordsOf({ events: [scheduled] })[0]?.observedPauseMs).toBeNull();
    expect(recordsOf({ events: [scheduled] }, { events: [started(scheduled)], pauseMs: 0 })[1]?.observedPauseMs).toBe(
      0,
    );
  });

  test('across a reboot the outage is from the last poll before to the first poll after', () => {
    const reboot = event({ eventType: 'Reboot' });
    const records = recordsOf(
      { events: [reboot] },
      { events: [started(reboot)] },
      { events: [started(reboot)], after: 95, bootId: 'boot-2' },
      nothing,
    );
    expect(records.at(-1)).toMatchObject({ phase: 'Completed', observedOutageSeconds: 95, bootId: 'boot-2' });
  });

  test('the previous physical host is recorded once the host has changed', () => {
    const records = recordsOf(
      { events: [scheduled], physicalHost: 'node-1' },
      { events: [started(scheduled)], physicalHost: 'node-2' },
    );
    expect(records.map((record) => [record.physicalHost, record.previousPhysicalHost])).toEqual([
      ['node-1', null],
      ['node-2', 'node-1'],
    ]);
  });

  test('an Updated has the values before and after', () => {
    const [, updated] = recordsOf(
      { events: [scheduled] },
      { events: [event({ notBefore: at(60), durationSeconds: 9 })] },
    );
    expect(updated?.changes).toEqual([
      { field: 'notBefore', from: at(900), to: at(60) },
      { field: 'durationSeconds', from: 5, to: 9 },
    ]);
  });

  test('the end names the incarnation of the document that showed it', () => {
    expect(recordsOf({ events: [scheduled] }, nothing).map(({ documentIncarnation }) => documentIncarnation)).toEqual([
      2, 3,
    ]);
  });

  test("its resource id is the one of Azure's preview feed: of the scale set, else of the VM", () => {
    const inScaleSet = observerNamed('web_0', { vmScaleSetResourceId: '/Subscriptions/S/vmss/Web' });
    const [record] = observe([nothing, { events: [scheduled] }], { observer: inScaleSet }).records;
    expect(record?.scheduledEventResourceId).toBe(
      '/subscriptions/s/vmss/web/providers/microsoft.maintenance/scheduledevents/c7061bac-afdc-4513-b24b-aa5f13a16123',
    );
    expect(recordsOf({ events: [scheduled] })[0]?.scheduledEventResourceId).toContain(
      '/virtualmachines/web_0/providers/',
    );
  });

  test('it is no test record, and names the build that wrote it', () => {
    expect(recordsOf({ events: [scheduled] })[0]).toMatchObject({
      isTest: false,
      bridgeVersion: '1.2.3',
      schemaVersion: '1.1',
    });
  });

  test('no field is an empty text or missing', () => {
    const [record] = recordsOf({ events: [event({ description: '', eventSource: null })] });
    expect(Object.values(record ?? {})).not.toContain('');
    expect(Object.values(record ?? {})).not.toContain(undefined);
  });
});

describe('the physical host', () => {
  const migrated = (...hosts: (string | null)[]) => {
    const observations = hosts.map((physicalHost, n) => ({
      events: [n === 0 ? scheduled : started(scheduled, { durationSeconds: n })],
      physicalHost,
    }));
    return recordsOf(...observations).map((record) => record.previousPhysicalHost);
  };

  test('that became unreadable is no move', () => expect(migrated('node-1', null)).toEqual([null, null]));

  test('that was learned late becomes the previous host once it has changed', () => {
    expect(migrated(null, 'node-1', 'node-2')).toEqual([null, null, 'node-1']);
  });

  test('that was learned from an unchanged document counts too', () => {
    const records = recordsOf(
      { events: [scheduled] },
      { events: [scheduled], physicalHost: 'node-1' },
      { events: [], physicalHost: 'node-2', incarnation: 9 },
    );
    expect(records.at(-1)).toMatchObject({
      phase: 'Completed',
      physicalHost: 'node-2',
      previousPhysicalHost: 'node-1',
    });
  });
});

describe('the outage', () => {
  test('of two reboots during one event is the longer one', () => {
    const reboot = event({ eventType: 'Reboot', eventStatus: 'Started' });
    const records = recordsOf(
      { events: [reboot] },
      { events: [reboot], after: 300, bootId: 'boot-2' },
      { events: [reboot], after: 15, bootId: 'boot-3' },
      { events: [reboot], pauseMs: 0 },
      nothing,
    );
    expect(records.at(-1)?.observedOutageSeconds).toBe(300);
  });

  test('of a VM that is only a witness is null', () => {
    const others = event({ resources: ['web_7'], eventStatus: 'Started' });
    const { records } = observe([nothing, { events: [others] }, { events: [], after: 60, bootId: 'boot-2' }], {
      witnessRate: 1,
    });
    expect(records.at(-1)?.observedOutageSeconds).toBeNull();
  });
});

describe('since when it is Scheduled', () => {
  test('is remembered through its changes', () => {
    const { state } = observe([
      nothing,
      { events: [scheduled] },
      { events: [event({ notBefore: at(5000) })], after: 60 },
    ]);
    expect([...state.events.values()][0]?.scheduledSince).toBe(at(2));
  });
});

const fiveSecondsStarted = Array.from({ length: 5 }, () => ({ events: [started(scheduled)] }));

describe('a record stays small', () => {
  const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  const names = Array.from({ length: 3000 }, (_, n) => `some-scale-set-with-a-long-name_${n}`);

  test('a list of thousands of VMs is truncated with this VM first, and has the full count', () => {
    const [record] = recordsOf({ events: [event({ resources: [...names, 'web_0'] })] });
    expect(record?.affectedResources[0]).toBe('web_0');
    expect(record?.affectedResourceCount).toBe(3001);
    expect(bytes(record?.affectedResources)).toBeLessThanOrEqual(16_384);
    expect(bytes(record?.rawEvent)).toBeLessThanOrEqual(16_384);
    expect(record?.rawEvent).toMatchObject({ eventId: scheduled.eventId });
  });

  test('this VM is kept however it is spelled', () => {
    const [record] = recordsOf({ events: [event({ resources: [...names, 'WEB_0'] })] });
    expect(record?.affectedResources[0]).toBe('WEB_0');
  });

  test('a content that changes two hundred times does not make the memory of the event grow with its list', () => {
    const observations = Array.from({ length: 200 }, (_, n) => ({
      events: [event({ resources: [...names, 'web_0'], notBefore: at(9000 + n) })],
    }));
    const memory = [...observe([nothing, ...observations]).state.events.values()][0];
    expect(bytes(memory?.recorded)).toBeLessThan(20_000);
  });

  test('a long description is cut to 4 KB at a character', () => {
    const [record] = recordsOf({ events: [event({ description: 'é€😀'.repeat(1000) })] });
    expect(Buffer.byteLength(record?.description ?? '')).toBeLessThanOrEqual(4096);
    expect(record?.description).toMatch(/^(é€😀)+(é|é€)?…$/u);
  });

  test('a record stays below 64 KB for any answer of Azure', () => {
    const huge = event({
      resources: [...names, 'web_0'],
      description: '"\u0001\n'.repeat(50_000),
      eventType: 'T'.repeat(50_000),
    });
    const other = event({ ...huge, eventType: 'U'.repeat(50_000), resources: names });
    for (const record of recordsOf({ events: [huge] }, { events: [other] })) expect(bytes(record)).toBeLessThan(65_536);
  });
});
