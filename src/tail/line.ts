import { formatCountdown } from '../clock.ts';
import type { EventState, LifecycleRecord } from '../consumer/index.ts';
import { type Row, type Style, span } from '../terminal/styled-text.ts';
import type { Transition } from './transitions.ts';

/** `2026-01-31T09:00:00Z`. */
export const utc = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`;

/** The time alone where the day is that of `near`. */
export const shortUtc = (at: Date, near: Date): string =>
  utc(at).slice(0, 10) === utc(near).slice(0, 10) ? utc(at).slice(11) : utc(at);

/** Text of foreign origin: one line, without control characters that would move the cursor or change colours. */
export const plain = (text: string): string => text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();

/** How a phase is shown. */
export function styleOf(phase: string): Style {
  if (phase === 'Started') return 'started';
  if (phase === 'Canceled') return 'canceled';
  return phase === 'Completed' || phase === 'Ended' ? 'ended' : 'scheduled';
}

const fullIdColumns = 120;
const shortId = 8;

/** The event's id: its beginning where columns are few. `--event` takes both. */
export const idFor = (eventId: string, columns: number): string =>
  plain(eventId)
    .toUpperCase()
    .slice(0, columns < fullIdColumns ? shortId : undefined);

/** One transition as one line. @param columns of the terminal; infinite elsewhere. */
export function lineOf(transition: Transition, columns: number): Row {
  const { at, phase, event, record } = transition;
  const details = detailsOf(transition).join(', ');
  return [
    span(utc(at), 'quiet'),
    span('  '),
    span(phase.padEnd(9), styleOf(phase)),
    span('  '),
    span(`${plain(event.latest?.eventType ?? record.eventType ?? 'unknown').padEnd(9)}  `),
    span(vmsOf(event, record).padEnd(vmColumns), 'strong'),
    span(`  ${details}${details === '' ? '' : '  '}`),
    span(idFor(event.eventId, columns), 'quiet'),
  ];
}

export const vmColumns = 20;
const mostNames = 2;

const byNumber = new Intl.Collator('en', { numeric: true }).compare;

/** `web_0, web_1 +3`: whom it affects, or affected last. */
export function vmsOf({ affectedLast, affectedCount, named }: EventState, record: LifecycleRecord | null): string {
  const vms = (affectedLast.length > 0 ? affectedLast : named).map(({ name }) => plain(name)).sort(byNumber);
  if (vms.length === 0) return record?.observerAffected ? plain(record.vmName) : 'unknown VM';
  const shown = vms.slice(0, mostNames);
  const more = Math.max(vms.length, affectedCount) - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` +${more}` : ''}`;
}

/** What a person wants to know of a transition, most important first. */
function detailsOf(transition: Transition): readonly string[] {
  const { phase, record, isPresumed } = transition;
  const always = [
    ...correctionOf(transition),
    ...(record.observerAffected || phase === 'Approved' || isPresumed ? [] : [`seen by ${plain(record.vmName)}`]),
    ...(record.isTest ? ['test'] : []),
  ];
  if (isPresumed) return [presumptionOf(record), ...always];
  switch (phase) {
    case 'Scheduled':
      return [...returnOf(record), ...leadOf(transition), ...expectationsOf(record), ...always];
    case 'Updated':
      return [...changesOf(transition), ...always];
    case 'Started':
      return [...returnOf(record), ...startOf(transition), ...always];
    case 'Approved':
      return [`${record.evidence.map(plain).join(' ')}, by ${plain(record.vmName)}`, ...always];
    default:
      return [...measuredIn(transition), record.evidence.map(plain).join(' '), ...always].filter((text) => text !== '');
  }
}

function correctionOf({ phase, corrects, isLongerOutage }: Transition): readonly string[] {
  if (isLongerOutage) return ['the longest outage so far'];
  if (corrects === null) return [];
  return [corrects === phase ? 'was presumed' : `corrects ${corrects}`];
}

const presumptionOf = ({ phase, vmName }: LifecycleRecord): string =>
  phase === 'Snapshot'
    ? `presumed: ${plain(vmName)} lost its state and no longer lists it`
    : 'presumed: due to be deleted, no end reported in 10 min';

/** What one VM measured is no statement about the others. */
const isOfOneOfMany = ({ affectedLast, affectedCount, named }: EventState): boolean =>
  Math.max(affectedLast.length > 0 ? affectedLast.length : named.length, affectedCount) > 1;

function startOf({ event, record }: Transition): readonly string[] {
  const { noticeSeconds, startSeen, vmName } = record;
  const isSeen = startSeen !== false;
  const notice = `${isSeen ? '' : 'at most '}${formatCountdown(noticeSeconds ?? 0)} of notice`;
  return [
    ...(isSeen ? [] : ['at this time or earlier']),
    ...(noticeSeconds === null ? [] : [isOfOneOfMany(event) ? `${plain(vmName)} had ${notice}` : `after ${notice}`]),
  ];
}

/** An event that had ended is back. */
const returnOf = ({ evidence }: LifecycleRecord): readonly string[] =>
  evidence.includes('reappeared') ? ['listed again'] : [];

/** Until when work has to be off the VM, as of the transition. */
function leadOf({ record: { notBefore }, at }: Pick<Transition, 'record' | 'at'>): readonly string[] {
  if (notBefore === null) return ['at an unknown time'];
  const due = new Date(notBefore);
  const seconds = (due.getTime() - at.getTime()) / 1000;
  return [seconds > 0 ? `in ${formatCountdown(seconds)}` : 'due now', `not before ${shortUtc(due, at)}`];
}

function expectationsOf({ durationSeconds, eventSource }: LifecycleRecord): readonly string[] {
  return [
    ...(durationSeconds !== null && durationSeconds >= 0 ? [`for ${formatCountdown(durationSeconds)}`] : []),
    ...(eventSource === 'User' ? ['requested by a user'] : []),
  ];
}

function changesOf(transition: Transition): readonly string[] {
  const { record, at } = transition;
  return [
    ...returnOf(record),
    ...record.changes.flatMap(({ field, from, to }) => {
      if (field === 'notBefore') return leadOf(transition);
      if (field === 'affectedResources') return [membersChanged(from, to)];
      return [`${plain(field)} ${shown(from, at)} → ${shown(to, at)}`];
    }),
  ];
}

function membersChanged(from: unknown, to: unknown): string {
  const [before, after] = [namesIn(from), namesIn(to)];
  const [added, gone] = [
    after.filter((name) => !before.includes(name)),
    before.filter((name) => !after.includes(name)),
  ];
  return [...few(added).map((name) => `+${name}`), ...few(gone).map((name) => `-${name}`)].join(' ');
}

const namesIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.map((one) => plain(String(one))) : [];
const few = (names: readonly string[]): readonly string[] =>
  names.length <= 3 ? names : [...names.slice(0, 3), `${names.length - 3} more`];

const shown = (value: unknown, at: Date): string => {
  if (value === null || value === undefined || value === '') return 'none';
  const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value));
  return isTime ? shortUtc(new Date(value), at) : plain(String(value)).slice(0, 40);
};

/** What the VM measured on itself. */
function measuredIn({ event, record }: Transition): readonly string[] {
  const { observedPauseTotalMs, observedOutageSeconds, startedSeconds, vmName } = record;
  const measured = [
    ...(observedPauseTotalMs ? [`paused ${(observedPauseTotalMs / 1000).toFixed(1)} s`] : []),
    ...(observedOutageSeconds === null ? [] : [`down ${formatCountdown(observedOutageSeconds)}`]),
  ].join(', ');
  return [
    ...(measured === '' ? [] : [isOfOneOfMany(event) ? `${plain(vmName)} ${measured}` : measured]),
    ...(startedSeconds === null ? [] : [`${formatCountdown(startedSeconds)} after its start`]),
  ];
}

/** What JSON leaves as it is, and some terminals obey. */
const controls = /[\u007f-\u009f]/g;

/** One transition as one line of JSON: `record` is as it was received. */
export function jsonOf({ phase, at, event, record, isPresumed, corrects }: Transition): string {
  const { eventId, isOpen, affected, named, latest } = event;
  return JSON.stringify({
    at: at.toISOString(),
    phase,
    eventId,
    eventType: latest?.eventType ?? record.eventType,
    notBefore: latest?.notBefore ?? record.notBefore,
    isOpen: isOpen && !isPresumed,
    isPresumed,
    corrects,
    affected: affected.map(({ name }) => name),
    named: named.map(({ name }) => name),
    record,
  }).replace(controls, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
}
