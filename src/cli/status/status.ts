import { accessSync, constants, statfsSync } from 'node:fs';
import type { Clock } from '../../clock.ts';
import { lateSeconds, sinkState } from '../../health/sink-condition.ts';
import type { Snapshot } from '../../health/snapshot.ts';
import { askService, type ServiceAnswer } from '../../health/status-client.ts';
import { type OperatingSystem, thisSystem } from '../../operating-system.ts';
import { type OutboxReport, readOutbox } from '../../outbox/reader.ts';
import { isServiceRunning } from '../../outbox/store/lock.ts';
import { limitBytes } from '../../outbox/store/retention.ts';
import { Failure } from '../exit-codes.ts';
import { foundIn } from '../outbox/read.ts';
import type { Facts, ServiceFacts, StatusSink } from './facts.ts';
import { judge, notResponding, type StatusVerdict } from './verdict.ts';

/**
 * What `status --json` prints: what the running process reports, else what its state directory shows. Fields are only
 * ever added. Times are ISO 8601 in UTC, ages are seconds at `at`; what is unknown is null.
 */
export interface Status extends Facts {
  readonly verdict: StatusVerdict;
}

export interface StatusOptions {
  readonly clock: Clock;
  readonly maxMegabytes: number | null;
  readonly system?: OperatingSystem;
  /** Where the service listens. Only tests choose. */
  readonly paths?: readonly string[];
}

/** @throws Failure where no service answers, and there is no outbox or none that can be read. */
export async function readStatus(directory: string, options: StatusOptions): Promise<Status> {
  const { clock, maxMegabytes, system = thisSystem } = options;
  const { answer, running } = await queryService(directory, options);
  const snapshot = answer.kind === 'answered' ? answer.snapshot : null;
  const figures = snapshot?.outbox ?? storedIn(directory, answer, system);
  const now = clock.now();
  const free = freeBytes(directory);
  const facts: Facts = {
    at: now.toISOString(),
    running,
    service: snapshot && serviceFacts(snapshot),
    answer: answer.kind,
    stateDirectory: directory,
    ...reported(figures, { now, running, snapshot }),
    outbox: {
      streamId: figures.streamId,
      position: figures.position,
      bytes: figures.bytes,
      maxBytes:
        maxMegabytes === null
          ? null
          : limitBytes({
              maxMegabytes,
              freeBytes: free ?? Number.POSITIVE_INFINITY,
              ownBytes: figures.bytes,
              usedBytes: figures.bytes,
            }),
      freeBytes: free,
      readOnlyDisk: isReadOnly(directory),
      undecidedDocuments: figures.undecided.documents,
      recovery: figures.recovery && {
        at: figures.recovery.at,
        reason: figures.recovery.reason,
        movedTo: figures.recovery.movedTo,
      },
    },
  };
  return { verdict: judge(facts, system), ...facts };
}

/** From its lock to its socket a service takes some milliseconds, and longer where it saves rows from a damaged file. */
const startingMs = 1_000;

/** Asks the service; if the lock is held and nothing listens, once more a moment later. */
export async function queryService(
  directory: string,
  { clock, paths }: Pick<StatusOptions, 'clock' | 'paths'>,
): Promise<{ readonly answer: ServiceAnswer; readonly running: boolean | null }> {
  let answer = await askService(directory, clock, paths);
  let running = isServiceRunning(directory);
  if (answer.kind === 'nobody' && running) {
    await clock.sleep(startingMs);
    answer = await askService(directory, clock, paths);
    running = isServiceRunning(directory);
  }
  const isThere = answer.kind === 'answered' || answer.kind === 'silent';
  return { answer, running: isThere ? true : running };
}

function storedIn(directory: string, { kind }: ServiceAnswer, system: OperatingSystem): OutboxReport {
  try {
    return foundIn(directory, readOutbox);
  } catch (error) {
    if (kind === 'silent')
      throw new Failure('actionRequired', notResponding({ stateDirectory: directory, lastSeen: '' }, system));
    throw error;
  }
}

const serviceFacts = ({
  version,
  pid,
  isStopping,
  poll,
  stuck,
  storage,
  connectJitterSeconds,
  senders,
}: Snapshot): ServiceFacts => ({
  version,
  pid,
  stopping: isStopping,
  poll,
  stuck,
  inMemoryOnly: storage.undurable,
  // A published key of status version 1: it keeps its name.
  storageTrouble: storage.fault && {
    since: storage.fault.since,
    code: storage.fault.code,
    reason: storage.fault.reason,
  },
  connectJitterSeconds,
  senders,
});

type Reported = Pick<Facts, 'observer' | 'document' | 'events' | 'sinks' | 'approvals'>;

interface Around {
  readonly now: Date;
  readonly running: boolean | null;
  readonly snapshot: Snapshot | null;
}

function reported(figures: OutboxReport, around: Around): Reported {
  const { observer, lastDocumentAt, incarnation, clockOffsetSeconds } = figures;
  const ageSeconds = around.snapshot?.poll.documentAgeSeconds ?? ageOf(lastDocumentAt, around.now);
  return {
    observer: observer && {
      vmName: observer.vmName,
      vmId: observer.vmId,
      resourceGroup: observer.resourceGroup,
      location: observer.location,
    },
    document: {
      lastSeenAt: lastDocumentAt,
      ageSeconds: ageSeconds === null ? null : Math.round(ageSeconds),
      incarnation,
      clockOffsetSeconds,
    },
    events: figures.events.map(({ affectsUs, inScope, ...event }) => ({
      ...event,
      affectsThisVm: affectsUs,
      published: inScope,
    })),
    sinks: figures.sinks.map((sink) => statusOf(sink, around)),
    approvals: figures.openApprovals.map(({ eventId, cause, at }) => ({
      eventId,
      cause,
      intendedAt: new Date(at).toISOString(),
    })),
  };
}

function statusOf(sink: OutboxReport['sinks'][number], { now, running, snapshot }: Around): StatusSink {
  const { name, configured, counters, progress, oldestPendingAt } = sink;
  const { lastSuccessAt, lastErrorAt, lastErrorCode: code, lastErrorReason: reason, retryAt } = progress;
  const figures = { configured, waiting: counters.pending, oldestWaitingAt: oldestPendingAt, progress };
  // A service before `holdSeconds` reports one figure for all its sinks.
  const holdSeconds = snapshot?.holdSeconds ? snapshot.holdSeconds[name] : snapshot?.connectJitterSeconds;
  const late = lateSeconds(figures, now, holdSeconds);
  const state = sinkState(figures, running !== false);
  return {
    name,
    state,
    waiting: counters.pending,
    oldestWaitingAt: oldestPendingAt,
    oldestAgeSeconds: ageOf(oldestPendingAt, now),
    lateSeconds: late === null ? null : Math.round(late),
    deadLetters: counters.dead,
    retryAt: (state === 'retrying' || state === 'refused') && running !== false ? retryAt : null,
    lastSuccessAt,
    lastError: code === null ? null : { at: lastErrorAt, code, reason: reason ?? 'no reason is known' },
    counters,
  };
}

function ageOf(at: string | null, now: Date): number | null {
  return at === null ? null : Math.round((now.getTime() - Date.parse(at)) / 1000);
}

function freeBytes(directory: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** A right that is missing says nothing: it is this user's, not the bridge's. */
function isReadOnly(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EROFS';
  }
}
