import { accessSync, constants, statfsSync } from 'node:fs';
import { isRefusal } from '../../health/refusal.ts';
import { isServiceRunning } from '../../outbox/lock.ts';
import { type OutboxReport, readOutbox, type SinkReport } from '../../outbox/reader.ts';
import { limitBytes } from '../../outbox/retention.ts';
import { foundIn } from '../outbox/read.ts';
import type { Facts, StatusSink } from './facts.ts';
import { judge, type Verdict } from './verdict.ts';

/**
 * What `status --json` prints: everything that can be known of a bridge from its state directory. Fields are only ever
 * added. Times are ISO 8601 in UTC, ages are whole seconds at `at`; what is unknown is null.
 */
export interface Status extends Facts {
  readonly verdict: Verdict;
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
          : limitBytes({
              maxMegabytes,
              freeBytes: free ?? Number.POSITIVE_INFINITY,
              ownBytes: report.bytes,
              usedBytes: report.bytes,
            }),
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
