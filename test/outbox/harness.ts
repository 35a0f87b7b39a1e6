import { rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { emptyMemory } from '../../src/lifecycle/empty-memory.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import type { EventMemory, LifecycleState } from '../../src/lifecycle/state.ts';
import type { Log } from '../../src/log.ts';
import { openOutbox } from '../../src/outbox/durable-outbox.ts';
import { noProgress, type Outbox, type OutboxOptions } from '../../src/outbox/outbox.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { sampleRecord } from '../support/sample-record.ts';
import { createStateDirectory } from '../support/state-directory.ts';

export const version = '1.2.3';

/** A line that the outbox wrote to the log. */
export interface Line {
  readonly level: string;
  readonly fields: { readonly code?: string };
  readonly message: string;
}

export interface Harness extends Disposable {
  readonly directory: string;
  readonly clock: FakeClock;
  readonly lines: Line[];
  readonly log: Log;
  open(options?: Partial<OutboxOptions>): Outbox;
}

/** A state directory of its own, a clock, and a log that is remembered. Everything opened is closed at the end. */
export function createHarness(directory = createStateDirectory('outbox')): Harness {
  const clock = createFakeClock();
  const lines: Line[] = [];
  const opened: Outbox[] = [];
  const level =
    (name: string) =>
    (fields: object, message: string): void => {
      lines.push({ level: name, fields, message });
    };
  const log: Log = {
    debug: level('debug'),
    info: level('info'),
    warn: level('warn'),
    error: level('error'),
    child: () => log,
  };
  return {
    directory,
    clock,
    lines,
    log,
    open(options = {}) {
      const outbox = openOutbox({
        directory,
        sinks: ['hub', 'table'],
        maxMegabytes: 256,
        clock,
        log,
        version,
        ...options,
      });
      opened.push(outbox);
      return outbox;
    },
    [Symbol.dispose]() {
      for (const outbox of opened) outbox.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The next record of this outbox's stream, about this event. */
export const recordAt = (position: number, eventId = 'EVENT-1', rest: Partial<LifecycleRecord> = {}): LifecycleRecord =>
  sampleRecord({ position, eventId, recordId: `record-${position}`, ...rest });

export function memoryOf(eventId: string, rest: Partial<EventMemory> = {}): EventMemory {
  const empty = emptyMemory(eventId, { azureAt: '2026-01-01T00:00:00.000Z', monotonicMs: 1000, bootId: 'boot-1' });
  const listed = {
    eventStatus: 'Scheduled',
    eventType: 'Freeze',
    resourceType: 'VirtualMachine',
    resources: ['web_3'],
  };
  const last = { ...empty.last, ...listed, eventSource: 'Platform', durationSeconds: 5, raw: { EventId: eventId } };
  return { ...empty, last, open: true, affectsUs: true, presentAtFirstLook: false, sequence: 1, ...rest };
}

/** Changes rows as a disk does: no trigger sees it. */
export function damage(db: DatabaseSync, sql: string): void {
  const triggers = db.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`).all();
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
  db.exec(sql);
  for (const { sql: trigger } of triggers) db.exec(String(trigger));
}

/** One observation: `count` records about this event, which is open afterwards unless said otherwise. */
export function appendRecords(
  outbox: Outbox,
  {
    eventId = 'EVENT-1',
    count = 1,
    open = true,
    bytes = 0,
  }: { eventId?: string; count?: number; open?: boolean; bytes?: number } = {},
): readonly LifecycleRecord[] {
  const { state } = outbox;
  const rest = bytes > 0 ? { description: 'x'.repeat(bytes) } : {};
  const records = Array.from({ length: count }, (_, n) =>
    recordAt(state.position + 1 + n, eventId, { streamId: state.streamId, ...rest }),
  );
  outbox.append(after(state, count, eventId, open), records);
  return records;
}

export const after = (state: LifecycleState, records: number, eventId: string, open = true): LifecycleState => ({
  ...state,
  position: state.position + records,
  events: new Map([
    ...state.events,
    [eventId.toLowerCase(), memoryOf(eventId, { open, sequence: state.position + records })],
  ]),
});

export const positions = (outbox: Outbox, sink: string, limit = 1000): number[] =>
  outbox.pending(sink, { limit }).map(({ position }) => position);

/** Settles everything that this sink has yet to get as delivered. */
export function deliverAll(outbox: Outbox, sink: string): void {
  const outcomes = positions(outbox, sink, 100_000).map((position) => ({ position, state: 'delivered' as const }));
  outbox.settle(sink, outcomes, noProgress);
}
