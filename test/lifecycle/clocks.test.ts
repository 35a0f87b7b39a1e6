import { describe, expect, test } from 'vitest';
import { play, seconds } from '../support/cases.ts';
import { at, event, nothing, type ObservationSpec, observe, phaseLines, started } from '../support/observations.ts';

const scheduled = event();

describe('a clock that is set', () => {
  test('two hours forward at a reset, and right again, holds nothing open for two hours', () => {
    const observations: readonly ObservationSpec[] = [
      { events: [], incarnation: 16 },
      { events: [started(scheduled)], incarnation: 17 },
      { events: [], incarnation: 1, clockAheadSeconds: 7200 },
      ...seconds(300, { events: [], incarnation: 1 }),
    ];
    expect(observe(observations).records.at(-1)).toMatchObject({ phase: 'Completed', observedAt: at(303) });
    expect(phaseLines(observe(observations.slice(0, -1)).records)).toHaveLength(1);
  });

  test('an hour forward while an event is Started makes it last no hour', () => {
    const { records } = observe([
      nothing,
      { events: [scheduled] },
      { events: [started(scheduled)] },
      ...seconds(28, { events: [started(scheduled)] }),
      { events: [], clockAheadSeconds: 3600 },
    ]);
    expect(records.at(-1)).toMatchObject({ phase: 'Completed', startedSeconds: 29 });
  });

  test('an hour forward while an event is Started makes it last no hour where no answer ever had a Date', () => {
    const listed: ObservationSpec = { events: [started(scheduled)], dateless: true };
    const { records } = observe([
      { ...nothing, dateless: true },
      ...seconds(30, listed),
      { events: [], dateless: true, clockAheadSeconds: 3600 },
    ]);
    expect(records.at(-1)).toMatchObject({ phase: 'Completed', startedSeconds: 30 });
  });

  test('five minutes slow, and without Date while the observer is unknown: it started when it started', () => {
    const slow = { clockAheadSeconds: -300, unknownObserver: true };
    const { records } = observe([
      { ...nothing, ...slow },
      { events: [scheduled], ...slow, dateless: true },
      { events: [started(scheduled)], ...slow, dateless: true },
      ...seconds(20, { events: [started(scheduled)], clockAheadSeconds: -300 }),
      { events: [], clockAheadSeconds: -300 },
    ]);
    expect(records.at(-1)).toMatchObject({ phase: 'Completed', startedSeconds: 21 });
  });

  const setWhileOff: ObservationSpec = { events: [], incarnation: 9, after: 400, clockAheadSeconds: -3600 };
  test.each([
    { name: 'while the process was off', observation: setWhileOff },
    { name: 'while the machine was off', observation: { ...setWhileOff, bootId: 'boot-2' } },
    { name: 'before an answer that was long under way', observation: { ...setWhileOff, underWaySeconds: 5 } },
  ])('an hour back $name, and a document that was not seen, are no pause', ({ observation }) => {
    const { records } = observe([nothing, { events: [started(scheduled)] }, observation]);
    expect(records.at(-1)?.evidence).not.toContain('pause-observed');
    expect(records.at(-1)).toMatchObject({ phase: 'Completed', observedPauseMs: null });
  });

  test('between the first absence and its confirmation, has an end with the time and the offset of the absence', () => {
    const { records } = observe(
      [
        { ...nothing, clockAheadSeconds: -3600 },
        { events: [started(scheduled)], clockAheadSeconds: -3600 },
        { events: [], clockAheadSeconds: -3600 },
        { events: [], incarnation: 9 },
      ],
      { confirms: false },
    );
    expect(records.at(-1)).toMatchObject({ phase: 'Completed', observedAt: at(3 - 3600), clockOffsetSeconds: 3600 });
  });

  test('an hour back while the machine was off measures no outage when no answer has a date', () => {
    const reboot = started(event({ eventType: 'Reboot' }));
    const { records } = observe([
      nothing,
      { events: [reboot] },
      { events: [reboot], bootId: 'boot-2', after: 120, clockAheadSeconds: -3600, dateless: true },
      { events: [], clockAheadSeconds: -3600, dateless: true },
    ]);
    expect(records.at(-1)).toMatchObject({ phase: 'Completed', observedOutageSeconds: null });
  });

  play([
    {
      name: 'an hour slow, and an answer without Date: the offset known last counts',
      seen: [
        { ...nothing, clockAheadSeconds: -3600 },
        { events: [event({ notBefore: at(60) })], clockAheadSeconds: -3600 },
        { events: [], clockAheadSeconds: -3600, dateless: true, after: 60 },
      ],
      records: ['Scheduled: said-by-azure', 'Ended: observation-gap not-before-passed'],
    },
    {
      name: 'forward by a minute between two polls is no gap',
      seen: [nothing, { events: [scheduled] }, { events: [], clockAheadSeconds: 60 }],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before'],
    },
  ]);
});

test('a process restarted within a boot continues the count', () => {
  const absent: ObservationSpec = { events: [], incarnation: 1 };
  const before = observe([{ events: [], incarnation: 16 }, { events: [started(scheduled)], incarnation: 17 }, absent]);
  const state = structuredClone(before.state);
  const after = observe([{ ...absent, after: 303 }], { state, from: Date.parse(at(0)) });
  expect(after.records.at(-1)).toMatchObject({ phase: 'Completed' });
});

describe('an answer that was long under way', () => {
  test('is as old as its Date, half a second after it: the warning ends when the answer was made', () => {
    const late: ObservationSpec = { events: [started(scheduled)], after: 8, underWaySeconds: 7 };
    const { records } = observe([nothing, { events: [scheduled] }, late]);
    expect(records.at(-1)).toMatchObject({ phase: 'Started', observedAt: at(10), noticeSeconds: 1.5 });
  });

  test('leaves a gap to the one before that was made earlier still', () => {
    const { records } = observe([
      nothing,
      { ...nothing, after: 8, underWaySeconds: 7 },
      { events: [scheduled], after: 9 },
    ]);
    expect(phaseLines(records)).toEqual(['Scheduled: present-at-first-look']);
  });
});
