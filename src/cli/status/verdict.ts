import { clockTime, inWords, size } from '../../health/moment.ts';
import { hasCommand } from '../../health/refusal.ts';
import { plain, sinkName } from '../outbox/plain.ts';
import type { Facts, StatusSink } from './facts.ts';

/** What is wrong and what mends it. */
export interface Verdict {
  /** The exit code tells it too. */
  readonly needsPerson: boolean;
  /** One sentence or two: what matters most. */
  readonly says: string;
  /** Everything that needs a person, what matters most first; each says what mends it. */
  readonly problems: readonly string[];
  /** Worth knowing; nothing is to be done. */
  readonly notes: readonly string[];
}

/** A document is stored once a minute: three missing ones are no accident. */
const silentAfterSeconds = 180;
/** The first answer of the metadata service may take two minutes. */
const firstDocumentSeconds = 300;
/** What passes by itself has done so by then, as a rule. */
const patienceSeconds = 15 * 60;
/** Tokens and certificates are refused from about five minutes on. */
const clockOffSeconds = 120;
/** The reserve, and as much again. */
const leastFreeBytes = 8 * 2 ** 20;
/** Less than one large turn takes. */
const fullBytes = 2 ** 20;
const fullShare = 0.7;

/** Judges what is known. Pure; the order of the questions is that of how much is lost. */
export function judge(facts: Facts): Verdict {
  const asked = [stopped, diskTrouble, silence, clockOff, ...facts.sinks.map((sink) => () => sinkTrouble(sink, facts))];
  const late = [
    nearlyFull,
    ...facts.sinks.map((sink) => () => deadLetters(sink)),
    ...facts.sinks.map((sink) => () => longWait(sink, facts)),
  ];
  const problems = [...asked, ...late].map((ask) => ask(facts)).filter((problem) => problem !== null);
  const notes = notesOf(facts);
  const [first, ...others] = problems;
  if (first === undefined) return { needsPerson: false, says: allIsWell(facts), problems, notes };
  const more = others.length === 0 ? '' : ` (${others.length} more below.)`;
  return { needsPerson: true, says: first + more, problems, notes };
}

type Question = (facts: Facts) => string | null;

const stopped: Question = ({ running, document, at }) => {
  if (running !== false) return null;
  const since = document.lastSeenAt === null ? '' : ` since ${clockTime(document.lastSeenAt, new Date(at))}`;
  return `Not running: nothing has been watched${since}. Start the service (Linux: systemctl start scheduled-events-bridge) and look at its log if it ends again.`;
};

const diskTrouble: Question = ({ outbox, stateDirectory }) => {
  if (outbox.readOnlyDisk) {
    return `The disk of ${stateDirectory} is mounted read-only: what happens is kept in memory, sent from there, and lost with the process if it cannot be. Mount it writable; the kernel's log tells why it is not.`;
  }
  if (outbox.freeBytes === null || outbox.freeBytes >= leastFreeBytes) return null;
  const state = outbox.freeBytes < fullBytes ? 'is full' : 'is nearly full';
  return `The disk of ${stateDirectory} ${state} (${size(outbox.freeBytes)} free): free some space on it. What cannot be written is kept in memory, sent from there, and lost with the process if it cannot be.`;
};

const silence: Question = ({ running, document, outbox, at }) => {
  if (running === false) return null;
  const { lastSeenAt, ageSeconds } = document;
  const look =
    'Run check: it tells whether the metadata service does not answer or the service hangs; the log of the service tells the rest.';
  if (lastSeenAt === null) {
    const age = outbox.createdAgeSeconds ?? 0;
    return age > firstDocumentSeconds ? `Azure has not answered once in ${inWords(age)}. ${look}` : null;
  }
  if (ageSeconds === null || ageSeconds <= silentAfterSeconds) return null;
  return `Nothing was heard from Azure, or stored, since ${clockTime(lastSeenAt, new Date(at))} (${inWords(ageSeconds)}). ${look}`;
};

const clockOff: Question = ({ document: { clockOffsetSeconds } }) => {
  if (clockOffsetSeconds === null || Math.abs(clockOffsetSeconds) < clockOffSeconds) return null;
  const way = clockOffsetSeconds > 0 ? 'behind' : 'ahead of';
  return `The clock of this VM is ${inWords(clockOffsetSeconds)} ${way} Azure's: tokens and certificates are refused like that. Set it (timedatectl, chronyc makestep; Windows: w32tm /resync).`;
};

function sinkTrouble(sink: StatusSink, { at }: Facts): string | null {
  if (sink.state !== 'refused') return null;
  const since = sinceWhen(sink);
  const when = since === null ? '' : ` since ${clockTime(since, new Date(at))}`;
  const more = hasCommand(sink.lastError?.code ?? '') ? ' (check gives the exact command.)' : '';
  return `${sinkName(sink.name)} has taken nothing${when}: ${reasonOf(sink)}${more}`;
}

function deadLetters({ name, state, deadLetters: dead }: StatusSink): string | null {
  if (dead === 0 || state === 'not-configured') return null;
  const [letters, them] = dead === 1 ? ['1 dead letter', 'it'] : [`${dead} dead letters`, 'them'];
  return `${sinkName(name)} refused single records, ${letters}: outbox list --state dead tells why; when that is mended, outbox retry --all --sink ${name} sends ${them} again.`;
}

function longWait(sink: StatusSink, { at }: Facts): string | null {
  const age = sink.oldestAgeSeconds ?? 0;
  if (sink.state === 'refused' || sink.state === 'not-configured' || age < patienceSeconds) return null;
  const since = clockTime(sinceWhen(sink) ?? at, new Date(at));
  const records = counted(sink.waiting);
  return sink.state === 'waiting'
    ? `${sinkName(sink.name)} has taken nothing since ${since}, ${records} for it: ${reasonOf(sink)}`
    : `${sinkName(sink.name)} has been given nothing since ${since} although ${records} for it: the log of the service tells why.`;
}

const nearlyFull: Question = ({ outbox: { bytes, maxBytes } }) =>
  maxBytes === null || bytes < fullShare * maxBytes
    ? null
    : `The outbox takes ${size(bytes)} of its ${size(maxBytes)}: mend the destination that holds it up, or give it more room (outbox.maxMegabytes, but never more than 5 % of the free disk); when it is full the oldest ended events are given up.`;

/** When the trouble began, as far as can be told: what waits was not delivered since, and nothing was since the last success. */
function sinceWhen({ oldestWaitingAt, lastSuccessAt, lastError }: StatusSink): string | null {
  const times = [oldestWaitingAt, lastSuccessAt].filter((time) => time !== null).toSorted();
  return times.at(-1) ?? lastError?.at ?? null;
}

const reasonOf = ({ lastError }: StatusSink): string => plain(lastError?.reason ?? 'no reason is known');

const counted = (n: number): string => (n === 1 ? '1 record waits' : `${n} records wait`);

function notesOf({ sinks, approvals, outbox, document, running, at }: Facts): readonly string[] {
  const now = new Date(at);
  const given = sinks.filter(({ counters }) => counters.expired > 0);
  return [
    ...(running === null ? ['Whether it runs cannot be told: this user may not look at lock.sqlite.'] : []),
    ...given.map(
      ({ name, counters: { expired } }) =>
        `${expired} ${expired === 1 ? 'record was' : 'records were'} given up before ${sinkName(name)} had ${expired === 1 ? 'it' : 'them'}.`,
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
          `${outbox.undecidedDocuments} documents wait for the name of this VM, which the metadata service has not told yet.`,
        ]
      : []),
    ...((document.ageSeconds ?? 0) < -5 ? ['The last document is in the future: the clock was set back since.'] : []),
  ];
}

function allIsWell({ running, sinks, document, at }: Facts): string {
  const head = running === null ? 'Probably running' : 'Running';
  if (document.lastSeenAt === null) return `${head}; Azure's first answer is awaited, which may take two minutes.`;
  const configured = sinks.filter(({ state }) => state !== 'not-configured');
  const held = configured.find(({ state }) => state === 'waiting');
  if (held) {
    const seconds = (Date.parse(held.retryAt ?? at) - Date.parse(at)) / 1000;
    const next = seconds > 0 ? `in ${inWords(seconds)}` : 'soon';
    return `${head}; ${sinkName(held.name)} failed just now and is asked again ${next}, nothing is to be done yet: ${reasonOf(held)}`;
  }
  const waiting = configured.reduce((sum, sink) => sum + sink.waiting, 0);
  if (waiting > 0) return `${head}; ${waiting === 1 ? '1 delivery is' : `${waiting} deliveries are`} under way.`;
  const [only] = configured;
  if (configured.length === 0) return `${head}; no destination is configured.`;
  if (configured.length === 1 && only) return `${head}; ${sinkName(only.name)} is up to date.`;
  return `${head}; ${configured.length === 2 ? 'both' : `all ${configured.length}`} destinations are up to date.`;
}
