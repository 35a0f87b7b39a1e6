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
const plain = (text: string): string => text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();

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

/** `web_0, web_1 +3`: whom it affects, or affected. */
export function vmsOf({ affected, named }: EventState, record: LifecycleRecord | null): string {
  const vms = (affected.length > 0 ? affected : named).map(({ name }) => plain(name)).sort(byNumber);
  if (vms.length === 0) return record?.observerAffected ? plain(record.vmName) : 'unknown VM';
  const more = vms.length - mostNames;
  return `${vms.slice(0, mostNames).join(', ')}${more > 0 ? ` +${more}` : ''}`;
}

/** What a person wants to know of a transition, most important first. */
function detailsOf(transition: Transition): readonly string[] {
  const { phase, record, isPresumed, corrects } = transition;
  const always = [
    ...(corrects === null ? [] : [`corrects ${corrects}`]),
    ...(record.observerAffected || phase === 'Approved' || isPresumed ? [] : [`seen by ${plain(record.vmName)}`]),
    ...(record.isTest ? ['test'] : []),
  ];
  if (isPresumed) return ['presumed: no VM is left to report it', ...always];
  switch (phase) {
    case 'Scheduled':
      return [...returnOf(record), ...leadOf(transition), ...expectationsOf(record), ...always];
    case 'Updated':
      return [...changesOf(transition), ...always];
    case 'Started':
      return [
        ...(record.noticeSeconds === null ? [] : [`after ${formatCountdown(record.noticeSeconds)} of notice`]),
        ...always,
      ];
    case 'Approved':
      return [`${record.evidence.map(plain).join(' ')}, by ${plain(record.vmName)}`, ...always];
    default:
      return [...measuredIn(record), record.evidence.map(plain).join(' '), ...always].filter((text) => text !== '');
  }
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
  const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
  return isTime ? shortUtc(new Date(value), at) : plain(String(value)).slice(0, 40);
};

/** What the VM measured on itself. */
function measuredIn(record: LifecycleRecord): readonly string[] {
  const { observedPauseTotalMs, observedOutageSeconds, startedSeconds } = record;
  return [
    ...(observedPauseTotalMs ? [`paused ${(observedPauseTotalMs / 1000).toFixed(1)} s`] : []),
    ...(observedOutageSeconds === null ? [] : [`down ${formatCountdown(observedOutageSeconds)}`]),
    ...(startedSeconds === null ? [] : [`${formatCountdown(startedSeconds)} after its start`]),
  ];
}

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
  });
}
