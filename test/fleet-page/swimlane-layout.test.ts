import { expect, test } from 'vitest';
import type { SwimlaneEvent, Swimlanes } from '../../src/fleet-page/answers.ts';
import { barsOf, laneAt, layOut, ticksOf } from '../../src/fleet-page/swimlane-layout.ts';

const from = Date.UTC(2026, 10, 20);
const minute = 60_000;
const at = (minutes: number): number => from + minutes * minute;

const lane = (overrides: Partial<SwimlaneEvent> = {}): SwimlaneEvent => ({
  eventId: 'one',
  eventType: 'Reboot',
  announcedAt: at(10),
  notBefore: at(25),
  startedAt: at(25),
  isStartSeen: true,
  overAt: at(35),
  outcome: 'Completed',
  down: [at(25), at(27)],
  pausedMs: null,
  isAmbiguous: false,
  silentSince: null,
  isOwn: true,
  ...overrides,
});
const rows = (count: number, one: SwimlaneEvent = lane()): Swimlanes => ({
  from,
  to: at(100),
  totalVms: count,
  rows: Array.from({ length: count }, (_, number) => ({
    name: `vm_${number}`,
    set: 'a/set',
    place: '1/0',
    lanes: [one],
  })),
});

test('an event is announced, in progress and down one after the other, and down lies over in progress', () => {
  expect(barsOf(lane(), at(60))).toEqual({
    bars: [
      { kind: 'announced', from: at(10), until: at(25) },
      { kind: 'progress', from: at(25), until: at(35) },
      { kind: 'down', from: at(25), until: at(27) },
    ],
    marks: [],
  });
});

test('what is announced and has not begun is drawn up to now, and then as still to come', () => {
  const open = lane({ startedAt: null, overAt: null, outcome: null, down: null });
  expect(barsOf(open, at(15)).bars).toEqual([
    { kind: 'announced', from: at(10), until: at(15) },
    { kind: 'planned', from: at(15), until: at(25) },
  ]);
});

test('nothing is drawn as in progress for an event that was canceled or only presumed to have ended', () => {
  const canceled = lane({ startedAt: null, down: null, overAt: at(20), outcome: 'Canceled' });
  expect(barsOf(canceled, at(60))).toEqual({
    bars: [{ kind: 'announced', from: at(10), until: at(20) }],
    marks: [{ kind: 'canceled', at: at(20) }],
  });
  expect(barsOf({ ...canceled, outcome: null }, at(60)).marks).toEqual([{ kind: 'presumed', at: at(20) }]);
});

test('a pause is one mark within the work, because its moment is not known', () => {
  const frozen = lane({ down: null, pausedMs: 6000, startedAt: at(20), overAt: at(30) });
  expect(barsOf(frozen, at(60)).marks).toEqual([{ kind: 'paused', at: at(25) }]);
});

test('bars are where the time is, and never narrower than can be seen', () => {
  const { paths, left } = layOut(rows(1), { width: 1120, now: at(60) });
  // 1,000 pixels for 100 minutes.
  expect(left).toBe(120);
  expect(paths.announced).toMatch(/^M220 [\d.]+h150v/);
  expect(paths.progress).toMatch(/^M370 [\d.]+h100v/);
  expect(paths.down).toMatch(/^M370 [\d.]+h20v/);
  const short = layOut(rows(1, lane({ down: [at(25), at(25) + 100] })), { width: 1120, now: at(60) });
  expect(short.paths.down).toMatch(/h1\.5v/);
});

test('a thousand lanes are seven paths and at most a hundred names', () => {
  const { paths, labels, rowHeight, tops, height } = layOut(rows(1000), { width: 1440, now: at(60) });
  expect(Object.keys(paths)).toHaveLength(7);
  expect(tops).toHaveLength(1000);
  expect(rowHeight).toBeGreaterThanOrEqual(1.5);
  expect(labels.length).toBeGreaterThan(50);
  expect(labels.length).toBeLessThan(150);
  expect(height).toBeLessThan(1700);
});

test('a lane is found at the place where it is drawn, and none between the rows', () => {
  const data = rows(3);
  const layout = layOut(data, { width: 1120, now: at(60) });
  for (const [index, top] of layout.tops.entries()) {
    const found = laneAt(layout, data, { x: 400, y: top + layout.rowHeight / 2, now: at(60) });
    expect(found).toMatchObject({ index, row: { name: `vm_${index}` }, lane: { eventId: 'one' } });
  }
  expect(laneAt(layout, data, { x: 400, y: 3, now: at(60) })).toBeNull();
});

test('of two events of a VM the one nearest to the place is found', () => {
  const later = lane({
    eventId: 'two',
    announcedAt: at(70),
    notBefore: at(80),
    startedAt: null,
    overAt: at(80),
    down: null,
  });
  const data = { ...rows(1), rows: [{ name: 'vm', set: null, place: '', lanes: [lane(), later] }] };
  const layout = layOut(data, { width: 1120, now: at(90) });
  const idAt = (minutes: number) =>
    laneAt(layout, data, { x: 120 + 10 * minutes, y: (layout.tops[0] ?? 0) + 2, now: at(90) })?.lane.eventId;
  expect([idAt(0), idAt(30), idAt(75), idAt(99)]).toEqual(['one', 'one', 'two', 'two']);
});

test('ticks are round times of UTC, the first of a day its date', () => {
  const hours = (count: number) =>
    ticksOf(from - 3 * 60 * minute, from + (count - 3) * 60 * minute, 12).map(({ text }) => text);
  expect(hours(6)).toEqual([
    '21:00',
    '21:30',
    '22:00',
    '22:30',
    '23:00',
    '23:30',
    '11-20',
    '00:30',
    '01:00',
    '01:30',
    '02:00',
    '02:30',
    '03:00',
  ]);
  expect(hours(14 * 24).length).toBeLessThanOrEqual(13);
});
