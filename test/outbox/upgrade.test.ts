import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Outbox, OutboxOptions } from '../../src/outbox/outbox.ts';
import { observe, observerNamed, phaseLines } from '../support/observations.ts';
import { appendRecords, createHarness, type Harness, positions, version } from './harness.ts';

/** Beside each outbox of an earlier version: what it holds, written down by the process that wrote it. */
interface Written {
  readonly streamId: string;
  readonly position: number;
  readonly events: readonly {
    readonly key: string;
    readonly eventId: string;
    readonly open: boolean;
    readonly phase: string;
    readonly sequence: number;
    readonly recorded: Readonly<Record<string, number>>;
    readonly firstSeenAt: string;
    readonly startedAt: string | null;
  }[];
  readonly records: readonly { readonly position: number; readonly recordId: string }[];
  readonly pending: Readonly<Record<string, readonly number[]>>;
  readonly dead: Readonly<Record<string, number>>;
  readonly approved: readonly string[];
}

const root = join(import.meta.dirname, '../..');
const fixtures = join(root, 'test/fixtures/outboxes');
const unzipped = (name: string): Buffer => gunzipSync(readFileSync(join(fixtures, name)));
const writtenBy = (release: string): Written => JSON.parse(readFileSync(join(fixtures, `${release}.json`), 'utf8'));
const releases = readdirSync(fixtures).flatMap((name) => /^(.*)\.sqlite\.gz$/.exec(name)?.[1] ?? []);
const sinks = ['event-hubs', 'log-analytics'];

function place(harness: Harness, release: string): void {
  writeFileSync(join(harness.directory, 'outbox.sqlite'), unzipped(`${release}.sqlite.gz`));
}

/** Everything that was written is kept: stream, events, records with their ids, deliveries, approvals, the VM's name. */
function expectAll(outbox: Outbox, written: Written): void {
  expect(outbox.recovery).toBeNull();
  expect(outbox.state).toMatchObject({ streamId: written.streamId, position: written.position });
  expect([...outbox.state.events.keys()].sort()).toEqual(written.events.map(({ key }) => key).sort());
  for (const { key, ...expected } of written.events) expect(outbox.state.events.get(key)).toMatchObject(expected);
  for (const sink of sinks) {
    expect(positions(outbox, sink)).toEqual(written.pending[sink]);
    expect(outbox.counters()[sink]?.dead).toBe(written.dead[sink]);
    for (const { position, json } of outbox.pending(sink, { limit: 100 })) {
      expect(JSON.parse(Buffer.from(json).toString())).toMatchObject(
        written.records.find((record) => record.position === position) ?? {},
      );
    }
  }
  expect([...outbox.state.approved]).toEqual(written.approved);
  expect(outbox.storedObserver?.observer).toMatchObject({ vmName: 'web_0' });
}

describe.each(releases)('an outbox that version %s wrote', (release) => {
  const written = writtenBy(release);

  test('is opened with all its content', () => {
    using harness = createHarness();
    place(harness, release);
    expectAll(harness.open({ sinks }), written);
  });

  test('is continued: open events end, with their next sequence', () => {
    using harness = createHarness();
    place(harness, release);
    const outbox = harness.open({ sinks });
    const { state, records } = observe([{ events: [], after: 30 }, { events: [] }], {
      state: outbox.state,
      from: Date.now(),
    });
    expect(records).toMatchObject([
      { eventId: 'Reboot-2', phase: 'Ended', sequence: 2, position: written.position + 1 },
    ]);
    outbox.append(state, records);
    outbox.close();
    expect(harness.open({ sinks }).state).toMatchObject({ streamId: written.streamId, position: written.position + 1 });
  });
});

interface Release {
  openOutbox(options: OutboxOptions): Outbox;
}

/** The outbox of that version, from its own code. */
function outboxOf(release: string, directory: string): Release {
  const file = join(directory, `outbox-${release}.cjs`);
  writeFileSync(file, unzipped(`outbox-${release}.cjs.gz`));
  return createRequire(import.meta.url)(file) as Release;
}

test('a roll-back to 0.1.0 and forward again keep everything that either wrote', () => {
  using harness = createHarness();
  using code = createHarness();
  const written = writtenBy('0.1.0');
  place(harness, '0.1.0');
  const newer = harness.open({ sinks });
  appendRecords(newer, { eventId: 'NEWER-9' });
  newer.rememberObserver(observerNamed('web_0'), 'boot-1');
  newer.close();

  const line = (): void => {};
  const log = { debug: line, info: line, warn: line, error: line, child: () => log };
  const options = {
    directory: harness.directory,
    sinks,
    maxMegabytes: 256,
    clock: harness.clock,
    log,
    version: '0.1.0',
  };
  const older = outboxOf('0.1.0', code.directory).openOutbox(options);
  expect(older.recovery).toBeNull();
  expect(older.state).toMatchObject({ streamId: written.streamId, position: written.position + 1 });
  expect([...older.state.events.keys()].sort()).toEqual([...written.events.map(({ key }) => key), 'newer-9'].sort());
  appendRecords(older, { eventId: 'NEWER-9' });
  appendRecords(older, { eventId: 'OLDER-10' });
  older.rememberObserver(observerNamed('web_0'), 'boot-2');
  older.close();

  const again = harness.open({ sinks });
  expect(again.recovery).toBeNull();
  expect(again.state).toMatchObject({ streamId: written.streamId, position: written.position + 3 });
  expect(again.state.events.get('newer-9')).toMatchObject({ sequence: written.position + 2 });
  expect(again.state.events.has('older-10')).toBe(true);
  expect(again.storedObserver?.bootId).toBe('boot-2');
  for (const sink of sinks) expect(positions(again, sink).slice(-3)).toEqual([9, 10, 11]);
});

test('a key that a later version adds loses neither an event nor the stream', () => {
  using harness = createHarness();
  using later = createHarness();
  const outbox = harness.open({ sinks });
  appendRecords(outbox, { eventId: 'A', count: 3 });
  const { streamId } = outbox.state;
  outbox.close();

  cpSync(join(root, 'src'), join(later.directory, 'src'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(later.directory, 'node_modules'));
  mkdirSync(join(later.directory, 'test'));
  const add = (file: string, edits: readonly (readonly [string, string])[]): void => {
    const path = join(later.directory, 'src/lifecycle', file);
    const text = edits.reduce(
      (before, [from, to]) => {
        expect(before.split(from), `${from} in ${file}`).toHaveLength(2);
        return before.replace(from, `${from}\n${to}`);
      },
      readFileSync(path, 'utf8'),
    );
    writeFileSync(path, text);
  };
  add('state.ts', [
    ['export interface EventMemory {', 'readonly mood: string;'],
    ['export interface LifecycleState {', 'readonly weather: string;'],
    ['(streamId: string): LifecycleState => ({', `weather: 'unknown',`],
  ]);
  add('empty-memory.ts', [['(eventId: string, moment: Moment): EventMemory => ({', `mood: 'unknown',`]]);
  const script = `
    import { openOutbox } from ${JSON.stringify(join(later.directory, 'src/outbox/durable-outbox.ts'))};
    import { silentLog } from ${JSON.stringify(join(later.directory, 'src/log.ts'))};
    import { systemClock } from ${JSON.stringify(join(later.directory, 'src/clock.ts'))};
    const outbox = openOutbox({ directory: ${JSON.stringify(harness.directory)}, sinks: ${JSON.stringify(sinks)},
      maxMegabytes: 256, clock: systemClock, log: silentLog, version: ${JSON.stringify(version)} });
    const { recovery, state } = outbox;
    console.log(JSON.stringify({ recovery, ...state, events: [...state.events.values()] }));
    outbox.close();`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(JSON.parse(output)).toMatchObject({
    recovery: null,
    streamId,
    position: 3,
    weather: 'unknown',
    events: [{ eventId: 'A', sequence: 3, mood: 'unknown' }],
  });
  // And back: what it wrote is opened here.
  expect(harness.open({ sinks }).state).toMatchObject({ streamId, position: 3 });
});

interface Stored {
  readonly lifecycle: { readonly streamId: string; readonly position: number };
  readonly events: Readonly<Record<string, { readonly open: boolean }>>;
}

/** What a build before moments, snapshots and bookings wrote: rows of the state as in its file. */
const stored: Stored = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/state/before-moments.json'), 'utf8'),
);

function writeOldState(directory: string): void {
  const db = new DatabaseSync(join(directory, 'outbox.sqlite'));
  db.prepare(`UPDATE meta SET value = ? WHERE key = 'lifecycle'`).run(JSON.stringify(stored.lifecycle));
  const put = db.prepare('INSERT INTO events (eventKey, open, json) VALUES (?, ?, ?)');
  for (const [key, memory] of Object.entries(stored.events)) put.run(key, memory.open ? 1 : 0, JSON.stringify(memory));
  db.close();
}

test('an event that 0.1.0 found absent around a reset ends', () => {
  using harness = createHarness();
  harness.open().close();
  writeOldState(harness.directory);
  const outbox = harness.open();
  expect(outbox.recovery).toBeNull();
  expect(outbox.state.streamId).toBe(stored.lifecycle.streamId);
  expect(outbox.state.position).toBe(stored.lifecycle.position);
  expect([...outbox.state.events.keys()].sort()).toEqual(Object.keys(stored.events).sort());
  expect(outbox.state.snapshotDue).toBe(false);
  // It continues from there: what was open ends, and so does what had been absent around a reset.
  const { records } = observe(
    [
      { events: [], incarnation: 4, after: 400 },
      { events: [], incarnation: 4, after: 400 },
    ],
    {
      state: outbox.state,
    },
  );
  expect(phaseLines(records).map((words) => words.replace(/:.*/, ''))).toEqual(['Ended', 'Ended', 'Completed']);
  outbox.append(observe([], { state: outbox.state }).state, []);
});
