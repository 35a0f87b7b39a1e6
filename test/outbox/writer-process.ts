/**
 * A process that appends and settles until it is killed: `node writer-process.ts <directory>`. Writes a line for what it
 * was reported durable: `a <position>` of the newest record, `d <position>` of one that was settled.
 */
import { writeSync } from 'node:fs';
import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import { openOutbox } from '../../src/outbox/durable-outbox.ts';
import { noProgress } from '../../src/outbox/outbox.ts';
import { appendRecords } from './harness.ts';

const directory = process.argv[2] ?? '';
const outbox = openOutbox({
  directory,
  sinks: ['hub'],
  maxMegabytes: 256,
  clock: systemClock,
  log: silentLog,
  version: '1.0.0',
});
const report = (line: string): number => writeSync(1, `${line}\n`);

outbox.onAppended((records) => report(`a ${records.at(-1)?.position}`));

const countDelivered = (): number => outbox.counters().hub?.delivered ?? 0;
/** Positions in the order in which they were settled, until the outbox counts them: then they are committed. */
const settled: number[] = [];
let delivered = countDelivered();

function turn(n: number): void {
  // Now and then more than one transaction.
  appendRecords(outbox, { eventId: `EVENT-${n % 5}`, count: n % 40 === 39 ? 300 : 1 + (n % 3), bytes: 200 });
  if (n % 3 === 0) {
    const first = outbox.pending('hub', { limit: 5 }).map(({ position }) => position);
    outbox.settle(
      'hub',
      first.map((position) => ({ position, state: 'delivered' as const })),
      noProgress,
    );
    settled.push(...first);
  }
  const before = delivered;
  delivered = countDelivered();
  for (const position of settled.splice(0, delivered - before)) report(`d ${position}`);
  if (n % 20 === 0) outbox.maintain();
  setImmediate(() => turn(n + 1));
}

if (outbox.storage.fault) throw new Error(outbox.storage.fault.reason);
report('ready');
turn(1);
