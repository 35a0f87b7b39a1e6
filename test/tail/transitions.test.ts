import { describe, expect, test } from 'vitest';
import { FleetView, isEnd, type LifecycleRecord } from '../../src/consumer/index.ts';
import { type Transition, Transitions, type TransitionsOptions } from '../../src/tail/transitions.ts';
import { historyOf, truthOf } from '../consumer/worlds.ts';
import { at, event, nothing, type ObservationSpec, observe, observerNamed, started } from '../support/observations.ts';
import { runs } from '../support/runs.ts';

/** What a reader finds when these records arrive one by one. */
function arriving(records: readonly LifecycleRecord[], options: TransitionsOptions = {}, now = new Date(at(0))) {
  const view = new FleetView();
  const transitions = new Transitions(view, options);
  const found: Transition[] = [];
  for (const record of records) {
    const changed = view.add(record);
    transitions.note(record);
    found.push(...transitions.news([...new Set([record.eventId.toLowerCase(), ...changed])], now));
  }
  return { found, view, transitions };
}

const reported = (vm: string, observations: readonly ObservationSpec[], witnessRate = 0) =>
  observe(observations, { observer: observerNamed(vm), witnessRate }).records;
const phasesOf = (found: readonly Transition[]): string[] => found.map(({ phase }) => phase);

const both = event({ resources: ['web_0', 'web_1'] });
const lifecycle: readonly ObservationSpec[] = [nothing, { events: [both] }, { events: [started(both)] }, nothing];

describe('a transition', () => {
  test('is found once, however many VMs report it and however often', () => {
    const records = ['web_0', 'web_1'].flatMap((vm) => reported(vm, lifecycle));
    const witnessed = reported('web_7', lifecycle, 1);
    expect([records.length, witnessed.length]).toEqual([6, 3]);
    const { found } = arriving([...records, ...witnessed, ...records]);
    expect(phasesOf(found)).toEqual(['Scheduled', 'Started', 'Completed']);
    expect(found.map(({ at }) => at.toISOString())).toEqual([at(2), at(3), at(4)]);
  });

  test('is found again where the event returns and ends once more', () => {
    const again = [...lifecycle, { events: [both], after: 60 }, { ...nothing, after: 60 }];
    const { found } = arriving(reported('web_0', again));
    expect(phasesOf(found)).toEqual(['Scheduled', 'Started', 'Completed', 'Scheduled', 'Ended']);
    expect(found.map(({ corrects }) => corrects)).toEqual([null, null, null, null, null]);
  });

  test('to an end is found again where another VM knows better how it ended', () => {
    const [, , end] = reported('web_0', lifecycle);
    const [, , better] = reported('web_1', lifecycle);
    if (!end || !better) throw new Error('no records');
    const worse = { ...end, phase: 'Ended', evidence: ['observation-gap'] } as const;
    const { found } = arriving([worse, better]);
    expect(found.map(({ phase, corrects }) => [phase, corrects])).toEqual([
      ['Ended', null],
      ['Completed', 'Ended'],
    ]);
  });

  test('of witnesses alone is not found where only own reports count, until an affected VM reports it', () => {
    const witnessed = reported('web_7', lifecycle, 1);
    expect(witnessed.map(({ observerAffected }) => observerAffected)).toEqual([false, false, false]);
    expect(arriving(witnessed, { onlyOwn: true }).found).toEqual([]);
    const own = reported('web_0', lifecycle.slice(0, 3));
    expect(phasesOf(arriving([...witnessed, ...own], { onlyOwn: true }).found)).toEqual(['Scheduled', 'Started']);
  });
});

describe('an end that no VM can report', () => {
  const preempt = event({ eventType: 'Preempt', notBefore: at(30) });
  const evicted = [nothing, { events: [preempt] }, { events: [started(preempt)] }];

  test('is presumed ten minutes after the eviction was due, once', () => {
    const { transitions } = arriving(reported('web_0', evicted));
    expect(transitions.allNews(new Date(at(629)))).toEqual([]);
    const [end] = transitions.allNews(new Date(at(630)));
    expect(end).toMatchObject({ phase: 'Ended', isPresumed: true, at: new Date(at(630)), corrects: null });
    expect(transitions.allNews(new Date(at(700)))).toEqual([]);
  });

  test('is corrected by a report that comes after all', () => {
    const { view, transitions } = arriving(reported('web_0', evicted), {}, new Date(at(630)));
    const end = reported('web_0', [...evicted, nothing]).at(-1);
    if (end === undefined) throw new Error('no end');
    view.add(end);
    const corrected = { phase: end.phase, isPresumed: false, corrects: 'Ended' };
    expect(transitions.allNews(new Date(at(640)))).toMatchObject([corrected]);
  });
});

test('an end that was presumed is found when a VM reports it, though the phase is the same', () => {
  const preempt = event({ eventType: 'Preempt', notBefore: at(0) });
  const [scheduled] = reported('web_0', [nothing, { events: [preempt] }]);
  if (scheduled === undefined) throw new Error('no record');
  // Presumed ended at 12:10:00; at 12:20 the VM, which was not deleted, reports that it has ended.
  const { view, transitions } = arriving([scheduled], {}, new Date(at(599)));
  expect(transitions.allNews(new Date(at(600)))).toMatchObject([{ phase: 'Ended', isPresumed: true, corrects: null }]);
  view.add({ ...scheduled, recordId: 'end', transitionId: 'end', sequence: 2, phase: 'Ended', observedAt: at(1200) });
  const reportedEnd = { phase: 'Ended', isPresumed: false, corrects: 'Ended', isLongerOutage: false };
  expect(transitions.allNews(new Date(at(1200)))).toMatchObject([{ ...reportedEnd, at: new Date(at(1200)) }]);
  expect(transitions.allNews(new Date(at(1201)))).toEqual([]);
});

test('a longer outage that another VM reports of an event that has ended is found', () => {
  const ends = ['web_0', 'web_1', 'web_2', 'web_3'].map((vm, index) => {
    const named = event({ resources: ['web_0', 'web_1', 'web_2', 'web_3'] });
    const [, , end] = reported(vm, [nothing, { events: [named] }, { events: [started(named)] }, nothing]);
    if (end === undefined) throw new Error('no end');
    // 12:00, 12:05, 12:10, 12:15.
    return { ...end, observedAt: at(300 * index), observedOutageSeconds: [12, 5, 1400, 1300][index] ?? null };
  });
  const { found } = arriving(ends);
  const facts = found.map(({ phase, at: time, record, corrects, isLongerOutage }) => [
    ...[phase, time.toISOString(), record.vmName, record.observedOutageSeconds, corrects, isLongerOutage],
  ]);
  expect(facts).toEqual([
    ['Completed', at(0), 'web_0', 12, null, false],
    ['Completed', at(600), 'web_2', 1400, 'Completed', true],
  ]);
});

test('in a random fleet every step is found once, and an event that left has an end', () => {
  let left = 0;
  const count = runs('transitions of a fleet', { quick: 6, full: 200 });
  for (let seed = 1; seed <= count; seed += 1) {
    const history = historyOf(seed);
    const { found } = arriving(history.arrivals, {}, new Date(at(-400 * 24 * 3600)));
    const steps = found.filter(({ record, isPresumed }) => !isEnd(record) && !isPresumed);
    const sent = history.arrivals.filter((record) => !isEnd(record) && record.phase !== 'Snapshot');
    const idOf = ({ eventId, transitionId }: LifecycleRecord): string => `${eventId.toLowerCase()} ${transitionId}`;
    expect(steps.map(({ record }) => idOf(record)).toSorted()).toEqual([...new Set(sent.map(idOf))].toSorted());
    for (const one of history.world.events) {
      const { isListed, isWatched } = truthOf(history, one);
      if (isListed || !isWatched) continue;
      const last = found.findLast(
        ({ event: { eventId }, phase }) => eventId === one.id.toLowerCase() && isEnd({ phase }),
      );
      expect(last, `seed ${seed}, ${one.id}`).toBeDefined();
      left += 1;
    }
  }
  expect(left).toBeGreaterThan(count);
});
