import { formatDuration } from '../../clock.ts';
import { clockTime, moment, size } from '../../health/moment.ts';
import { aligned, plain, sinkName } from '../outbox/plain.ts';
import type { StatusEvent, StatusSink } from './facts.ts';
import type { Status } from './status.ts';
import type { StatusVerdict } from './verdict.ts';

/** The status as text: the verdict in the first line, then the facts. */
export function statusPage(status: Status): string {
  const { verdict, events, sinks } = status;
  const now = new Date(status.at);
  return [
    `${verdict.message}\n`,
    list('Operator action also required:', verdict.problems.slice(1)),
    aligned(headRows(status)),
    events.length === 0 ? '' : aligned([eventHead, ...events.map((event) => eventRow(event, now))]),
    sinks.length === 0 ? '' : aligned([sinkHead, ...sinks.map((sink) => sinkRow(sink, now))], [2, 5]),
    list(
      'Last errors:',
      sinks.flatMap((sink) => (isReported(sink, verdict) ? [] : errorLine(sink, now))),
    ),
    list('Notes:', verdict.notes),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function headRows(status: Status): string[][] {
  const { observer, outbox, stateDirectory, events } = status;
  const where = observer && [observer.resourceGroup, observer.location].filter((part) => part !== null).join(', ');
  const limit = outbox.maxBytes === null ? '' : ` of ${size(outbox.maxBytes)}`;
  const newest = outbox.position === 0 ? 'no record yet' : `newest record ${outbox.position}`;
  const affecting = events.filter(({ affectsThisVm }) => affectsThisVm).length;
  return [
    ['Service', serviceWords(status)],
    ['VM', observer ? plain(`${observer.vmName}${where ? ` (${where})` : ''}`) : 'not known yet'],
    ['Last document', documentWords(status)],
    [
      'Events',
      events.length === 0
        ? 'none open'
        : `${events.length} open; ${affecting} ${affecting === 1 ? 'affects' : 'affect'} this VM`,
    ],
    ['Outbox', `${newest}, ${size(outbox.bytes)}${limit}, in ${plain(stateDirectory)}`],
  ];
}

function serviceWords({ running, answer, service }: Status): string {
  if (service !== null) {
    const { pid, version, poll, stopping } = service;
    const last = `last poll ended ${formatDuration(poll.ageSeconds)} ago`;
    return `${stopping ? 'stopping' : 'running'} for ${formatDuration(poll.upSeconds)} (pid ${pid}, version ${version}), ${last}`;
  }
  if (running === null) return 'unknown';
  return running
    ? `running, ${answer === 'silent' ? 'not responding' : 'does not answer status requests'}`
    : 'not running';
}

/** On disk stands the last one of each minute. */
function documentWords({ document: { lastSeenAt, ageSeconds, incarnation }, service }: Status): string {
  if (lastSeenAt === null || ageSeconds === null) return 'none yet';
  const source = service === null ? ', as stored' : '';
  return `${formatDuration(ageSeconds)} ago (${lastSeenAt}${source}), incarnation ${incarnation ?? 'unknown'}`;
}

const eventHead = ['EVENT', 'PHASE', 'WHEN', 'ABOUT', 'EVENT ID'];

function eventRow(event: StatusEvent, now: Date): string[] {
  const about = event.affectsThisVm ? 'this VM' : event.published ? 'others (witness)' : 'others';
  const type = [event.eventType ?? 'unknown', event.eventSource === 'User' ? ' (user)' : ''].join('');
  return [plain(type), event.phase, when(event, now), about, plain(event.eventId)];
}

function when({ phase, startedAt, notBefore }: StatusEvent, now: Date): string {
  if (phase === 'Started') return startedAt === null ? 'started' : `started ${moment(startedAt, now)}`;
  return notBefore === null ? 'at any moment' : `not before ${moment(notBefore, now)}`;
}

const sinkHead = ['DESTINATION', 'STATE', 'WAITING', 'OLDEST', 'NEXT ATTEMPT', 'DEAD', 'LAST SUCCESS'];

function sinkRow(sink: StatusSink, now: Date): string[] {
  return [
    sinkName(sink.name),
    sink.state,
    String(sink.waiting),
    sink.oldestAgeSeconds === null ? '-' : formatDuration(Math.max(0, sink.oldestAgeSeconds)),
    sink.retryAt === null ? '-' : nextAttempt(sink.retryAt, now),
    String(sink.deadLetters),
    sink.lastSuccessAt === null ? 'never' : moment(sink.lastSuccessAt, now),
  ];
}

const nextAttempt = (at: string, now: Date): string => (new Date(at) <= now ? 'now' : moment(at, now));

/** Whether the verdict above contains its last error. */
const isReported = ({ lastError }: StatusSink, { message, problems }: StatusVerdict): boolean =>
  lastError !== null && [message, ...problems].some((said) => said.includes(plain(lastError.reason)));

/** Of one that delivers again, the last error is history; the JSON has it. */
function errorLine({ name, state, lastError }: StatusSink, now: Date): string[] {
  if (!lastError || state === 'idle' || state === 'delivering' || state === 'not-configured') return [];
  const at = lastError.at === null ? '' : ` ${clockTime(lastError.at, now)}`;
  return [`${sinkName(name)}${at}, ${plain(lastError.code)}: ${plain(lastError.reason)}`];
}

const list = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `${title}\n${lines.map((line) => `  - ${line}\n`).join('')}`;
