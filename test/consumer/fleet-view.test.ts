import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { azureTime, type EventState, FleetView, isSilent, type LifecycleRecord } from '../../src/consumer/index.ts';
import { foldEvents } from '../../src/lifecycle/fold.ts';
import {
  at,
  event,
  nothing,
  type ObservationSpec,
  observe,
  observerNamed,
  settled,
  started,
} from '../support/observations.ts';
import { arrivals } from '../support/random-records.ts';
import { runs } from '../support/runs.ts';
import { sampleRecord } from '../support/sample-record.ts';
import { historyOf, truthOf } from './worlds.ts';

function viewOf(records: readonly LifecycleRecord[]): FleetView {
  const fleet = new FleetView();
  for (const record of records) fleet.add(record);
  return fleet;
}

const scheduled = event({ resources: ['web_0', 'web_1'] });
const seenBy = (vm: string, observations: readonly ObservationSpec[], given: Parameters<typeof observe>[1] = {}) =>
  observe(observations, { observer: observerNamed(vm, { subscriptionId: 's', resourceGroup: 'rg' }), ...given })
    .records;
const lifecycle: readonly ObservationSpec[] = [
  nothing,
  { events: [scheduled] },
  { events: [started(scheduled)] },
  nothing,
];
const only = (fleet: FleetView): EventState => {
  const [state, ...others] = fleet.events();
  if (state === undefined || others.length > 0) throw new Error(`${others.length + 1} events`);
  return state;
};
const affected = ({ affected: vms }: EventState): string[] => vms.map(({ name }) => name).sort();

describe('the state of an event', () => {
  test('that is announced, has started, and has ended', () => {
    const [announced, begun, over] = [2, 3, 4].map((count) => only(viewOf(seenBy('web_0', lifecycle.slice(0, count)))));
    expect(announced).toMatchObject({ isOpen: true, hasStarted: false, end: null, latest: { phase: 'Scheduled' } });
    expect(begun).toMatchObject({ isOpen: true, hasStarted: true, end: null, latest: { phase: 'Started' } });
    expect(over).toMatchObject({ isOpen: false, hasStarted: true, end: { phase: 'Completed' } });
    expect([announced, begun, over].map((state) => state && affected(state))).toEqual([
      ['web_0', 'web_1'],
      ['web_0', 'web_1'],
      [],
    ]);
    expect(over?.affectedLast.map(({ name }) => name).sort()).toEqual(['web_0', 'web_1']);
  });

  test('of which only the end is known has ended and affects no VM', () => {
    expect(only(viewOf(seenBy('web_0', lifecycle).slice(-1)))).toMatchObject({
      isOpen: false,
      latest: null,
      affected: [],
      named: [],
    });
  });

  test('that is listed again after its end is open, and has not started', () => {
    const again = seenBy('web_0', [...lifecycle, { events: [scheduled], after: 60 }]);
    expect(only(viewOf(again))).toMatchObject({ isOpen: true, hasStarted: false, end: null });
  });

  test('that a VM leaves affects the others', () => {
    const without = event({ resources: ['web_1'] });
    const records = seenBy('web_0', [nothing, { events: [scheduled] }, { events: [without], after: 5 }]);
    expect(affected(only(viewOf(records)))).toEqual(['web_1']);
    const [end] = seenBy('web_1', [nothing, { events: [without] }, { ...nothing, after: 60 }]).slice(-1);
    const over = only(viewOf([...records, ...(end ? [end] : [])]));
    expect([over.isOpen, over.affectedLast.map(({ name }) => name)]).toEqual([false, ['web_1']]);
  });

  test('that removes its VM, which will not report it, is presumed to be over ten minutes after its notBefore', () => {
    const preempt = event({ eventType: 'Preempt', notBefore: at(30) });
    const fleet = viewOf(seenBy('web_0', [nothing, { events: [preempt] }, { events: [started(preempt)] }]));
    expect(only(fleet)).toMatchObject({ isOpen: true, presumedOverAt: new Date(at(630)) });
    fleet.forget(new Date(at(629)));
    expect(fleet.events()).toHaveLength(1);
    fleet.forget(new Date(at(631)));
    expect(fleet.events()).toHaveLength(0);
    const ended = viewOf(seenBy('web_0', [nothing, { events: [preempt] }, { events: [started(preempt)] }, nothing]));
    expect(only(ended)).toMatchObject({ isOpen: false, presumedOverAt: null });
    expect(only(viewOf(seenBy('web_0', lifecycle.slice(0, 3)))).presumedOverAt).toBeNull();
  });

  test('whose list is cut affects the VMs that name themselves', () => {
    const cut = seenBy('web_7', [nothing, { events: [event({ resources: ['web_7'] })] }]).map((record) => ({
      ...record,
      affectedResources: [],
      affectedResourceCount: 900,
    }));
    const state = only(viewOf(cut));
    expect([affected(state), state.affectedCount]).toEqual([['web_7'], 900]);
  });

  test('whose cut list no longer names a VM keeps it', () => {
    const [first, second] = seenBy('web_0', [nothing, { events: [scheduled] }, { events: [started(scheduled)] }]);
    if (!first || !second) throw new Error('no records');
    const cut = { ...second, affectedResources: ['web_0'], affectedResourceCount: 2 };
    const state = only(viewOf([first, cut]));
    expect([affected(state), state.affectedCount]).toEqual([['web_0', 'web_1'], 2]);
  });

  test('says whose end another VM has withdrawn, and that the end reported later stands', () => {
    const [, , web0] = seenBy('web_0', lifecycle);
    // 12:00:04 web_0 says Completed; web_1 sees the event again a minute later, and its end an hour after that.
    const web1 = seenBy('web_1', [...lifecycle, { events: [scheduled], after: 60 }, { ...nothing, after: 3600 }]);
    const [back, over] = web1.slice(3);
    if (!web0 || !back || !over) throw new Error('no records');
    const withdrawn = (records: readonly LifecycleRecord[]) =>
      only(viewOf(records)).views.map(({ vm, isEndWithdrawn }) => [vm.name, isEndWithdrawn]);
    expect(withdrawn([web0])).toEqual([['web_0', false]]);
    expect(withdrawn([web0, back])).toEqual([
      ['web_0', true],
      ['web_1', false],
    ]);
    expect(withdrawn([over, web0, back])).toEqual([
      ['web_0', true],
      ['web_1', false],
    ]);
  });

  test('is silent a day after it was due and last reported, until it ends', () => {
    const state = only(viewOf(seenBy('web_0', lifecycle.slice(0, 2))));
    // Announced at second 2, due at second 900.
    expect([state.lastAt, isSilent(state, new Date(at(900 + 86_400)))]).toEqual([new Date(at(2)), false]);
    expect(isSilent(state, new Date(at(901 + 86_400)))).toBe(true);
    const over = only(viewOf(seenBy('web_0', lifecycle)));
    expect(isSilent(over, new Date(at(901 + 86_400)))).toBe(false);
  });

  test('shows how each VM sees it', () => {
    const fleet = viewOf([
      ...seenBy('web_0', lifecycle),
      ...seenBy('web_1', lifecycle.slice(0, 3)),
      ...seenBy('web_5', lifecycle, { witnessRate: 1 }),
    ]);
    const views = only(fleet).views.map(({ vm, isAffected, isOpen, last }) => [
      vm.name,
      isAffected,
      isOpen,
      last.phase,
    ]);
    expect(views.sort()).toEqual([
      ['web_0', true, false, 'Completed'],
      ['web_1', true, true, 'Started'],
      ['web_5', false, false, 'Completed'],
    ]);
  });

  test('is not changed by a phase of years to come, by a test, or by a copy', () => {
    const [record] = seenBy('web_0', lifecycle);
    if (!record) throw new Error('no record');
    const fleet = new FleetView();
    expect(fleet.add(record)).toEqual([record.eventId.toLowerCase()]);
    expect(fleet.add({ ...record, recordId: 'x', phase: 'Pondered' })).toEqual([]);
    expect(fleet.add({ ...record, recordId: 'y', phase: 'Completed', isTest: true })).toEqual([]);
    expect(fleet.add({ ...record, observedAt: at(500) })).toEqual([]);
    expect(only(fleet)).toMatchObject({ isOpen: true, steps: [record] });
    expect(new FleetView({ includeTests: true }).add({ ...record, isTest: true })).toHaveLength(1);
  });
});

describe('a VM that loses its state', () => {
  const before = seenBy('web_0', lifecycle.slice(0, 3));
  const begunAnew = (events: ObservationSpec['events']) =>
    seenBy(
      'web_0',
      [
        { events, after: 60 },
        { events, after: 200 },
        { events, after: 200 },
      ],
      {
        state: { ...settled, streamId: 'new', snapshotDue: true },
      },
    );

  test('and does not see the event ends it for good, in whichever order that is learned', () => {
    const records = [...before, ...begunAnew([])];
    for (const fleet of [viewOf(records), viewOf(records.toReversed())]) {
      const state = fleet.event(scheduled.eventId);
      expect(state).toMatchObject({ isOpen: false, end: null, presumedEnd: { phase: 'Snapshot' }, affected: [] });
      expect(state?.views).toMatchObject([{ isOpen: false }]);
      expect(
        fleet
          .vms()
          .find(({ vmId }) => vmId !== null)
          ?.streams.map(({ streamId }) => streamId),
      ).toEqual(['stream-of-the-test', 'new']);
    }
  });

  test('after an event ended and came back, and reports its second end by the id of the first, ends it', () => {
    const back: readonly ObservationSpec[] = [
      nothing,
      { events: [scheduled] },
      nothing,
      { events: [scheduled], after: 60 },
    ];
    const first = seenBy('web_0', back);
    const second = observe([{ events: [scheduled] }, nothing], {
      observer: observerNamed('web_0'),
      state: { ...settled, streamId: 'new' },
      from: Date.parse(at(600)),
    }).records;
    const [once, again] = [...first, ...second].filter(({ phase }) => ['Canceled', 'Ended'].includes(phase));
    expect(again?.recordId).toBe(once?.recordId);
    expect(viewOf(first).event(scheduled.eventId)?.isOpen).toBe(true);
    expect(viewOf([...first, ...second]).event(scheduled.eventId)).toMatchObject({
      isOpen: false,
      end: { streamId: 'new' },
    });
  });

  test('and still sees the event leaves it open', () => {
    expect(viewOf([...before, ...begunAnew([started(scheduled)])]).event(scheduled.eventId)).toMatchObject({
      isOpen: true,
      presumedEnd: null,
    });
  });
});

describe('what is missing', () => {
  const records = seenBy('web_0', lifecycle);

  test('of a stream are the positions between those that arrived, until they do', () => {
    const fleet = new FleetView();
    const positions = [7, 3, 4, 9, 12];
    for (const position of positions)
      fleet.add(sampleRecord({ position, recordId: String(position), isTest: position === 9 }));
    expect(fleet.streams()).toMatchObject([
      {
        firstPosition: 3,
        lastPosition: 12,
        missing: [
          { from: 5, to: 6 },
          { from: 8, to: 8 },
          { from: 10, to: 11 },
        ],
      },
    ]);
    for (const position of [5, 6, 8]) fleet.add(sampleRecord({ position, recordId: String(position) }));
    expect(fleet.streams()[0]?.missing).toEqual([{ from: 10, to: 11 }]);
  });

  test('of an event are the numbers of its records between those that arrived', () => {
    expect(only(viewOf(records.filter((_, index) => index !== 1))).views).toMatchObject([
      { missing: [{ from: 2, to: 2 }] },
    ]);
    expect(only(viewOf(records)).views).toMatchObject([{ missing: [] }]);
  });
});

describe('VMs', () => {
  test('of one name in two resource groups are two', () => {
    const [a, b] = ['one', 'two'].map((resourceGroup, index) =>
      observe(lifecycle.slice(0, index === 0 ? 2 : 4), {
        observer: observerNamed('web_0', { resourceGroup, vmId: `id-${resourceGroup}` }),
      }).records.map((record) => ({
        ...record,
        eventId: resourceGroup,
        recordId: `${resourceGroup} ${record.recordId}`,
      })),
    );
    const vms = viewOf([...(a ?? []), ...(b ?? [])]).vms();
    const open = vms.filter(({ events }) => events.length > 0).map(({ vm, vmId }) => [vm.resourceGroup, vm.name, vmId]);
    expect(open.sort()).toEqual([
      ['one', 'web_0', 'id-one'],
      ['one', 'web_1', null],
    ]);
    expect(vms).toHaveLength(4);
  });
});

describe('forgetting', () => {
  test('keeps what is open, and takes no late copy for news', () => {
    const fleet = viewOf(seenBy('web_0', lifecycle));
    const [first] = seenBy('web_0', lifecycle);
    if (!first) throw new Error('no record');
    fleet.add({ ...first, eventId: 'open', recordId: 'open' });
    fleet.forget(new Date(at(3)));
    expect(fleet.events()).toHaveLength(2);
    fleet.forget(new Date(at(3600)), ({ end }) => end !== null);
    expect(fleet.events()).toHaveLength(2);
    fleet.forget(new Date(at(3600)));
    expect(fleet.events().map(({ eventId }) => eventId)).toEqual(['open']);
    for (const record of seenBy('web_0', lifecycle)) expect(fleet.add(record)).toEqual([]);
    const back = seenBy('web_0', [...lifecycle, { events: [scheduled], after: 60 }]).slice(-1);
    expect(back.flatMap((record) => fleet.add(record))).toEqual([scheduled.eventId.toLowerCase()]);
    expect(fleet.event(scheduled.eventId)).toMatchObject({ isOpen: true });
  });
});

test('a snapshot is kept for an event that another partition brings only later', () => {
  const events = [nothing, nothing, nothing].map((one) => ({ ...one, after: 200 }));
  const [snapshot] = seenBy('web_0', events, { state: { ...settled, streamId: 'new', snapshotDue: true } }).filter(
    ({ phase }) => phase === 'Snapshot',
  );
  if (snapshot === undefined) throw new Error('no snapshot');
  const stateAfter = (abandonedBefore: string) => {
    const fleet = viewOf([snapshot]);
    fleet.forget(new Date(at(100_000)), () => false, new Date(abandonedBefore));
    for (const record of seenBy('web_0', lifecycle.slice(0, 3))) fleet.add(record);
    return only(fleet);
  };
  expect(stateAfter(at(0))).toMatchObject({ isOpen: false, presumedEnd: { phase: 'Snapshot' } });
  expect(stateAfter(at(100_000))).toMatchObject({ isOpen: true });
});

test('an open event is forgotten where no VM has reported it for long, and counts as new when one does', () => {
  const open = seenBy('web_0', lifecycle.slice(0, 3));
  const fleet = viewOf(open);
  fleet.forget(new Date(at(3600)), () => false, new Date(at(2)));
  expect(fleet.events()).toHaveLength(1);
  fleet.forget(new Date(at(3600)), () => true, new Date(at(60)));
  expect(fleet.events()).toHaveLength(1);
  fleet.forget(new Date(at(3600)), () => false, new Date(at(60)));
  expect(fleet.events()).toEqual([]);
  expect(open.flatMap((record) => fleet.add(record))).toHaveLength(2);
});

/** An event as it is folded, by ids. */
const inIds = (state: Pick<EventState, 'eventId' | 'end' | 'presumedEnd' | 'steps'>) => [
  state.eventId,
  state.steps.map(({ recordId, observedAt }) => `${recordId} ${observedAt}`),
  state.end && `${state.end.recordId} ${state.end.observedAt}`,
  state.presumedEnd && `${state.presumedEnd.recordId} ${state.presumedEnd.observedAt}`,
];

test('any records are folded as the bridge folds them, regardless of their order', () => {
  fc.assert(
    fc.property(arrivals, (sent) => {
      // Two records of one id and time that differ: a bridge never writes them.
      const ids = new Map(sent.map((record) => [`${record.recordId} ${azureTime(record)}`, record]));
      const records = sent.map((record) => ids.get(`${record.recordId} ${azureTime(record)}`) ?? record);
      const expected = foldEvents(records).map(inIds).sort();
      expect(viewOf(records).events().map(inIds).sort()).toEqual(expected);
      expect(viewOf(records.toReversed()).events().map(inIds).sort()).toEqual(expected);
    }),
    { numRuns: runs('fleet views', { quick: 200, full: 5_000 }) },
  );
});

test('what the view says of random fleets is what truly happened', { timeout: 600_000 }, () => {
  const count = { events: 0, openUnwatched: 0 };
  const wrong: string[] = [];
  const last = runs('histories', { quick: 30, full: 200 });
  for (let seed = 1; seed <= last; seed += 1) {
    const history = historyOf(seed);
    const fleet = viewOf(history.arrivals);
    for (const one of history.world.events) {
      const state = fleet.event(one.id);
      if (state === undefined) continue;
      const { isListed, isWatched } = truthOf(history, one);
      count.events += 1;
      if (state.isOpen && !isListed && isWatched) wrong.push(`seed ${seed}: ${one.id} is said to be open`);
      // No VM is left that could report the end.
      if (state.isOpen && !isListed && !isWatched) count.openUnwatched += 1;
      if (!state.isOpen && isListed) wrong.push(`seed ${seed}: ${one.id} is said to be over`);
    }
  }
  expect(wrong, JSON.stringify(count)).toEqual([]);
  expect(count.events).toBeGreaterThan(1.5 * last);
});
