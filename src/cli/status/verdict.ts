import { formatDuration } from '../../clock.ts';
import { clockTime, size } from '../../health/moment.ts';
import { pollRemark } from '../../health/poll-condition.ts';
import { hasCommand } from '../../health/refusal.ts';
import { senderProblem } from '../../health/sender-condition.ts';
import type { OperatingSystem } from '../../operating-system.ts';
import { plain, sinkName } from '../outbox/plain.ts';
import type { Facts, StatusEvent, StatusSink } from './facts.ts';

/** The problems and how to fix them. */
export interface StatusVerdict {
  /** Decides the exit code. */
  readonly actionRequired: boolean;
  /** One sentence or two: what matters most. */
  readonly message: string;
  /** Every operator action required, most important first; each says how to fix it. */
  readonly problems: readonly string[];
  /** Worth knowing; no action needed. */
  readonly notes: readonly string[];
}

/** Reported from here on, before tokens and certificates are refused. */
const clockOffSeconds = 120;
/** https://learn.microsoft.com/entra/identity-platform/access-tokens#validate-tokens */
const refusedClockSeconds = 300;
/** The reserve, and as much again. */
const leastFreeBytes = 8 * 2 ** 20;
/** Less than one large turn takes. */
const fullBytes = 2 ** 20;
const fullShare = 0.7;

/** Judges what is known. Pure; the order of the questions is that of how much is lost. */
export function judge(facts: Facts, system: OperatingSystem): StatusVerdict {
  const { sinks } = facts;
  const questions: readonly Question[] = [
    stopped,
    hung,
    unasked,
    disk,
    silence,
    stuck,
    clockOff,
    ...sinks.map((sink) => () => undelivered(sink, facts)),
    ...(facts.service?.senders ?? []).map((sender) => () => senderProblem(sender, system)),
    nearlyFull,
    ...sinks.map((sink) => () => deadLetters(sink)),
  ];
  const problems = questions.map((ask) => ask(facts, system)).filter((problem) => problem !== null);
  const notes = notesOf(facts);
  const [first, ...others] = problems;
  if (first === undefined) return { actionRequired: false, message: noProblem(facts), problems, notes };
  const more = others.length === 0 ? '' : ` (${others.length} more below.)`;
  return { actionRequired: true, message: first + more, problems, notes };
}

type Question = (facts: Facts, system: OperatingSystem) => string | null;

const stopped: Question = ({ running, document, at }, { startService }) => {
  if (running !== false) return null;
  const since = document.lastSeenAt === null ? '' : ` since ${clockTime(document.lastSeenAt, new Date(at))}`;
  return `Not running: no events polled${since}. Start the service (${startService}) and read its log if it ends again.`;
};

const hung: Question = ({ answer, stateDirectory, document, at }, system) => {
  if (answer !== 'silent') return null;
  const { lastSeenAt } = document;
  const lastSeen =
    lastSeenAt === null ? '' : ` The last document on disk is of ${clockTime(lastSeenAt, new Date(at))}.`;
  return notResponding({ stateDirectory, lastSeen }, system);
};

/** Also if the outbox cannot be read. */
export const notResponding = (
  { stateDirectory, lastSeen }: { stateDirectory: string; lastSeen: string },
  { suspended, restartService }: Pick<OperatingSystem, 'suspended' | 'restartService'>,
): string =>
  `Not responding: the service with the state directory ${stateDirectory} did not answer within 2 s. It is stopped (${suspended.causes}) or hangs, and events are missed.${lastSeen} Resume it (${suspended.resume}), or restart it (${restartService}); records that it holds in memory only are lost then.`;

const unasked: Question = ({ answer, running, stateDirectory }, { administrator }) => {
  if (answer === 'denied' || (answer === 'nobody' && running === null)) {
    return `Unknown: this user may not query the service with the state directory ${stateDirectory}. Run status as the user of the service, or as ${administrator}.`;
  }
  return answer === 'nobody' && running === true
    ? `Unknown: a process holds ${stateDirectory} and does not answer status requests. It may be starting, be another command, be an older version, or have lost its socket (it creates a new one within a minute). Run status again in a minute; if it lasts, restart the service.`
    : null;
};

const disk: Question = ({ service, outbox, stateDirectory, at }, system) => {
  const { inMemoryOnly = 0, storageTrouble = null } = service ?? {};
  const room = roomWords(outbox, stateDirectory, system);
  const since = storageTrouble === null ? '' : ` since ${clockTime(storageTrouble.since, new Date(at))}`;
  if (inMemoryOnly > 0) {
    const records = inMemoryOnly === 1 ? '1 record is' : `${inMemoryOnly} records are`;
    const why = room ?? reasonWords(storageTrouble, stateDirectory);
    return `${records} in memory only${since}: do not restart the service, that would lose ${inMemoryOnly === 1 ? 'it' : 'them'}. ${why}`;
  }
  if (storageTrouble === null) return room;
  return `Nothing can be written in ${stateDirectory}${since}, so records would be kept in memory only. ${room ?? reasonWords(storageTrouble, stateDirectory)}`;
};

const reasonWords = (fault: { readonly reason: string } | null, directory: string): string =>
  fault === null
    ? 'They are being written now.'
    : `${plain(fault.reason)}: check the disk and the permissions of ${directory}; the service writes them as soon as it can.`;

function roomWords(
  { readOnlyDisk, freeBytes }: Facts['outbox'],
  directory: string,
  { diskLog }: Pick<OperatingSystem, 'diskLog'>,
): string | null {
  if (readOnlyDisk) {
    return `The disk of ${directory} is mounted read-only: mount it writable; ${diskLog} has the reason. Until then records are kept in memory and sent from there.`;
  }
  if (freeBytes === null || freeBytes >= leastFreeBytes) return null;
  const state = freeBytes < fullBytes ? 'is full' : 'is nearly full';
  return `The disk of ${directory} ${state} (${size(freeBytes)} free): free some space on it. Records that cannot be written are kept in memory and sent from there.`;
}

const silence: Question = ({ service }) => {
  const remark = service && pollRemark(service.poll);
  return remark?.isProblem
    ? `${plain(remark.message)} Events are missed until then. Run check: it queries the metadata service itself and prints a command that shows more.`
    : null;
};

const stuck: Question = ({ service }) => service?.stuck[0] ?? null;

const clockOff: Question = ({ document: { clockOffsetSeconds } }, { setClock }) => {
  if (clockOffsetSeconds === null || Math.abs(clockOffsetSeconds) < clockOffSeconds) return null;
  const way = clockOffsetSeconds > 0 ? 'behind' : 'ahead of';
  const refused = 'tokens and certificates are refused';
  const effect = Math.abs(clockOffsetSeconds) > refusedClockSeconds ? `so ${refused}` : `and from 5 min on ${refused}`;
  return `The clock of this VM is ${formatDuration(clockOffsetSeconds)} ${way} Azure's, ${effect}. Set it (${setClock}).`;
};

/** The failure of a destination with pending records: an operator has to act, or it has lasted for two minutes. */
export const undelivered = (sink: StatusSink, facts: Pick<Facts, 'at' | 'running'>): string | null =>
  refused(sink, facts) ?? late(sink, facts);

function refused(sink: StatusSink, { at }: Pick<Facts, 'at'>): string | null {
  if (sink.state !== 'refused') return null;
  const since = sinceWhen(sink);
  const when = since === null ? '' : ` since ${clockTime(since, new Date(at))}`;
  const command = hasCommand(sink.lastError?.code ?? '') ? 'check prints the command that fixes it; ' : '';
  const next = sink.retryAt === null ? '' : `next attempt ${attempt(sink.retryAt, at)}, `;
  return `${sinkName(sink.name)} has accepted nothing${when}: ${reasonOf(sink)} (${command}${next}${tryNow(sink)})`;
}

/** Not for a sink that refuses, or without a running service: those have messages of their own. */
function late(sink: StatusSink, { at, running }: Pick<Facts, 'at' | 'running'>): string | null {
  const { state, lateSeconds, retryAt } = sink;
  if (lateSeconds === null || state === 'refused' || running === false) return null;
  const head = `${sinkName(sink.name)} has accepted nothing for ${formatDuration(lateSeconds)}, ${counted(sink.waiting)} for it`;
  if (state === 'delivering') return `${head}: the current attempt has had no answer. Run check, and read the log.`;
  const next = retryAt === null ? '' : `; next attempt ${attempt(retryAt, at)}`;
  return `${head}${next}: ${reasonOf(sink)} (check shows where it fails; ${tryNow(sink)})`;
}

const tryNow = ({ name }: StatusSink): string => `outbox retry --now --sink ${name} tries at once.`;

export function deadLetters({ name, state, deadLetters: dead }: StatusSink): string | null {
  if (dead === 0 || state === 'not-configured') return null;
  const [letters, them] =
    dead === 1 ? ['1 record, now a dead letter', 'it'] : [`${dead} records, now dead letters`, 'them'];
  return `${sinkName(name)} refused ${letters}: outbox list --state dead shows why; when that is fixed, outbox retry --all --sink ${name} resends ${them}.`;
}

const nearlyFull: Question = ({ outbox: { bytes, maxBytes } }) =>
  maxBytes === null || bytes < fullShare * maxBytes
    ? null
    : `The outbox takes ${size(bytes)} of its ${size(maxBytes)}: fix the destination that blocks it, or raise outbox.maxMegabytes (never more than 5 % of the free disk); when it is full, the oldest ended events are discarded.`;

/** When the failure began, as far as known: the waiting records are older, and the last success was before it. */
function sinceWhen({ oldestWaitingAt, lastSuccessAt, lastError }: StatusSink): string | null {
  const times = [oldestWaitingAt, lastSuccessAt].filter((time) => time !== null).toSorted();
  return times.at(-1) ?? lastError?.at ?? null;
}

const reasonOf = ({ lastError }: StatusSink): string => plain(lastError?.reason ?? 'no reason is known');

const counted = (n: number): string => (n === 1 ? '1 record waits' : `${n} records wait`);

/** `in 34 s`, `now`. */
function attempt(retryAt: string, at: string): string {
  const seconds = (Date.parse(retryAt) - Date.parse(at)) / 1000;
  return seconds > 0 ? `in ${formatDuration(seconds)}` : 'now';
}

function notesOf({ sinks, approvals, outbox, document, at }: Facts): readonly string[] {
  const now = new Date(at);
  const given = sinks.filter(({ counters }) => counters.expired > 0);
  return [
    ...given.map(
      ({ name, counters: { expired } }) =>
        `${expired} ${expired === 1 ? 'record was' : 'records were'} discarded undelivered (${sinkName(name)}).`,
    ),
    ...(outbox.recovery
      ? [
          `A damaged outbox was replaced ${clockTime(outbox.recovery.at, now)}: ${plain(outbox.recovery.reason)}; it is kept in ${plain(outbox.recovery.movedTo)}.`,
        ]
      : []),
    ...approvals.map(
      ({ eventId, intendedAt }) =>
        `The approval of ${plain(eventId)}, begun ${clockTime(intendedAt, now)}, has no outcome yet.`,
    ),
    ...(outbox.undecidedDocuments > 0
      ? [
          `${outbox.undecidedDocuments} documents wait for the identity of this VM, which could not be read from the metadata service yet.`,
        ]
      : []),
    ...((document.ageSeconds ?? 0) < -5
      ? ['The last document is in the future: the clock was set back since then.']
      : []),
  ];
}

/** No operator action required. What is not known to be healthy is not reported as healthy. */
function noProblem({ service, sinks, events, at }: Facts): string {
  if (service === null) return 'Unknown.'; // each way to it is a problem above
  if (service.stopping) return `Stopping: ${waitingWords(sinks)}.`;
  const remark = pollRemark(service.poll);
  if (remark !== null) return `Running; ${plain(remark.message)}`.replace(/[^.]$/, '$&.');
  const retrying = sinks.find(({ state }) => state === 'retrying');
  if (retrying) {
    const next = retrying.retryAt === null ? 'will be retried' : `next attempt ${attempt(retrying.retryAt, at)}`;
    return `Running; ${sinkName(retrying.name)} failed, ${next}; no action needed yet: ${reasonOf(retrying)}`;
  }
  return `Running; ${waitingWords(sinks)}.${impact(events, new Date(at))}`;
}

function waitingWords(sinks: readonly StatusSink[]): string {
  const configured = sinks.filter(({ state }) => state !== 'not-configured');
  const waiting = configured.reduce((sum, sink) => sum + sink.waiting, 0);
  if (waiting > 0) return waiting === 1 ? '1 delivery is under way' : `${waiting} deliveries are under way`;
  const [only] = configured;
  if (only === undefined) return 'no destination is configured';
  if (configured.length === 1) return `${sinkName(only.name)} is up to date`;
  return `${configured.length === 2 ? 'both' : `all ${configured.length}`} destinations are up to date`;
}

/** The impact on this VM that comes next, or that is under way. */
function impact(events: readonly StatusEvent[], now: Date): string {
  const ours = events.filter(({ affectsThisVm }) => affectsThisVm);
  const started = ours.find(({ phase }) => phase === 'Started');
  const what = ({ eventType }: StatusEvent): string => `${plain(eventType ?? 'An event')} of this VM`;
  if (started) return ` ${what(started)} is under way.`;
  const [next] = ours.toSorted((a, b) => (a.notBefore ?? '').localeCompare(b.notBefore ?? ''));
  if (next === undefined) return '';
  return ` ${what(next)} ${next.notBefore === null ? 'at any moment' : `not before ${clockTime(next.notBefore, now)}`}.`;
}
