import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../../src/clock.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { silentLog } from '../../src/log.ts';
import { openOutbox } from '../../src/outbox/durable-outbox.ts';
import type { Entry } from '../../src/sinks/sink.ts';
import { sampleRecord } from '../support/sample-record.ts';
import { until } from '../support/until.ts';

/** Of one event. */
export interface Batch {
  readonly partitionKey: string;
  readonly entries: readonly Entry[];
}

export interface Waiting {
  readonly records: number;
  readonly recordsPerEvent: number;
}

/** More than the bench needs, so that nothing is discarded. */
export const maxMegabytes = 4096;

const atOnce = 5_000;

/**
 * Appends records to the outbox of a bridge that was stopped, one event after the other, and writes the same ones to a file, a line
 * each. They were announced long enough ahead that none is urgent.
 */
export async function fillOutbox(
  directory: string,
  file: string,
  { records, recordsPerEvent }: Waiting,
): Promise<void> {
  const outbox = openOutbox({
    directory,
    sinks: ['event-hubs', 'log-analytics'],
    maxMegabytes,
    clock: systemClock,
    log: silentLog,
    version: '0.0.0',
  });
  const lines = openSync(file, 'w');
  const first = outbox.state.position;
  let written = 0;
  outbox.onAppended((appended) => {
    written += appended.length;
  });
  for (let from = 0; from < records; from += atOnce) {
    const length = Math.min(atOnce, records - from);
    const made = Array.from({ length }, (_, n) => recordAt(from + n, first, recordsPerEvent));
    outbox.append({ ...outbox.state, position: first + from + length }, made);
    await until(() => written === from + length, { timeoutMs: 120_000, what: 'the outbox to be filled' });
    writeSync(lines, made.map((record) => `${JSON.stringify(record)}\n`).join(''));
  }
  closeSync(lines);
  outbox.close();
}

function recordAt(index: number, first: number, recordsPerEvent: number): LifecycleRecord {
  const idOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
  const event = Math.floor(index / recordsPerEvent);
  const eventId = idOf(`event ${event}`)
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    .toUpperCase();
  const [recordId, transitionId] = [idOf(`record ${index}`), idOf(`transition ${index}`)];
  const sequence = 1 + (index % recordsPerEvent);
  return sampleRecord({ eventId, recordId, transitionId, sequence, position: first + index + 1 });
}

/** Sets all deliveries to this sink to `delivered`: it has nothing to do. */
export function settleAll(directory: string, sink: string): void {
  using db = new DatabaseSync(join(directory, 'outbox.sqlite'));
  db.exec('BEGIN');
  const at = new Date().toISOString();
  db.prepare(`UPDATE deliveries SET state = 'delivered', settledAt = ? WHERE sink = ?`).run(at, sink);
  db.prepare('UPDATE sinks SET delivered = accepted, pending = 0 WHERE name = ?').run(sink);
  db.exec('COMMIT');
}

/** What {@link fillOutbox} wrote. */
export function readWaiting(lines: Buffer): Batch[] {
  const batches: { partitionKey: string; entries: Entry[] }[] = [];
  for (let from = 0; from < lines.length; ) {
    const end = lines.indexOf('\n', from);
    const json = lines.subarray(from, end);
    const partitionKey = String(JSON.parse(json.toString()).eventId).toLowerCase();
    if (batches.at(-1)?.partitionKey === partitionKey) batches.at(-1)?.entries.push({ json });
    else batches.push({ partitionKey, entries: [{ json }] });
    from = end + 1;
  }
  return batches;
}
