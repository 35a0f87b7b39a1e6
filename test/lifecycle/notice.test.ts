import { expect, test } from 'vitest';
import type { LifecycleState } from '../../src/lifecycle/state.ts';
import { isUrgent } from '../../src/lifecycle/urgency.ts';
import { at, event, nothing, type ObservationSpec, observe, started } from '../support/observations.ts';

const scheduled = event();
const reboot = event({ eventType: 'Reboot' });
const approved = (state: LifecycleState): LifecycleState => ({
  ...state,
  approved: new Set([scheduled.eventId.toLowerCase()]),
});
const ahead = 3600;

interface Case {
  readonly name: string;
  readonly seen: readonly ObservationSpec[];
  /** Of the last record: the time between the first sighting and the true beginning of the impact. */
  readonly notice: number | null;
  readonly startSeen: boolean | null;
  readonly word?: string;
}

const cases: readonly Case[] = [
  {
    name: 'started unseen, paused, back to Scheduled and started again: the second start is no beginning',
    seen: [
      nothing,
      { events: [scheduled] },
      { events: [started(scheduled)], after: 30 },
      { events: [started(scheduled)], after: 5, pauseMs: 2000 },
      { events: [scheduled] },
      { events: [started(scheduled)] },
    ],
    notice: null,
    startSeen: false,
  },
  {
    name: 'approved after five seconds, back after a minute: until the last observation before the outage',
    seen: [
      nothing,
      { events: [reboot] },
      { events: [reboot], after: 5 },
      { events: [], after: 60, bootId: 'boot-2', meanwhile: approved },
    ],
    notice: 5,
    startSeen: null,
  },
  {
    name: 'incarnation 2 to 4 with a measured pause: until the pause',
    seen: [
      { events: [], incarnation: 1 },
      { events: [scheduled], incarnation: 2 },
      ...Array.from({ length: 59 }, (): ObservationSpec => ({ events: [scheduled], incarnation: 2 })),
      { events: [], incarnation: 4, after: 8, pauseMs: 7000 },
    ],
    notice: 60,
    startSeen: null,
  },
  {
    name: 'observed as Started after the reboot: until the last observation before it',
    seen: [
      nothing,
      { events: [reboot] },
      ...Array.from({ length: 7 }, (): ObservationSpec => ({ events: [reboot], after: 10 })),
      { events: [started(reboot)], after: 240, bootId: 'boot-2' },
    ],
    notice: 70,
    startSeen: false,
  },
  {
    name: 'observed as Started after a gap: unknown',
    seen: [nothing, { events: [scheduled] }, { events: [started(scheduled)], after: 300 }],
    notice: null,
    startSeen: false,
    word: 'observation-gap',
  },
  {
    name: 'a clock that is an hour fast: by the time of Azure',
    seen: [
      { ...nothing, clockAheadSeconds: ahead },
      { events: [scheduled], clockAheadSeconds: ahead },
    ],
    notice: 898,
    startSeen: null,
  },
  {
    name: 'Started after its notBefore: until the start',
    seen: [
      nothing,
      { events: [event({ notBefore: at(10) })] },
      { events: [event({ notBefore: at(10) })], after: 9 },
      { events: [started(event({ notBefore: at(10) }))], after: 9 },
    ],
    notice: 18,
    startSeen: true,
  },
  {
    name: 'left during a gap: unknown',
    seen: [nothing, { events: [scheduled] }, { events: [], after: 300 }],
    notice: null,
    startSeen: null,
    word: 'observation-gap',
  },
];

test.each(cases)('the notice of an event $name', ({ seen, notice, startSeen, word }) => {
  const record = observe(seen).records.at(-1);
  expect(record).toMatchObject({ noticeSeconds: notice, startSeen });
  if (word) expect(record?.evidence).toContain(word);
});

test("a record is urgent by Azure's time, regardless of the local clock", () => {
  const observations = (clockAheadSeconds: number, notBefore: string): ObservationSpec[] =>
    [nothing, { events: [event({ notBefore })] }].map((observation) => ({ ...observation, clockAheadSeconds }));
  const [fast] = observe(observations(ahead, at(900))).records;
  const [slow] = observe(observations(-ahead, at(60))).records;
  expect([fast, slow].map((record) => record && isUrgent(record))).toEqual([false, true]);
});
