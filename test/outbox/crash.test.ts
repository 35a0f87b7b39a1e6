import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundle } from '../../infra/package/bundle.ts';
import { readOutbox } from '../../src/outbox/reader.ts';
import { imbalance } from '../../src/outbox/store/counters.ts';
import { runs } from '../support/runs.ts';
import { createHarness } from './harness.ts';

/** Each is the start of a process, which takes seconds on a busy machine. */
const kills = runs('kills of a writer', { quick: 5, full: 20 });

const folder = mkdtempSync(join(tmpdir(), 'writer-'));
/** Bundled, it starts in half the time. */
const writerFile = join(folder, 'writer-process.cjs');
beforeAll(async () => {
  await bundle(writerFile, { entryPoints: [join(import.meta.dirname, 'writer-process.ts')], minify: false });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the writer on this directory, kills it a random time after this many lines, and returns the lines. */
async function runAndEnd(
  directory: string,
  lines: number,
  end: (writer: ChildProcess) => void = (writer) => writer.kill('SIGKILL'),
): Promise<{ readonly written: readonly string[]; readonly signal: string }> {
  const writer = spawn(process.execPath, [writerFile, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const written: string[] = [];
  const exited = once(writer, 'exit');
  for await (const line of createInterface({ input: writer.stdout })) {
    written.push(line);
    if (written.length === lines) setTimeout(() => end(writer), Math.random() * 20);
  }
  const [, signal] = await exited;
  return { written, signal };
}

const numbers = (written: readonly string[], kind: string): number[] =>
  written.filter((line) => line.startsWith(`${kind} `)).map((line) => Number(line.slice(2)));

describe(`a writer that is killed ${kills} times`, () => {
  test('finds every record that was reported durable, and no delivered record pending', async () => {
    using harness = createHarness();
    let appended = 0;
    const delivered = new Set<number>();
    for (let n = 0; n < kills; n += 1) {
      const { written, signal } = await runAndEnd(harness.directory, 2 + Math.floor(Math.random() * 120));
      expect(signal).toBe('SIGKILL');
      expect(written[0]).toBe('ready');
      appended = Math.max(appended, ...numbers(written, 'a'));
      for (const position of numbers(written, 'd')) delivered.add(position);

      // Read as another process would, before anything is repaired.
      const report = readOutbox(harness.directory);
      expect(report?.position).toBeGreaterThanOrEqual(appended);
      expect(report?.recovery).toBeNull();
      for (const { counters } of report?.sinks ?? []) expect(imbalance(counters)).toBe(0);
    }
    const outbox = harness.open({ sinks: ['hub', 'auditor'] });
    const { position, events } = outbox.state;
    const all = outbox.pending('auditor', { limit: 1_000_000 });
    expect(all.map((entry) => entry.position)).toEqual(Array.from({ length: position }, (_, n) => n + 1));
    expect(all.every((entry) => JSON.parse(String(entry.json)).position === entry.position)).toBe(true);
    const pending = outbox.pending('hub', { limit: 1_000_000 }).map((entry) => entry.position);
    expect(pending.filter((entry) => delivered.has(entry))).toEqual([]);
    expect(outbox.counters().hub).toMatchObject({
      accepted: position,
      pending: pending.length,
      delivered: position - pending.length,
    });
    // State and records are of one transaction: the newest record of each event is the last one in its memory.
    const newest = new Map(all.map((entry) => [entry.eventKey, entry.position]));
    for (const [key, memory] of events) expect(newest.get(key)).toBe(memory.sequence);
    console.log(`  ${kills} kills, ${position} records, ${delivered.size} deliveries known, none lost`);
  }, 120_000);
});

test.skipIf(process.platform !== 'linux')(
  'a writer whose index of the log is truncated by another program crashes, and the next start finds everything',
  async () => {
    using harness = createHarness();
    const { written, signal } = await runAndEnd(harness.directory, 40, () =>
      truncateSync(join(harness.directory, 'outbox.sqlite-shm')),
    );
    expect(signal).toBe('SIGBUS');
    const outbox = harness.open({ sinks: ['hub', 'auditor'] });
    expect(outbox.recovery).toBeNull();
    expect(outbox.state.position).toBeGreaterThanOrEqual(Math.max(...numbers(written, 'a')));
    const all = outbox.pending('auditor', { limit: 1_000_000 }).map(({ position }) => position);
    expect(all).toEqual(Array.from({ length: outbox.state.position }, (_, n) => n + 1));
  },
  60_000,
);
