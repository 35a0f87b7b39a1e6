import type { SwimlaneEvent, SwimlaneRow, Swimlanes } from './answers.ts';
import { dayOf, timeOf } from './time.ts';

/** Where the parts of the swimlanes are, in pixels. */
export interface SwimlaneLayout {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly rowHeight: number;
  /** The top of each row. */
  readonly tops: readonly number[];
  /** Names of scale sets, above their rows. */
  readonly sets: readonly { readonly y: number; readonly text: string }[];
  /** Names of VMs: of each row, or of as many as there is room for. */
  readonly labels: readonly { readonly y: number; readonly text: string }[];
  readonly ticks: readonly Tick[];
  readonly nowX: number | null;
  /** One path for all bars of a kind: the number of elements does not grow with the fleet. */
  readonly paths: Readonly<Record<BarKind | MarkKind, string>>;
}

export interface Tick {
  readonly x: number;
  readonly text: string;
  readonly isDay: boolean;
}

export type BarKind = 'announced' | 'planned' | 'progress' | 'down';
export type MarkKind = 'paused' | 'canceled' | 'presumed';

export interface Bar {
  readonly kind: BarKind;
  readonly from: number;
  readonly until: number;
}

export interface Mark {
  readonly kind: MarkKind;
  readonly at: number;
}

/** Of the height of a row. The kinds differ in height as well, for readers who cannot distinguish the colours. */
const thickness: Readonly<Record<BarKind, number>> = { announced: 0.36, planned: 0.36, progress: 0.62, down: 0.94 };

/** What is drawn of one event on one VM. */
export function barsOf(
  lane: SwimlaneEvent,
  now: number,
): { readonly bars: readonly Bar[]; readonly marks: readonly Mark[] } {
  const { announcedAt, notBefore, startedAt, overAt, silentSince, outcome, down, pausedMs } = lane;
  const bars: Bar[] = [];
  const marks: Mark[] = [];
  const add = (kind: BarKind, from: number, until: number): void => {
    if (until > from) bars.push({ kind, from, until });
  };
  const workFrom = startedAt === null ? (down?.[0] ?? null) : Math.min(startedAt, down?.[0] ?? startedAt);
  const end = overAt ?? silentSince ?? now;
  const noticeEnd = workFrom ?? end;
  if (announcedAt !== null) add('announced', announcedAt, noticeEnd);
  if (workFrom === null && overAt === null && notBefore !== null)
    add('planned', Math.max(now, announcedAt ?? now), notBefore);
  if (workFrom !== null) add('progress', workFrom, Math.max(end, down?.[1] ?? end));
  if (down !== null) add('down', ...down);
  if (pausedMs !== null) marks.push({ kind: 'paused', at: ((workFrom ?? notBefore ?? end) + end) / 2 });
  if (outcome === 'Canceled' && overAt !== null) marks.push({ kind: 'canceled', at: overAt });
  if (outcome === null && overAt !== null) marks.push({ kind: 'presumed', at: overAt });
  return { bars, marks };
}

const headHeight = 22;
const axisHeight = 24;
const setHeight = 26;
const labelEvery = 11;

/** Few rows are tall enough for a name each; a thousand still show the shape of a wave. */
const rowHeightOf = (rows: number): number =>
  Math.min(18, Math.max(1.5, Math.floor((2 * 690) / Math.max(1, rows)) / 2));

export function layOut(
  { from, to, rows }: Swimlanes,
  { width, now }: { readonly width: number; readonly now: number },
): SwimlaneLayout {
  const left = width < 600 ? 74 : 120;
  const rowHeight = rowHeightOf(rows.length);
  const x = (at: number): number => left + ((Math.min(Math.max(at, from), to) - from) / (to - from)) * (width - left);
  const tops: number[] = [];
  const sets: { y: number; text: string }[] = [];
  const labels: { y: number; text: string }[] = [];
  let y = headHeight;
  let labelY = Number.NEGATIVE_INFINITY;
  rows.forEach((row, index) => {
    const isNewSet = index === 0 || row.set !== rows[index - 1]?.set;
    if (isNewSet) {
      sets.push({ y: y + setHeight - 7, text: row.set ?? 'No scale set' });
      y += setHeight;
    }
    tops.push(y);
    if (y + rowHeight / 2 - labelY >= labelEvery) {
      labelY = y + rowHeight / 2;
      labels.push({ y: labelY, text: row.name });
    }
    y += rowHeight;
  });
  const paths: Record<BarKind | MarkKind, string> = {
    announced: '',
    planned: '',
    progress: '',
    down: '',
    paused: '',
    canceled: '',
    presumed: '',
  };
  rows.forEach(({ lanes }, index) => {
    const middle = (tops[index] ?? 0) + rowHeight / 2;
    for (const lane of lanes) {
      const { bars, marks } = barsOf(lane, now);
      for (const { kind, from: begin, until } of bars)
        if (until > from && begin < to) paths[kind] += rect(x(begin), x(until), middle, thickness[kind] * rowHeight);
      for (const { kind, at } of marks)
        if (at >= from && at <= to)
          paths[kind] += symbols[kind](x(at), middle, Math.min(5, Math.max(1.5, rowHeight * 0.4)));
    }
  });
  return {
    width,
    height: y + axisHeight,
    left,
    rowHeight,
    tops,
    sets,
    labels,
    ticks: ticksOf(from, to, (width - left) / 84).map((tick) => ({ ...tick, x: x(tick.at) })),
    nowX: now >= from && now <= to ? x(now) : null,
    paths,
  };
}

const short = (value: number): string => String(Math.round(value * 10) / 10);

/** An outage of a second would be narrower than a pixel. */
const leastWidth = 1.5;

function rect(begin: number, end: number, middle: number, height: number): string {
  const width = Math.max(leastWidth, end - begin);
  return `M${short(begin)} ${short(middle - height / 2)}h${short(width)}v${short(height)}h${short(-width)}z`;
}

const symbols: Readonly<Record<MarkKind, (x: number, y: number, size: number) => string>> = {
  paused: (x, y, size) =>
    `M${short(x)} ${short(y - size)}l${short(size)} ${short(size)}l${short(-size)} ${short(size)}l${short(-size)} ${short(-size)}z`,
  canceled: (x, y, size) =>
    `M${short(x - size)} ${short(y - size)}l${short(2 * size)} ${short(2 * size)}m0 ${short(-2 * size)}l${short(-2 * size)} ${short(2 * size)}`,
  presumed: (x, y, size) =>
    `M${short(x)} ${short(y - size)}v${short(2 * size)}m${short(size)} ${short(-2 * size)}v${short(2 * size)}`,
};

const minuteMs = 60_000;
const stepsMs = [1, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880].map((minutes) => minutes * minuteMs);
const dayMs = 1440 * minuteMs;

/** Round times (UTC), no more than `most`. The first of a day is its date. */
export function ticksOf(
  from: number,
  to: number,
  most: number,
): readonly (Omit<Tick, 'x'> & { readonly at: number })[] {
  const step = stepsMs.find((one) => (to - from) / one <= Math.max(2, most)) ?? 2 * dayMs;
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const isDay = at % dayMs === 0;
    ticks.push({ at, isDay, text: isDay ? dayOf(at) : timeOf(at) });
  }
  return ticks;
}

/** The row at this height, and of its events the one at this place or the nearest. Null: between the rows. */
export function laneAt(
  { tops, rowHeight, left, width }: SwimlaneLayout,
  { from, to, rows }: Swimlanes,
  { x, y, now }: { readonly x: number; readonly y: number; readonly now: number },
): { readonly row: SwimlaneRow; readonly index: number; readonly lane: SwimlaneEvent } | null {
  const index = tops.findLastIndex((top) => top <= y);
  const row = rows[index];
  if (row === undefined || y > (tops[index] ?? 0) + rowHeight) return null;
  const at = from + ((x - left) / (width - left)) * (to - from);
  const distance = (lane: SwimlaneEvent): number => {
    const begin = lane.announcedAt ?? lane.startedAt ?? now;
    const end = lane.overAt ?? lane.silentSince ?? Math.max(now, lane.notBefore ?? now);
    return at < begin ? begin - at : Math.max(0, at - end);
  };
  const lane = [...row.lanes].sort((a, b) => distance(a) - distance(b))[0];
  return lane === undefined ? null : { row, index, lane };
}
