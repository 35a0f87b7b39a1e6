import { describe, expect, test } from 'vitest';
import { foldEvents, foldObservers } from '../../src/lifecycle/fold.ts';
import { emptyState } from '../../src/lifecycle/state.ts';
import { seconds } from '../support/cases.ts';
import { at, event, noon, nothing, type ObservationSpec, observe, observerNamed } from '../support/observations.ts';

const lost = event({ eventId: 'Lost-1', notBefore: at(90_000), resources: ['web_0', 'web_1'] });
const still = event({ eventId: 'Still-1', notBefore: at(90_000) });
const before = observe([nothing, { events: [lost, still] }]).records;
/** The state is gone; what is listed now is all that is left. */
const newStream = (observations: readonly ObservationSpec[]) =>
  observe(observations, { state: emptyState('second-stream'), from: noon + 600_000 }).records;
const fiveMinutes = (observation: ObservationSpec): ObservationSpec[] => seconds(31, { ...observation, after: 10 });

describe('the first record of a new stream that is about no event', () => {
  const records = newStream(fiveMinutes({ events: [still] }));
  const snapshots = records.filter(({ phase }) => phase === 'Snapshot');

  test('lists the open events once the list of the service is complete', () => {
    expect(snapshots).toMatchObject([
      {
        eventId: 'in-sight-second-stream',
        eventsInSight: ['Still-1'],
        evidence: ['new-stream'],
        observedAt: at(910),
        sequence: 1,
        position: 2,
        affectedResources: [],
        observerAffected: false,
        noticeSeconds: null,
        firstSeenAt: null,
      },
    ]);
  });

  test('is sent once, and not in a continued stream', () => {
    expect(
      newStream(fiveMinutes({ events: [still] }).flatMap((observation) => [observation, observation])),
    ).toHaveLength(2);
    expect(observe(fiveMinutes(nothing)).records).toEqual([]);
  });

  test('waits while an entry cannot be read', () => {
    const hidden = fiveMinutes({ events: [still], unreadable: 1 });
    expect(newStream(hidden).filter(({ phase }) => phase === 'Snapshot')).toEqual([]);
  });

  test('every other record lists none', () => {
    expect(records.filter(({ eventsInSight }) => eventsInSight !== null)).toEqual(snapshots);
  });
});

describe('a lost state', () => {
  const after = newStream(fiveMinutes({ events: [still] }));
  const endsOf = (records: Parameters<typeof foldEvents>[0]) =>
    Object.fromEntries(foldEvents(records).map(({ eventId, presumedEnd }) => [eventId, presumedEnd?.phase ?? null]));

  test('leaves nothing open that the new stream does not list', () => {
    expect(endsOf([...before, ...after])).toEqual({ 'lost-1': 'Snapshot', 'still-1': null });
    expect(
      foldObservers([...before, ...after]).map(({ eventId, presumedEnd }) => [eventId, presumedEnd !== null]),
    ).toEqual(
      expect.arrayContaining([
        ['lost-1', true],
        ['still-1', false],
      ]),
    );
  });

  test('presumes no end of an event that another VM reports later', () => {
    const other = observe([{ events: [lost] }], { observer: observerNamed('web_1'), from: noon + 3_600_000 }).records;
    expect(endsOf([...before, ...after, ...other])).toMatchObject({ 'lost-1': null });
  });

  test('of another VM presumes no end', () => {
    const foreign = observe(fiveMinutes(nothing), {
      observer: observerNamed('web_7'),
      state: emptyState('seventh'),
      from: noon + 600_000,
    }).records;
    expect(foreign).toHaveLength(1);
    expect(endsOf([...before, ...foreign])).toMatchObject({ 'lost-1': null });
  });
});

describe('times of several VMs', () => {
  const observations: readonly ObservationSpec[] = [
    nothing,
    { events: [lost] },
    nothing,
    { events: [lost], after: 60 },
  ];

  test('are compared by the clock of Azure: a VM that is fast withdraws no later end', () => {
    const fast = observe(observations.map((observation) => ({ ...observation, clockAheadSeconds: 300 }))).records;
    const right = observe([nothing, { events: [lost] }, { events: [lost], after: 100 }, nothing], {
      observer: observerNamed('web_1'),
    }).records;
    expect(foldEvents([...fast, ...right])[0]?.end).toMatchObject({ vmName: 'web_1', phase: 'Canceled' });
  });
});
