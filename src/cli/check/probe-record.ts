import { randomUUID } from 'node:crypto';
import type { LifecycleRecord } from '../../lifecycle/record.ts';
import type { Observer } from '../../lifecycle/scheduled-event.ts';
import { emptyState } from '../../lifecycle/state.ts';
import { testRecord } from '../../lifecycle/test-record.ts';
import { version } from '../../process/version.ts';
import type { ParsedEntry } from '../../sinks/sink.ts';

/**
 * What `check --write` sends: a test record in a separate stream, since that of the outbox belongs to the service, with a value
 * wherever a record can have one: a column that is null fits every type.
 */
export function probeEntry(observer: Observer, at: Date, imdsApiVersion: string): ParsedEntry {
  const now = at.toISOString();
  const given = { unique: randomUUID(), observer, at, imdsApiVersion, bridgeVersion: version };
  const record: LifecycleRecord = {
    ...testRecord(emptyState(randomUUID()), given).record,
    description: 'A test by `check --write` of scheduled-events-bridge. Nothing happens to the VM.',
    notBefore: now,
    startedAt: now,
    noticeSeconds: 0.5,
    startedSeconds: 0.5,
    observedPauseMs: 0,
    observedPauseTotalMs: 0,
    observedOutageSeconds: 0.5,
    bootId: 'test',
    physicalHost: 'test',
    previousPhysicalHost: 'test',
    clockOffsetSeconds: 0,
  };
  return { record, json: Buffer.from(JSON.stringify(record)) };
}
