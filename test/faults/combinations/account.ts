import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { stepOf } from '../../../src/lifecycle/record-id.ts';
import type { Announced } from '../fleet/announced.ts';
import { type Arrived, judge } from '../fleet/judge.ts';

/** What a bridge says of one sink, read from the file that it left. */
export interface Reported {
  readonly accepted: number;
  readonly delivered: number;
  readonly pending: number;
  readonly dead: number;
  readonly expired: number;
  readonly abandoned: number;
  readonly deadPositions: ReadonlySet<number>;
  readonly discardedPositions: ReadonlySet<number>;
}

export interface Left {
  readonly streamId: string;
  /** Of the last record. */
  readonly position: number;
  readonly sinks: ReadonlyMap<string, Reported>;
}

export interface Timeline {
  readonly vm: string;
  readonly announced: readonly Announced[];
  /**
   * Steps that were seen while the outbox took no writes, and the process was then ended. The documents say that they may be lost, and that
   * the numbers of those that were sent are used again.
   */
  readonly exposed: ReadonlyMap<Announced, number>;
}

export interface Arrivals {
  readonly name: string;
  /** In the order of arrival, with all copies. */
  readonly records: readonly (Arrived & { readonly streamId: string; readonly position: number })[];
}

export interface Account {
  readonly lost: number;
  readonly copies: number;
  readonly broken: readonly string[];
}

/** What the file says, without any code of the bridge. */
export function readLeft(stateDirectory: string): Left {
  using db = new DatabaseSync(join(stateDirectory, 'outbox.sqlite'), { readOnly: true });
  const lifecycle = JSON.parse(String(db.prepare(`SELECT value FROM meta WHERE key = 'lifecycle'`).get()?.value)) as {
    readonly streamId: string;
    readonly position: number;
  };
  const tombstones = db.prepare('SELECT position, sinks FROM tombstones').all();
  const sinks = db
    .prepare('SELECT * FROM sinks')
    .all()
    .map((row): [string, Reported] => {
      const name = String(row.name);
      const dead = db.prepare(`SELECT position FROM deliveries WHERE sink = ? AND state = 'dead'`).all(name);
      const discarded = tombstones.filter((one) => (JSON.parse(String(one.sinks)) as string[]).includes(name));
      const count = (column: string): number => Number(row[column]);
      return [
        name,
        {
          ...{ accepted: count('accepted'), delivered: count('delivered'), pending: count('pending') },
          ...{ dead: count('dead'), expired: count('expired'), abandoned: count('abandoned') },
          deadPositions: new Set(dead.map(({ position }) => Number(position))),
          discardedPositions: new Set(discarded.map(({ position }) => Number(position))),
        },
      ];
    });
  return { ...lifecycle, sinks: new Map(sinks) };
}

/**
 * Compares what one sink has with what was announced, and both with what the bridge reports: what is missing is exactly what it counts as
 * expired or as a dead letter.
 */
export function account({ vm, announced, exposed }: Timeline, { name, records }: Arrivals, left: Left): Account {
  const report = left.sinks.get(name);
  if (!report) return { lost: 0, copies: 0, broken: [`the outbox has no sink ${name}`] };
  const broken: string[] = [];
  const arrived = new Set(records.filter(({ streamId }) => streamId === left.streamId).map(({ position }) => position));
  const missing = Array.from({ length: left.position }, (_, n) => n + 1).filter((position) => !arrived.has(position));
  const explained = new Set([...report.deadPositions, ...report.discardedPositions]);
  const unexplained = missing.filter((position) => !explained.has(position));
  const isExposed = exposed.size > 0;

  const events = Map.groupBy(records, ({ eventId }) => eventId.toUpperCase());
  let [missingSteps, lost] = [0, 0];
  for (const event of announced) {
    const own = events.get(event.eventId.toUpperCase()) ?? [];
    events.delete(event.eventId.toUpperCase());
    const judgement = judge([event], [vm], { [name]: exposed.has(event) ? numbered(own, event) : own });
    broken.push(...judgement.broken);
    missingSteps += judgement.lost;
    lost += Math.max(0, judgement.lost - (exposed.get(event) ?? 0));
  }
  const unannounced = [...events.values()].flat().filter(({ phase }) => phase !== 'Snapshot');
  if (unannounced.length > 0) broken.push(`${name} has ${unannounced.length} records that were not announced`);
  // Each step that is missing is a position that the bridge reports.
  const reported = missing.filter((position) => explained.has(position)).length;
  lost = Math.max(0, lost - reported, isExposed ? 0 : unexplained.length);
  if (lost > 0)
    broken.push(
      `${name}: ${missingSteps} steps and ${missing.length} positions are missing, of which the bridge reports ${reported}`,
    );

  const same = (what: string, found: number, wanted: number): void => {
    if (found !== wanted) broken.push(`${name} counts ${found} ${what} instead of ${wanted}`);
  };
  same('expired', report.expired, report.discardedPositions.size);
  same('dead', report.dead, report.deadPositions.size);
  same('pending', report.pending, 0);
  same('abandoned', report.abandoned, 0);
  if (!isExposed) same('accepted', report.accepted, left.position);
  same('delivered', report.delivered, report.accepted - report.dead - report.expired);
  const streams = new Set(records.map(({ streamId }) => streamId));
  if (streams.size > 1) broken.push(`${name} has ${streams.size} streams`);
  return { lost, copies: records.length - new Set(records.map(({ recordId }) => recordId)).size, broken };
}

/** Numbered by the order in which the steps were announced, since some of its own numbers may be there twice. */
function numbered(records: Arrivals['records'], { steps }: Announced): Arrivals['records'] {
  const ids = [...new Set(records.map(({ recordId }) => recordId))];
  const rest = new Map(steps.map((step, index) => [index + 1, step]));
  const numbers = new Map(
    ids.map((id) => {
      const phase = records.find(({ recordId }) => recordId === id)?.phase;
      const [number = steps.length + 1] = [...rest].find(([, step]) => phase && step === stepOf(phase)) ?? [];
      rest.delete(number);
      return [id, number];
    }),
  );
  return records.map((record) => ({ ...record, sequence: numbers.get(record.recordId) ?? 0 }));
}
