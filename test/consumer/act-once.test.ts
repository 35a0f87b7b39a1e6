import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type Actions,
  type ActOnceOptions,
  actOnce,
  FleetView,
  type LifecycleRecord,
  memoryStore,
  parseEventData,
  StateConflictError,
  type StateStore,
} from '../../src/consumer/index.ts';
import { runs } from '../support/runs.ts';
import { sampleRecord } from '../support/sample-record.ts';
import { historyOf, truthOf } from './worlds.ts';

const begun = Date.now() - 600_000;

/** The record of a step as one VM reports it, this many seconds after the first. */
const recordAt = (second: number, given: Partial<LifecycleRecord> = {}): LifecycleRecord =>
  ({
    ...sampleRecord({
      eventId: 'E1',
      affectedResources: ['web_0'],
      affectedResourceCount: 1,
      vmName: 'web_0',
      evidence: ['said-by-azure'],
    }),
    position: second + 1,
    sequence: second + 1,
    startedAt: null,
    ...given,
    recordId: JSON.stringify([second, given]),
    transitionId: JSON.stringify([second, given]),
    observedAt: new Date(begun + 1000 * second).toISOString(),
  }) as LifecycleRecord;

interface Subscriber {
  readonly actions: Actions;
  readonly acts: string[];
  readonly errors: unknown[];
  /** Hands records over, and waits until what follows from them is done. */
  receive(...records: readonly LifecycleRecord[]): Promise<readonly string[]>;
}

async function subscriber(
  store: StateStore,
  options: Partial<ActOnceOptions> = {},
  history: readonly LifecycleRecord[] = [],
): Promise<Subscriber> {
  const acts: string[] = [];
  const errors: unknown[] = [];
  const actions = await actOnce(store, {
    drain: ({ name }) => void acts.push(`drain ${name}`),
    restore: ({ name }) => void acts.push(`restore ${name}`),
    onError: (error) => errors.push(error),
    retrySeconds: 0,
    ...options,
  });
  actions.onRecords(history);
  actions.onHistoryRead();
  await actions.settled();
  return {
    actions,
    acts,
    errors,
    async receive(...records) {
      const before = acts.length;
      for (const record of records) {
        actions.onRecords([record]);
        await actions.settled();
      }
      return acts.slice(before);
    },
  };
}

const end = { phase: 'Completed' } as const;
const returned = { evidence: ['reappeared'] };
const another = { eventId: 'E2' };
const ofNewVm = { vmId: 'new', streamId: 'lost' };
const snapshot = (eventsInSight: string[]) => ({
  ...ofNewVm,
  eventId: 'in-sight-new',
  streamId: 'new',
  phase: 'Snapshot',
  affectedResources: [],
  eventsInSight,
});
const [drains, restores] = ['drain web_0', 'restore web_0'];

const cases: readonly [name: string, records: readonly LifecycleRecord[], acts: readonly string[]][] = [
  ['an announcement and its end', [recordAt(0), recordAt(9, end)], [drains, restores]],
  ['a start without notice', [recordAt(0, { phase: 'Started' })], [drains]],
  [
    'a copy of the announcement after the end',
    [recordAt(0), recordAt(9, end), recordAt(0), recordAt(1)],
    [drains, restores],
  ],
  [
    'a start reported late, by a VM whose hub was down',
    [recordAt(0), recordAt(9, end), recordAt(5, { phase: 'Started', vmId: 'other' })],
    [drains, restores],
  ],
  ['an end alone', [recordAt(9, end)], []],
  ['the id in other letters', [recordAt(0), recordAt(9, { ...end, eventId: 'e1' })], [drains, restores]],
  ['an event that comes back', [recordAt(0), recordAt(5, end), recordAt(9, returned)], [drains, restores, drains]],
  ['an end observed before the event came back', [recordAt(0), recordAt(9, returned), recordAt(5, end)], [drains]],
  [
    'an end after the event came back',
    [recordAt(9, returned), recordAt(5, end), recordAt(12, end)],
    [drains, restores],
  ],
  [
    'a VM that leaves the event',
    [
      recordAt(0, { affectedResources: ['web_0', 'web_1'], affectedResourceCount: 2 }),
      recordAt(5, { phase: 'Updated', affectedResources: ['web_1'], observerAffected: false }),
    ],
    [drains, 'drain web_1', restores],
  ],
  ['a VM of two events', [recordAt(0), recordAt(1, another), recordAt(5, end)], [drains, drains]],
  [
    'a VM of two events that both end',
    [recordAt(0), recordAt(1, another), recordAt(5, end), recordAt(9, { ...end, ...another })],
    [drains, drains, restores],
  ],
  [
    'a second event in the moment in which the first ends',
    [recordAt(0), recordAt(6, another), recordAt(5, end), recordAt(9, { ...another, ...end })],
    [drains, drains, restores],
  ],
  [
    'a VM that lost its state and does not see it',
    [recordAt(0, ofNewVm), recordAt(400, snapshot([]))],
    [drains, restores],
  ],
  ['the same in another order', [recordAt(400, snapshot([])), recordAt(0, ofNewVm)], []],
  ['a VM that lost its state and still sees it', [recordAt(0, ofNewVm), recordAt(400, snapshot(['E1']))], [drains]],
  ['an approval', [recordAt(0, { phase: 'Approved' })], []],
  ['a phase of years to come', [recordAt(0, { phase: 'Pondered' })], []],
  ['a test', [recordAt(0, { isTest: true })], []],
];

test.each(['drain', 'restore', 'onError'])('actOnce without the function %s is refused at once', async (name) => {
  const handlers: Record<string, unknown> = { drain: () => {}, restore: () => {}, onError: () => {} };
  const options = { ...handlers, [name]: undefined } as unknown as ActOnceOptions;
  await expect(actOnce(memoryStore(), options)).rejects.toThrow(
    new TypeError(`actOnce: ${name} must be a function, but is undefined`),
  );
});

describe('actOnce', () => {
  test.each(cases)('acts once on %s', async (_, records, acts) => {
    const { receive, errors } = await subscriber(memoryStore());
    expect(await receive(...records)).toEqual(acts);
    expect(await receive(...records)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('does nothing before it has read history, and then only what history leaves open', async () => {
    const acts: string[] = [];
    const actions = await actOnce(memoryStore(), {
      drain: ({ name }, { eventId }) => void acts.push(`drain ${name} ${eventId}`),
      restore: ({ name }) => void acts.push(`restore ${name}`),
      onError: (error) => acts.push(String(error)),
    });
    actions.onRecords([recordAt(0), recordAt(1, another), recordAt(5, end)]);
    await actions.settled();
    expect(acts).toEqual([]);
    actions.onHistoryRead();
    await actions.settled();
    expect(acts).toEqual(['drain web_0 e2']);
  });

  test('does nothing twice and misses nothing when it begins again with its state', async () => {
    const store = memoryStore();
    expect((await subscriber(store, {}, [recordAt(0)])).acts).toEqual([drains]);
    expect((await subscriber(store, {}, [recordAt(0), recordAt(3, { phase: 'Started' })])).acts).toEqual([]);
    const history = [recordAt(0), recordAt(3, { phase: 'Started' }), recordAt(9, end)];
    expect((await subscriber(store, {}, history)).acts).toEqual([restores]);
    expect((await subscriber(store, {}, history)).acts).toEqual([]);
  });

  test('keeps a VM drained whose event the hub no longer holds, until its end arrives', async () => {
    const store = memoryStore();
    await subscriber(store, {}, [recordAt(0)]);
    const later = await subscriber(store);
    expect(later.acts).toEqual([]);
    expect(await later.receive(recordAt(9, end))).toEqual([restores]);
  });

  test('restores a VM after it died in the middle of draining it, and the event has ended meanwhile', async () => {
    const store = memoryStore();
    const first = await actOnce(store, { drain: () => new Promise(() => {}), restore: () => {}, onError: () => {} });
    first.onRecords([recordAt(0)]);
    first.onHistoryRead();
    await vi.waitFor(async () => expect(await store.load()).toContain('draining'));
    expect((await subscriber(store, {}, [recordAt(0), recordAt(9, end)])).acts).toEqual([restores]);
  });

  test('repeats an act that failed, and only that one', async () => {
    let failures = 2;
    const acts: string[] = [];
    const drain = ({ name }: { name: string }): void => {
      acts.push(name);
      if (name === 'web_0' && failures-- > 0) throw new Error('the load balancer is down');
    };
    const both = recordAt(0, { affectedResources: ['web_0', 'web_1'], affectedResourceCount: 2 });
    const { receive, errors } = await subscriber(memoryStore(), { drain });
    await receive(both);
    expect(acts).toEqual(['web_0', 'web_1']);
    await receive(recordAt(1, { isTest: true }));
    expect(acts).toEqual(['web_0', 'web_1', 'web_0']);
    await receive(recordAt(1, { isTest: true }), recordAt(2, { isTest: true }));
    expect(acts).toEqual(['web_0', 'web_1', 'web_0', 'web_0']);
    expect(errors).toHaveLength(2);
  });

  test('does not let a VM that hangs keep another waiting', async () => {
    const acts: string[] = [];
    const actions = await actOnce(memoryStore(), {
      drain: ({ name }) => {
        acts.push(name);
        return name === 'web_0' ? new Promise(() => {}) : undefined;
      },
      restore: () => {},
      onError: () => {},
    });
    actions.onHistoryRead();
    actions.onRecords([recordAt(0, { affectedResources: ['web_0', 'web_1'], affectedResourceCount: 2 })]);
    await vi.waitFor(() => expect(acts).toEqual(['web_0', 'web_1']));
  });

  test('acts all the same where its state cannot be saved, and reports it', async () => {
    const store: StateStore = { load: async () => null, save: () => Promise.reject(new Error('no space left')) };
    const { receive, errors } = await subscriber(store);
    expect(await receive(recordAt(0), recordAt(9, end))).toEqual([drains, restores]);
    expect(errors).toContainEqual(new Error('no space left'));
  });

  test('acts no more once another process has saved the state, and reports that once', async () => {
    let isTaken = false;
    const conflict = new StateConflictError('written by host-2');
    const store: StateStore = {
      load: async () => null,
      save: async () => {
        if (isTaken) throw conflict;
      },
    };
    const { actions, acts, errors, receive } = await subscriber(store);
    expect(await receive(recordAt(0))).toEqual([drains]);
    isTaken = true;
    expect(await receive(recordAt(1, another), recordAt(5, end), recordAt(9, { ...end, ...another }))).toEqual([]);
    actions.onHistoryRead();
    await actions.settled();
    expect(acts).toEqual([drains]);
    expect(errors).toEqual([conflict]);
  });

  test('reports which message is invalid, and continues with the others', async () => {
    const { actions, acts, errors } = await subscriber(memoryStore());
    const messages = [
      { body: '{', properties: { 'cloudEvents:type': 'com.scheduledeventsbridge.heartbeat.v1' } },
      { body: 1 },
      { body: recordAt(0) },
    ];
    actions.onMessages(messages.map(parseEventData));
    await actions.settled();
    expect(acts).toEqual([drains]);
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('the body is not JSON') })]);
  });

  test('refuses a state that is not its own', async () => {
    for (const state of ['', '{', '{"format":"other"}', 'null', '[]'])
      await expect(subscriber(memoryStore(state)), state).rejects.toThrow('The store holds no state of actOnce');
  });
});

/** What random histories did to VMs: each act takes effect when it is called, and the process dies now and then before or after. */
interface Effects {
  /** By VM, the events for which it was drained and not restored since. */
  readonly drained: Map<string, Set<string>>;
  readonly calls: Map<string, number>;
}

const dead = new Promise<void>(() => {});

test('over random histories with kills every VM ends as it should be, and no act is repeated but after a kill', {
  timeout: 600_000,
}, async () => {
  const count = {
    histories: 0,
    events: 0,
    acts: 0,
    kills: 0,
    repeated: 0,
    overClaims: 0,
    silences: 0,
    openUnwatched: 0,
  };
  const last = runs('histories with kills', { quick: 30, full: 200 });
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const wrong: string[] = [];
  for (let seed = 1; seed <= last; seed += 1) {
    const history = historyOf(5_000 + seed);
    const { random, arrivals, world } = history;
    // Ended events may be forgotten, and nothing is older than what a hub may hold.
    const latest = Math.max(...arrivals.map(({ observedAt }) => Date.parse(observedAt)));
    vi.setSystemTime(latest + 30 * 24 * 3_600_000);
    const store = memoryStore();
    const effects: Effects = { drained: new Map(), calls: new Map() };
    let kills = 0;
    let isDead = false;
    /** The process may die just before the effect, or between it and its note. */
    const act = (name: string, effect: () => void, call: string): Promise<void> | undefined => {
      if (isDead) return dead;
      const isKilled = random.chance(0.1);
      if (isKilled && random.chance(0.5)) {
        isDead = true;
        return dead;
      }
      effect();
      count.acts += 1;
      effects.calls.set(`${call} ${name}`, (effects.calls.get(`${call} ${name}`) ?? 0) + 1);
      if (isKilled) {
        isDead = true;
        return dead;
      }
      return undefined;
    };
    const born = async (): Promise<Actions> => {
      isDead = false;
      return await actOnce(store, {
        drain: ({ name }, { eventId }) =>
          act(
            name,
            () => effects.drained.set(name, (effects.drained.get(name) ?? new Set()).add(eventId)),
            `drain ${eventId}`,
          ),
        restore: ({ name }) => act(name, () => effects.drained.delete(name), 'restore'),
        onError: (error) => wrong.push(`seed ${seed}: ${error}`),
      });
    };
    let actions = await born();
    actions.onHistoryRead();
    let read = 0;
    const settled = async (): Promise<void> => {
      for (let turn = 0; turn < 60; turn += 1) await Promise.resolve();
    };
    while (read < arrivals.length) {
      const next = read + random.int(1, 4);
      actions.onRecords(arrivals.slice(read, next));
      await settled();
      read = next;
      for (let again = 0; isDead || again === 0; again += 1) {
        if (!isDead && !random.chance(0.05)) break;
        kills += 1;
        actions = await born();
        actions.onRecords(arrivals.slice(0, read));
        actions.onHistoryRead();
        await settled();
      }
    }
    const view = new FleetView();
    for (const record of arrivals) view.add(record);
    for (const { name } of world.vms) {
      const wanted = view
        .events()
        .filter(({ affected }) => affected.some((vm) => vm.name === name))
        .map(({ eventId }) => eventId);
      const isDrained = effects.drained.has(name);
      if (isDrained !== wanted.length > 0)
        wrong.push(
          `seed ${seed}: ${name} is ${isDrained ? '' : 'not '}drained, and ${wanted.join(' ') || 'nothing'} affects it`,
        );
    }
    const repeated = [...effects.calls].filter(([call, times]) => call.startsWith('drain') && times > 1);
    // Each return of an event is a reason of its own.
    const returns = arrivals.filter(({ evidence }) => evidence.includes('reappeared')).length;
    if (kills === 0 && returns === 0 && repeated.length > 0)
      wrong.push(`seed ${seed}: ${repeated.join(', ')} without a kill`);
    for (const one of world.events) {
      const { isListed, isWatched } = truthOf(history, one);
      const drainedFor = [...effects.drained.values()].some((events) => events.has(one.id.toLowerCase()));
      const state = view.event(one.id);
      count.events += 1;
      if (!isListed && drainedFor && state?.isOpen) count[isWatched ? 'overClaims' : 'openUnwatched'] += 1;
      if (isListed && state !== undefined && state.affected.length > 0 && !drainedFor) count.silences += 1;
    }
    count.histories += 1;
    count.kills += kills;
    count.repeated += repeated.length;
  }
  console.log(`  ${JSON.stringify(count)}`);
  expect(wrong).toEqual([]);
  expect(count.overClaims + count.silences).toBe(0);
  expect(count.kills).toBeGreaterThan(last / 10);
});
