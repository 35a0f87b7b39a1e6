import { accessSync, constants, statfsSync } from 'node:fs';
import { isServiceRunning } from '../../outbox/lock.ts';
import { type OutboxReport, readOutbox, type SinkReport } from '../../outbox/reader.ts';
import { limitBytes } from '../../outbox/retention.ts';
import type { SinkCounters } from '../../outbox/tally.ts';
import { foundIn } from '../outbox/read.ts';
import { isRefusal } from './refusal.ts';
import { judge, type Verdict } from './verdict.ts';

/**
 * What `status --json` prints: everything that can be known of a bridge from its state directory. Fields are only ever
 * added. Times are ISO 8601 in UTC, ages are whole seconds at `at`; what is unknown is null.
 */
export interface Status extends Facts {
  readonly verdict: Verdict;
}

/** What the verdict is about. */
export interface Facts {
  readonly at: string;
  /** A service holds the state directory. Null: this user may not look at its lock. */
  readonly running: boolean | null;
  readonly stateDirectory: string;
  /** The VM, as the bridge knows it; null until it has learned that. */
  readonly observer: null | {
    readonly vmName: string;
    readonly vmId: string;
    readonly resourceGroup: string | null;
    readonly location: string | null;
  };
  readonly document: {
    /** While the service runs at most a minute older than the truth. */
    readonly lastSeenAt: string | null;
    readonly ageSeconds: number | null;
    readonly incarnation: number | null;
    /** Azure's clock minus this VM's, at that document. */
    readonly clockOffsetSeconds: number | null;
  };
  /** What Azure still lists, oldest first. */
  readonly events: readonly StatusEvent[];
  readonly sinks: readonly StatusSink[];
  /** Begun and without an outcome. */
  readonly approvals: readonly { readonly eventId: string; readonly cause: string; readonly intendedAt: string }[];
  readonly outbox: {
    readonly streamId: string;
    /** Of the newest record. */
    readonly position: number;
    readonly createdAgeSeconds: number | null;
    readonly bytes: number;
    /** The most that it may take: by the configuration, and of its disk; null where no configuration was read. */
    readonly maxBytes: number | null;
    /** On its disk, for the account of the bridge. */
    readonly freeBytes: number | null;
    readonly readOnlyDisk: boolean;
    /** Documents that wait for the VM's own name to be known. */
    readonly undecidedDocuments: number;
    /** The last time a damaged file was replaced. */
    readonly recovery: null | { readonly at: string; readonly reason: string; readonly movedTo: string };
  };
}

export interface StatusEvent {
  readonly eventId: string;
  readonly eventType: string | null;
  readonly eventSource: string | null;
  readonly phase: 'Scheduled' | 'Started';
  readonly notBefore: string | null;
  readonly firstSeenAt: string;
  readonly startedAt: string | null;
  readonly affectsThisVm: boolean;
  /** Its records are published. */
  readonly published: boolean;
}

export interface StatusSink {
  readonly name: string;
  /** `waiting`: it failed last of what passes by itself, and is asked again at `retryAt`. `refused`: a person has to act. */
  readonly state: 'delivering' | 'waiting' | 'refused' | 'not-configured';
  readonly waiting: number;
  readonly oldestWaitingAt: string | null;
  readonly oldestAgeSeconds: number | null;
  readonly deadLetters: number;
  readonly retryAt: string | null;
  readonly lastSuccessAt: string | null;
  /** Also one that is over: `state` tells. */
  readonly lastError: null | { readonly at: string | null; readonly code: string; readonly reason: string };
  readonly counters: SinkCounters;
}

/** @throws Failure where there is no outbox or none that can be read. */
export function readStatus(
  directory: string,
  { now, maxMegabytes }: { readonly now: Date; readonly maxMegabytes: number | null },
): Status {
  const report = foundIn(directory, readOutbox);
  const free = freeBytes(directory);
  const facts: Facts = {
    at: now.toISOString(),
    running: isServiceRunning(directory),
    stateDirectory: directory,
    ...told(report, now),
    outbox: {
      streamId: report.streamId,
      position: report.position,
      createdAgeSeconds: ageSeconds(report.createdAt, now),
      bytes: report.bytes,
      maxBytes:
        maxMegabytes === null
          ? null
          : limitBytes({ maxMegabytes, freeBytes: free ?? Number.POSITIVE_INFINITY, ownBytes: report.bytes }),
      freeBytes: free,
      readOnlyDisk: isReadOnly(directory),
      undecidedDocuments: report.undecided.documents,
      recovery: report.recovery && {
        at: report.recovery.at,
        reason: report.recovery.reason,
        movedTo: report.recovery.movedTo,
      },
    },
  };
  return { verdict: judge(facts), ...facts };
}

type Told = Pick<Facts, 'observer' | 'document' | 'events' | 'sinks' | 'approvals'>;

function told(report: OutboxReport, now: Date): Told {
  const { observer, lastDocumentAt, incarnation, clockOffsetSeconds } = report;
  return {
    observer: observer && {
      vmName: observer.vmName,
      vmId: observer.vmId,
      resourceGroup: observer.resourceGroup,
      location: observer.location,
    },
    document: {
      lastSeenAt: lastDocumentAt,
      ageSeconds: ageSeconds(lastDocumentAt, now),
      incarnation,
      clockOffsetSeconds,
    },
    events: report.events.map(({ affectsUs, inScope, ...event }) => ({
      ...event,
      affectsThisVm: affectsUs,
      published: inScope,
    })),
    sinks: report.sinks.map((sink) => statusOf(sink, now)),
    approvals: report.openApprovals.map(({ eventId, cause, at }) => ({ eventId, cause, intendedAt: at.toISOString() })),
  };
}

function statusOf({ name, configured, counters, progress, oldestPendingAt }: SinkReport, now: Date): StatusSink {
  const { lastSuccessAt, lastErrorAt, lastErrorCode: code, lastErrorReason: reason, step, retryAt } = progress;
  // A batch that is taken apart to find the record that is refused counts as no failed step.
  const isRefused = counters.pending > 0 && (lastErrorAt ?? '') > (lastSuccessAt ?? '');
  const failing = step > 0 || isRefused ? (isRefusal(code) ? 'refused' : 'waiting') : 'delivering';
  return {
    name,
    state: configured ? failing : 'not-configured',
    waiting: counters.pending,
    oldestWaitingAt: oldestPendingAt,
    oldestAgeSeconds: ageSeconds(oldestPendingAt, now),
    deadLetters: counters.dead,
    retryAt: step > 0 ? retryAt : null,
    lastSuccessAt,
    lastError: code === null ? null : { at: lastErrorAt, code, reason: reason ?? 'no reason is known' },
    counters,
  };
}

function ageSeconds(at: string | null, now: Date): number | null {
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
