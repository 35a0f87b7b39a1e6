import { describe, expect, test } from 'vitest';
import { isWorthStoring } from '../../src/outbox/store/state-store.ts';
import { seconds } from '../support/cases.ts';
import { at, event, nothing, type ObservationSpec, observe, phaseLines, started } from '../support/observations.ts';

const scheduled = event();
const redeploy = event({ eventType: 'Redeploy', resources: ['web_0', 'web_1'] });
/** Only what is listed here confirms an absence. */
const waiting = (observations: readonly ObservationSpec[], enablingMs = 0) =>
  observe(observations, { confirms: false, enablingMs });
const words = (observations: readonly ObservationSpec[], enablingMs = 0) =>
  phaseLines(waiting(observations, enablingMs).records);
const announced = 'Scheduled: said-by-azure';
const canceled = 'Canceled: left-before-not-before';

describe('an end needs more than one observation', () => {
  test('a document without the event, by mistake, does not end it', () => {
    expect(words([nothing, { events: [scheduled] }, nothing, { events: [scheduled] }])).toEqual([announced]);
    expect(words([nothing, { events: [started(scheduled)] }, nothing, { events: [started(scheduled)] }])).toHaveLength(
      1,
    );
  });

  test('a second document without it ends it, with the time of the first', () => {
    const other = { events: [event({ eventId: 'other', resources: ['web_7'] })] };
    const { records } = waiting([nothing, { events: [scheduled] }, nothing, other]);
    expect(phaseLines(records)).toEqual([announced, canceled]);
    expect(records.at(-1)).toMatchObject({ observedAt: at(3), documentIncarnation: 3 });
  });

  test('the third poll of one document ends it, answered with the document or with 304', () => {
    const from = [nothing, { events: [scheduled] }, nothing];
    expect(words([...from, nothing])).toEqual([announced]);
    expect(words([...from, nothing, nothing])).toEqual([announced, canceled]);
    expect(words([...from, ...seconds(2, { events: [], kind: 'unchanged' })])).toEqual([announced, canceled]);
  });

  test('a poll that fails confirms nothing', () => {
    const silent: ObservationSpec = { events: [], kind: 'unavailable' };
    expect(words([nothing, { events: [scheduled] }, nothing, ...seconds(60, silent)])).toEqual([announced]);
  });

  test('a restart in between keeps what was seen first', () => {
    const restarted: ObservationSpec = { ...nothing, after: 30, meanwhile: (state) => structuredClone(state) };
    const { records } = waiting([nothing, { events: [scheduled] }, nothing, restarted]);
    expect(phaseLines(records)).toEqual([announced, canceled]);
    expect(records.at(-1)?.observedAt).toBe(at(3));
  });
});

describe('other VMs recover only when their own impact has ended', () => {
  const back: ObservationSpec = { events: [], incarnation: 1, after: 100, bootId: 'boot-2' };
  const from: readonly ObservationSpec[] = [
    { events: [], incarnation: 16 },
    { events: [redeploy], incarnation: 17 },
    { events: [started(redeploy)], incarnation: 18 },
  ];

  test('a boot does not end an event of another VM before the window of the reset has passed', () => {
    expect(words([...from, back, ...seconds(29, { ...back, after: 10 })])).toHaveLength(2);
    expect(words([...from, back, ...seconds(30, { ...back, after: 10 })]).at(-1)).toBe(
      'Completed: boot-id-changed incarnation-reset left-after-started incarnation-gap observation-gap',
    );
  });

  test('a boot does not end an event that is listed again in the window of the reset', () => {
    const again: ObservationSpec = { events: [started(redeploy)], incarnation: 2, after: 60 };
    expect(words([...from, back, again])).toHaveLength(2);
  });
});

describe('while the list of the service may be incomplete', () => {
  const enablingMs = 130_000;

  test.each<[string, readonly ObservationSpec[], string]>([
    ['an event that had started', [nothing, ...seconds(60, nothing), { events: [started(scheduled)] }], 'Started'],
    ['an event that is announced', [nothing, ...seconds(60, nothing), { events: [scheduled] }], 'Scheduled'],
    [
      'an event after the service was off for a day',
      [
        nothing,
        { ...nothing, after: 25 * 3600 },
        ...seconds(60, nothing),
        { events: [event({ notBefore: at(90_200) })] },
      ],
      'Scheduled',
    ],
    [
      'an event after a boot on a host that is known to be another',
      [
        { ...nothing, physicalHost: 'node-1' },
        ...seconds(200, nothing),
        { events: [], incarnation: 2, bootId: 'boot-2', physicalHost: 'node-2', after: 200 },
        ...seconds(30, { events: [], incarnation: 2 }),
        { events: [scheduled] },
      ],
      'Scheduled',
    ],
  ])('the beginning of %s is unknown', (_, observations, phase) => {
    const { records } = waiting(observations, enablingMs);
    expect(phaseLines(records)).toEqual([`${phase}: present-at-first-look`]);
    expect(records[0]?.noticeSeconds).toBeNull();
  });

  test('the beginning of an event that appears after a reset is unknown', () => {
    const observations: readonly ObservationSpec[] = [
      { events: [], incarnation: 16 },
      { events: [], incarnation: 1 },
      { events: [scheduled], incarnation: 2, after: 9 },
    ];
    expect(words(observations)).toEqual(['Scheduled: present-at-first-look']);
  });

  test('after it the beginning is known', () => {
    expect(words([nothing, ...seconds(130, nothing), { events: [scheduled] }], enablingMs)).toEqual([announced]);
  });
});

describe('an entry that cannot be read', () => {
  const beside = (events: ObservationSpec['events']): ObservationSpec => ({ events, unreadable: 1 });

  test('that existed before an event left does not hide it', () => {
    const observations = [beside([]), beside([scheduled]), ...seconds(3, beside([]))];
    expect(words(observations)).toEqual([announced, canceled]);
  });

  test('keeps no event open without end, however many come and go', () => {
    const many = Array.from({ length: 300 }, (_, n) => event({ eventId: `event-${n}` }));
    const observations = [beside([]), ...many.flatMap((one) => [beside([one]), ...seconds(3, beside([]))])];
    const { records, state } = waiting(observations);
    expect(records).toHaveLength(600);
    expect([...state.events.values()].filter(({ open }) => open)).toEqual([]);
  });

  test('that appeared when an event left hides it for five minutes, and is named in the end', () => {
    const observations = [nothing, { events: [scheduled] }, ...seconds(300, beside([]))];
    expect(words(observations)).toEqual([announced]);
    expect(words([...observations, ...seconds(3, beside([]))])).toEqual([
      announced,
      'Ended: observation-gap unreadable-entry',
    ]);
  });

  test('that stays causes no writes', () => {
    const before = waiting([nothing, { events: [scheduled] }, beside([]), beside([])]).state;
    const after = observe([{ ...beside([]), incarnation: before.incarnation ?? 0 }], {
      state: before,
      from: Date.parse(at(4)),
      confirms: false,
    }).state;
    expect(isWorthStoring(before, after)).toBe(false);
  });

  test('beside which an event appears may not have been it', () => {
    expect(words([nothing, beside([]), beside([scheduled])])).toEqual([announced]);
  });
});
