import { describe, expect, test } from 'vitest';
import { countedSteps } from '../../src/lifecycle/describe.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { play } from '../support/cases.ts';
import { at, event, nothing, type ObservationSpec, observe, observerNamed, started } from '../support/observations.ts';

const scheduled = event();

describe('an unknown status', () => {
  play([
    {
      name: 'ends as Ended, however early it leaves',
      seen: [nothing, { events: [scheduled] }, { events: [event({ eventStatus: 'InProgress' })] }, nothing],
      records: ['Scheduled: said-by-azure', 'Updated: status-unknown', 'Ended: status-unknown'],
    },
    {
      name: 'ends as Ended also after Started',
      seen: [
        nothing,
        { events: [started(scheduled)] },
        { events: [started(scheduled, { eventStatus: 'Failed' })] },
        nothing,
      ],
      records: [
        'Started: started-without-notice',
        'Updated: status-unknown',
        'Ended: left-after-started not-before-unknown status-unknown',
      ],
    },
  ]);
});

describe('letter case of a status is nothing', () => {
  play([
    {
      name: 'started',
      seen: [nothing, { events: [scheduled] }, { events: [started(scheduled, { eventStatus: 'started' })] }, nothing],
      records: ['Scheduled: said-by-azure', 'Started: said-by-azure', 'Completed: left-after-started'],
    },
    {
      name: 'SCHEDULED and canceled',
      seen: [
        nothing,
        { events: [event({ eventStatus: 'SCHEDULED' })] },
        { events: [event({ eventStatus: 'canceled' })] },
      ],
      records: ['Scheduled: said-by-azure', 'Canceled: said-by-azure'],
    },
  ]);
});

describe('Started, Scheduled, Started', () => {
  const later = event({ notBefore: at(2000) });
  const observations: readonly ObservationSpec[] = [
    nothing,
    { events: [scheduled] },
    { events: [started(scheduled)] },
    { events: [scheduled], after: 5 },
    { events: [later], after: 5 },
    { events: [started(later)], after: 5 },
    { events: [], after: 5 },
  ];
  const { records } = observe(observations);

  test('each is a step, and so is a move of notBefore between them', () => {
    expect(records.map(({ phase, evidence, repeat }) => [phase, evidence.join(' '), repeat])).toEqual([
      ['Scheduled', 'said-by-azure', 0],
      ['Started', 'said-by-azure', 0],
      ['Updated', 'status-went-back', 0],
      ['Updated', 'notBefore-later', 0],
      ['Started', 'said-by-azure', 1],
      ['Completed', 'left-after-started', 0],
    ]);
  });

  test('only the time as Started counts', () => expect(records.at(-1)?.startedSeconds).toBe(10));

  test('that leaves while Scheduled again is Ended', () => {
    const gone = observe([...observations.slice(0, 5), nothing]).records.at(-1);
    expect(gone).toMatchObject({ phase: 'Ended', evidence: ['status-went-back'], startedSeconds: 5 });
  });
});

describe('ids agree', () => {
  const idsOf = (records: readonly LifecycleRecord[], phase: string) =>
    records.filter((record) => record.phase === phase).map(({ transitionId }) => transitionId);
  const seenBy = (vm: string, observations: readonly ObservationSpec[]) =>
    observe(observations, { observer: observerNamed(vm) }).records;
  const both = (given = {}) => event({ resources: ['web_0', 'web_1'], ...given });

  test('has no duration in older API versions', () => {
    const observations = (durationSeconds: number | null): ObservationSpec[] => [
      nothing,
      { events: [both({ durationSeconds })] },
      { events: [both({ durationSeconds, notBefore: at(1800) })] },
    ];
    expect(idsOf(seenBy('web_0', observations(5)), 'Updated')).toEqual(
      idsOf(seenBy('web_1', observations(null)), 'Updated'),
    );
  });

  test('two durations one after the other are two steps', () => {
    const observations = [5, 9, 2].map((durationSeconds) => ({ events: [both({ durationSeconds })] }));
    expect(new Set(idsOf(seenBy('web_0', [nothing, ...observations]), 'Updated')).size).toBe(2);
  });

  test('of a status that was set back, for a VM that joined after an update to the same content', () => {
    const moved = both({ notBefore: at(1800) });
    const late: readonly ObservationSpec[] = [
      nothing,
      { events: [moved] },
      { events: [started(moved)] },
      { events: [moved] },
    ];
    const early = [nothing, { events: [both()] }, ...late.slice(1)];
    expect(idsOf(seenBy('web_0', early), 'Updated').at(-1)).toBe(idsOf(seenBy('web_1', late), 'Updated').at(-1));
  });
});

describe('a notBefore that slides for hours', () => {
  const slides = Array.from({ length: 2 * countedSteps }, (_, n) => ({ events: [event({ notBefore: at(9000 + n) })] }));

  test('does not make the memory of the event grow', () => {
    const { state } = observe([nothing, ...slides]);
    expect(Object.keys([...state.events.values()][0]?.recorded ?? {}).length).toBeLessThanOrEqual(countedSteps);
  });

  test('gives no id twice, also when it returns to an earlier status', () => {
    const { records } = observe([nothing, ...slides, ...slides, nothing]);
    const ids = records.map(({ recordId }) => recordId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(records.at(-1)).toMatchObject({ phase: 'Canceled', repeat: 0 });
  });
});
