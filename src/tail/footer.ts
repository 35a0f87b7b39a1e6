import { formatCountdown } from '../clock.ts';
import { azureTime, type EventState, isSilent, type LifecycleRecord } from '../consumer/index.ts';
import { plural, type Row, span, toWidth, widthOf } from '../terminal/styled-text.ts';
import type { FleetFeed } from './fleet-feed.ts';
import { idFor, plain, shortUtc, styleOf, utc, vmColumns, vmsOf } from './line.ts';
import { isCurrent } from './transitions.ts';

/** What the last rows of the terminal show. */
export interface FooterState {
  readonly hub: string;
  readonly feed: Pick<FleetFeed, 'view' | 'isHistoryRead' | 'recordCount' | 'skippedCount' | 'oldestAt' | 'problems'>;
  readonly isShown: (event: EventState) => boolean;
  /** What the records show to be missing; see `lossesOf`. */
  readonly losses: string | null;
}

/** At least two thirds of the terminal are for lines. */
const mostRows = 10;

/** The events that may still happen or are happening, the next one first, with the time that is left. */
export function footer(state: FooterState, now: Date, terminal: { columns: number; rows: number }): readonly Row[] {
  const { feed, isShown } = state;
  const { columns } = terminal;
  const open = feed.isHistoryRead ? feed.view.events().filter((event) => isCurrent(event, now)) : [];
  const events = open.filter(isShown).sort((a, b) => rankOf(a, now) - rankOf(b, now));
  const room = Math.max(1, Math.min(mostRows, Math.floor(terminal.rows / 3)) - 2);
  const shown = events.length > room ? events.slice(0, room - 1) : events;
  const hidden = events.length - shown.length;
  return [
    [span('─'.repeat(columns - 1), 'quiet')],
    heading(state, { open: open.length, shown: events.length }, now, columns),
    ...problemRows(feed.problems, now),
    ...lossRows(state),
    ...shown.map((event) => eventRow(event, now, columns)),
    ...(hidden > 0 ? [[span(` and ${hidden} more`, 'quiet')] as Row] : []),
  ].map((row) => cut(row, columns - 1));
}

interface Counts {
  readonly open: number;
  readonly shown: number;
}

function heading({ hub, feed }: FooterState, counts: Counts, now: Date, columns: number): Row {
  const left: Row = feed.isHistoryRead
    ? [span(` ${claimOf(counts, feed.oldestAt, now)}`, 'strong')]
    : [span(` Reading what the hub holds: ${plural(feed.recordCount, 'record')}`, 'quiet')];
  const right: Row = [span(`${hub}  `, 'quiet'), span(utc(now))];
  const blanks = columns - 1 - widthOf(left) - widthOf(right);
  return blanks < 2 ? left : [...left, span(' '.repeat(blanks)), ...right];
}

/** An event that was announced before the hub's oldest message is not known. */
function claimOf({ open, shown }: Counts, oldestAt: Date | null, now: Date): string {
  if (shown > 0) return plural(shown, 'open event');
  if (open > 0) return `No open event matches the filters, ${open} in all`;
  return oldestAt === null ? 'No record in the hub' : `No open event in the hub since ${shortUtc(oldestAt, now)}`;
}

function lossRows({ losses, feed: { skippedCount } }: FooterState): readonly Row[] {
  const skipped = skippedCount === 0 ? null : `${plural(skippedCount, 'message')} skipped`;
  const found = [losses, skipped].filter((one) => one !== null);
  return found.length === 0 ? [] : [[span(` ${found.join(', ')}`, 'broken')]];
}

function problemRows(problems: FooterState['feed']['problems'], now: Date): readonly Row[] {
  const [first] = problems;
  if (first === undefined) return [];
  const where = problems.length === 1 ? `partition ${first.partitionId}` : `${problems.length} partitions`;
  const since = formatCountdown((now.getTime() - first.since.getTime()) / 1000);
  return [[span(` Not reading ${where} for ${since}: ${plain(first.message)}`, 'broken')]];
}

function eventRow(event: EventState, now: Date, columns: number): Row {
  const { latest, hasStarted } = event;
  const phase = hasStarted ? 'Started' : 'Scheduled';
  const when = whenRow(event, now);
  const rowWith = (parts: Row): Row => [
    span(` ${phase.padEnd(9)}`, isSilent(event, now) ? 'quiet' : styleOf(phase)),
    span(`  ${plain(latest?.eventType ?? 'unknown').padEnd(9)}  `),
    span(vmsOf(event, latest).padEnd(vmColumns), 'strong'),
    span('  '),
    ...parts,
    ...(latest?.isTest ? [span('  test')] : []),
    span('  '),
    span(idFor(event.eventId, columns), 'quiet'),
  ];
  const whole = rowWith(when);
  // Half of a time would be another time.
  return widthOf(whole) < columns ? whole : rowWith(when.slice(0, 1));
}

function whenRow(event: EventState, now: Date): Row {
  const { latest, hasStarted } = event;
  if (isSilent(event, now))
    return [span(`nothing reported for ${formatCountdown(silenceMs(event, now) / 1000)}`, 'quiet')];
  if (hasStarted) return [span(progressOf(event, now))];
  const notBefore = latest?.notBefore ?? null;
  if (notBefore === null) return [span('at an unknown time')];
  const due = new Date(notBefore);
  const seconds = (due.getTime() - now.getTime()) / 1000;
  const left = seconds > 0 ? `in ${formatCountdown(seconds)}` : `due for ${formatCountdown(seconds)}`;
  return [
    span(left.padEnd(16), seconds < 60 ? 'broken' : 'scheduled'),
    span(` not before ${shortUtc(due, now)}`, 'quiet'),
  ];
}

/** For how long, by Azure's clock, since the first VM saw it start; or where none did, at least since one first saw it started. */
function progressOf({ steps, views }: EventState, now: Date): string {
  const returnedAt = Math.max(...steps.filter(({ evidence }) => evidence.includes('reappeared')).map(azureTime));
  const reports = [...steps, ...views.map(({ last }) => last)].filter(
    (record) => record.startedAt !== null && azureTime(record) >= returnedAt,
  );
  if (reports.length === 0) return 'in progress';
  const seconds = (now.getTime() - Math.min(...reports.map(startOf))) / 1000;
  const isSeen = reports.some(({ startSeen }) => startSeen !== false);
  return `for ${isSeen ? '' : 'at least '}${formatCountdown(Math.max(0, seconds))}`;
}

/** `startedAt` is by the clock of the VM. */
const startOf = (record: LifecycleRecord): number =>
  Date.parse(record.startedAt ?? record.observedAt) + azureTime(record) - Date.parse(record.observedAt);

const silenceMs = ({ lastAt }: EventState, now: Date): number => now.getTime() - lastAt.getTime();

const dueAt = ({ latest }: EventState): number =>
  latest?.notBefore ? Date.parse(latest.notBefore) : Number.NEGATIVE_INFINITY;

/** Smaller first: what happens, then what is due next, then what no VM has reported for a day. */
function rankOf(event: EventState, now: Date): number {
  if (isSilent(event, now)) return Number.MAX_SAFE_INTEGER;
  return event.hasStarted ? Number.MIN_SAFE_INTEGER : dueAt(event);
}

const cut = (row: Row, width: number): Row =>
  widthOf(row) > width ? [...toWidth(row, width - 1), span('…', 'quiet')] : row;
