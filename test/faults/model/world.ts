import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { LifecycleRecord } from '../../../src/lifecycle/record.ts';
import type { Outbox, SinkCounters } from '../../../src/outbox/outbox.ts';
import type { Relay } from '../../../src/relay/relay.ts';
import type { Entry, SendResult, Sink } from '../../../src/sinks/sink.ts';
import { after, recordAt } from '../../outbox/harness.ts';
import type { SmallDisk } from '../../outbox/small-disk.ts';
import { delivered, forbidden, poison, tooLarge, unavailable } from '../../relay/scripted-sink.ts';
import { createFakeClock, type FakeClock, settled } from '../../support/fake-clock.ts';
import { load } from '../product.ts';
import { Divergence, Model, type Observed, type State } from './model.ts';
import type { Append, Damage, Mood } from './steps.ts';

export type Product = Awaited<ReturnType<typeof loadProduct>>;

export async function loadProduct(sources: string) {
  const { openOutbox } = await load<typeof import('../../../src/outbox/durable-outbox.ts')>(
    sources,
    'outbox/durable-outbox.ts',
  );
  const { Relay } = await load<typeof import('../../../src/relay/relay.ts')>(sources, 'relay/relay.ts');
  const { isUrgent } = await load<typeof import('../../../src/lifecycle/urgency.ts')>(sources, 'lifecycle/urgency.ts');
  const { readOutbox } = await load<typeof import('../../../src/outbox/reader.ts')>(sources, 'outbox/reader.ts');
  return { openOutbox, Relay, isUrgent, readOutbox };
}

const throttled: SendResult = {
  ...{ kind: 'retry', cause: 'throttled', code: 'http-429', reason: 'the destination asks for a pause' },
  retryAfterMs: 60_000,
};
const failures: Partial<Record<Mood, SendResult>> = {
  fails: unavailable,
  throttles: throttled,
  forbids: forbidden,
  'refuses-all': poison,
  'takes-then-fails': unavailable,
};

/** One process, from its start to its end. */
interface ProcessRun {
  readonly outbox: Outbox;
  readonly relays: readonly Relay[];
  readonly running: Promise<unknown>;
  readonly stop: AbortController;
  /** The process was killed or asked to end; `isTaken`: the destinations have what was in flight. */
  ended: { readonly isTaken: boolean } | null;
}

/** The real outbox on a real file system, a relay for each sink, and destinations that report to the model what they get. */
export class World {
  readonly clock: FakeClock = createFakeClock();
  readonly model: Model;
  readonly counts = { imbalances: 0, samples: 0, crashes: 0, damages: 0, full: 0 };
  readonly #product: Product;
  readonly #disk: SmallDisk;
  readonly #directory: string;
  readonly #moods = new Map<string, { mood: Mood; answerMs: number }>();
  /** Positions that the destinations refuse. */
  #refused = new Map<number, SendResult>();
  readonly #shortened = new Set<number>();
  readonly #codes = new Set<string>();
  /** Events in flight, by sink. */
  readonly #flying = new Set<string>();
  #maxMegabytes = 256;
  /** Began or were answered. */
  #sends = 0;
  /** At its end the last process wrote records that were in memory only. */
  #wroteAtEnd = false;
  #life: ProcessRun;
  #divergence: unknown = null;

  constructor(product: Product, disk: SmallDisk, isTight: boolean) {
    this.#product = product;
    this.#disk = disk;
    this.#directory = join(disk.path, 'state');
    mkdirSync(this.#directory);
    this.model = new Model(['hub', 'table'], this.clock.now().getTime(), isTight);
    this.#life = this.#begin();
  }

  get outbox(): Outbox {
    return this.#life.outbox;
  }

  /** Whether the log has a line with this code. */
  hasLogged(code: string): boolean {
    return this.#codes.has(code);
  }

  setMood(sink: string, mood: Mood, answerMs: number): void {
    this.#moods.set(sink, { mood, answerMs });
  }

  acceptRefused(): void {
    this.#refused = new Map();
  }

  wake(): void {
    for (const relay of this.#life.relays) relay.wake();
  }

  fill(freeBytes: number): void {
    this.#disk.fill(freeBytes);
    this.model.mayPrune = true;
    this.counts.full += 1;
  }

  empty(): void {
    this.#disk.empty();
  }

  /** Appends, in the model too. @returns a function that returns whether the relays were notified. */
  append({ eventId, count, kilobytes, open, isUrgent, refused }: Append): () => boolean {
    const { outbox } = this.#life;
    const { state } = outbox;
    const description = 'x'.repeat(kilobytes * 1024);
    const records = Array.from({ length: count }, (_, n): LifecycleRecord => {
      const eventType = isUrgent ? 'Preempt' : 'Freeze';
      const observedAt = this.clock.now().toISOString();
      return recordAt(state.position + 1 + n, eventId, {
        streamId: state.streamId,
        description,
        eventType,
        observedAt,
      });
    });
    if (refused !== 'none') this.#refused.set(state.position + 1, refused === 'poison' ? poison : tooLarge);
    let notified = false;
    const stopListening = outbox.onAppended(() => {
      notified = true;
      stopListening();
    });
    const eventKey = eventId.toLowerCase();
    const known = records.map((record) => ({ ...record, eventKey, json: JSON.stringify(record) }));
    // Before the append: at its end the relays may send at once.
    this.model.append(known, eventKey, open);
    outbox.append(after(state, count, eventId, open), records);
    return () => notified;
  }

  /** Time passes, until nothing happens at that moment. */
  async pass(ms = 0): Promise<void> {
    await this.clock.advance(ms);
    let before: number;
    do {
      before = this.#sends;
      await settled();
    } while (this.#sends !== before);
    this.model.now = this.clock.now().getTime();
  }

  async turn(turns: number): Promise<void> {
    for (let n = 0; n < turns; n += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  async crash(isTaken: boolean, meanwhile: (path: string) => void = () => {}): Promise<void> {
    const copy = mkdtempSync(join(tmpdir(), 'crash-'));
    for (const name of ['outbox.sqlite', 'outbox.sqlite-wal', 'outbox.position', 'reserve.bin']) {
      if (existsSync(join(this.#directory, name))) cpSync(join(this.#directory, name), join(copy, name));
    }
    const { undurable } = this.outbox.storage;
    await this.#end(isTaken);
    rmSync(this.#directory, { recursive: true });
    cpSync(copy, this.#directory, { recursive: true });
    rmSync(copy, { recursive: true });
    this.model.end(undurable);
    meanwhile(join(this.#directory, 'outbox.sqlite'));
    this.counts.crashes += 1;
  }

  async restart(isTaken: boolean): Promise<void> {
    this.#wroteAtEnd = this.outbox.storage.undurable > 0;
    await this.#end(isTaken);
    this.model.end(this.#life.outbox.storage.undurable);
  }

  /**
   * The next process. What was stored before is there, whatever the bound is now. `mayExpire`: the end of the process was not observed, in
   * which what it wrote at last may have needed room.
   */
  async begin({ maxMegabytes = this.#maxMegabytes, mayExpire = this.#wroteAtEnd } = {}): Promise<void> {
    this.#maxMegabytes = maxMegabytes;
    this.#wroteAtEnd = false;
    const { mayExpire: before } = this.model;
    this.model.mayExpire = before && mayExpire;
    this.#life = this.#begin(() => this.observe());
    this.model.mayExpire = before;
    const { fill, storage } = this.outbox;
    const content = this.#contentBytes();
    if (!storage.fault && content > fill.limitBytes)
      throw new Divergence(`the outbox starts with ${content} bytes and a bound of ${fill.limitBytes}`);
  }

  damage(kind: Damage, where: number): (path: string) => void {
    return (path) => {
      const log = `${path}-wal`;
      const logBytes = existsSync(log) ? statSync(log).size : 0;
      this.counts.damages += 1;
      const isOfLog = kind === 'log-removed' || (kind === 'log-bit' && logBytes > 32);
      this.model.damage(isOfLog ? 'log' : 'file');
      if (kind === 'empty') truncateSync(path, 0);
      else if (kind === 'log-removed') rmSync(log, { force: true });
      else if (isOfLog) {
        const at = 32 + (where % (logBytes - 32));
        overwrite(log, at, Buffer.from([(readFileSync(log)[at] ?? 0) ^ (1 << (where % 8))]));
      } else overwrite(path, 4096 * (where % (statSync(path).size / 4096)), Buffer.alloc(4096, 0xa5));
    };
  }

  /** What another process would read. */
  isCommittedUpTo(position: number): boolean {
    return (this.#product.readOutbox(this.#directory)?.position ?? 0) >= position;
  }

  observe(): void {
    if (this.#divergence) throw this.#divergence;
    this.model.observe(this.#look());
    for (const counters of Object.values(this.outbox.counters())) this.#sample(counters);
    for (const { counters } of this.#product.readOutbox(this.#directory)?.sinks ?? []) this.#sample(counters);
  }

  async close(): Promise<void> {
    await this.#end(false);
    this.#disk.empty();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Of the records in the file, while no process has it open; without the rows of an append that did not end. */
  storedPositions(): ReadonlySet<number> {
    const committed = this.#product.readOutbox(this.#directory)?.position ?? 0;
    using db = new DatabaseSync(join(this.#directory, 'outbox.sqlite'), { readOnly: true });
    return new Set(
      db
        .prepare('SELECT position FROM records WHERE position <= ?')
        .all(committed)
        .map(({ position }) => Number(position)),
    );
  }

  /** Of the pages that hold something. */
  #contentBytes(): number {
    using db = new DatabaseSync(join(this.#directory, 'outbox.sqlite'), { readOnly: true });
    const row = db.prepare(`SELECT (page_count - freelist_count) * page_size AS bytes
      FROM pragma_page_count, pragma_freelist_count, pragma_page_size`);
    return Number(row.get()?.bytes);
  }

  #look(): Observed {
    const { outbox } = this.#life;
    const { state, storage } = outbox;
    using db = new DatabaseSync(join(this.#directory, 'outbox.sqlite'), { readOnly: true });
    const positions = (sql: string): Record<string, unknown>[] => db.prepare(sql).all();
    const tombstones = positions('SELECT position, sinks FROM tombstones').flatMap(({ position, sinks }) =>
      (JSON.parse(String(sinks)) as string[]).map((sink) => `${sink} ${position}`),
    );
    const rows = positions(`SELECT sink, position, iif(code = 'purged', code, state) AS state FROM deliveries`);
    const stored = positions(`SELECT position, crc FROM records WHERE position <= ${state.position} ORDER BY position`);
    return {
      streamId: state.streamId,
      position: state.position,
      open: new Map([...state.events].map(([key, { open }]) => [key, open])),
      pending: Object.fromEntries(
        this.model.sinks.map((sink) => [sink, outbox.pending(sink, { limit: 1e6 }).map(({ position }) => position)]),
      ),
      counters: outbox.counters(),
      tombstones: new Set(tombstones),
      rows: new Map(rows.map(({ sink, position, state }) => [`${sink} ${position}`, state as State])),
      stored: storage.fault ? null : new Map(stored.map(({ position, crc }) => [Number(position), Number(crc)])),
      onlyInMemory: storage.undurable,
    };
  }

  #sample({ accepted, delivered: got, pending, dead, expired, abandoned }: SinkCounters): void {
    this.counts.samples += 1;
    if (accepted !== got + pending + dead + expired + abandoned) this.counts.imbalances += 1;
  }

  #begin(opened: () => void = () => {}): ProcessRun {
    const { openOutbox, Relay: RelayOfProduct, isUrgent } = this.#product;
    const line = ({ code }: { readonly code?: string }): void => {
      if (code) this.#codes.add(code);
    };
    const log = { debug: line, info: line, warn: line, error: line, child: () => log };
    const common = { clock: this.clock, log };
    const { sinks } = this.model;
    const bound = { maxMegabytes: this.#maxMegabytes, version: '1.2.3' };
    const outbox = openOutbox({ ...common, ...bound, directory: this.#directory, sinks });
    const stop = new AbortController();
    const life = {
      outbox,
      stop,
      relays: [] as Relay[],
      running: Promise.resolve<unknown>(null),
      ended: null,
    } as ProcessRun;
    this.#life = life;
    this.#flying.clear();
    opened();
    const random = (): number => 0.5;
    const relays = sinks.map((name) => {
      return new RelayOfProduct({ ...common, sink: this.#sink(name, life), outbox, isUrgent, random });
    });
    const running = Promise.all(relays.map((relay) => relay.run(stop.signal)));
    return Object.assign(life, { relays, running });
  }

  async #end(isTaken: boolean): Promise<void> {
    const { stop, relays, running, outbox } = this.#life;
    this.#life.ended = { isTaken };
    stop.abort();
    await running;
    for (const relay of relays) relay.close();
    outbox.close();
    await settled();
  }

  #sink(name: string, life: ProcessRun): Sink {
    return {
      name,
      batchBy: name === 'hub' ? 'event' : 'any',
      inFlight: name === 'hub' ? 4 : 1,
      limits: { records: name === 'stdout' ? 2 : 100, bytes: 256 * 1024 },
      send: (batch, signal) => this.#send(name, life, batch, signal),
      check: async () => ({ ok: true, code: 'ok', detail: '' }),
      close: async () => {},
    };
  }

  async #send(sink: string, life: ProcessRun, batch: readonly Entry[], signal: AbortSignal): Promise<SendResult> {
    const records = batch.map(({ json }) => {
      const { position, streamId, eventId } = JSON.parse(String(json)) as LifecycleRecord;
      const isShortened = this.#shortened.has(position);
      return { position, streamId, eventKey: eventId.toLowerCase(), json: String(json), isShortened };
    });
    const flights = [...new Set(records.map(({ eventKey }) => `${sink} ${eventKey}`))];
    const { mood, answerMs } = this.#moods.get(sink) ?? { mood: 'delivers', answerMs: 0 };
    const refusal = records.map(({ position }) => this.#refused.get(position)).find((result) => result !== undefined);
    const result = failures[mood] ?? refusal ?? delivered;
    const isStored = result === delivered || (mood === 'takes-then-fails' && !refusal);
    this.#sends += 1;
    this.#noted(() => {
      this.model.send(sink, records);
      for (const flight of flights) {
        if (this.#flying.has(flight)) throw new Divergence(`${flight} is in flight twice`);
        this.#flying.add(flight);
      }
    });
    if (answerMs > 0) await this.clock.sleep(answerMs, signal);
    this.#sends += 1;
    const isInterrupted = life.ended !== null || signal.aborted;
    this.#noted(() => {
      for (const flight of isInterrupted ? [] : flights) this.#flying.delete(flight);
      if (isStored && (!isInterrupted || life.ended?.isTaken))
        for (const record of records) this.model.store(sink, record, !isInterrupted && result === delivered);
      const [first] = records;
      if (isInterrupted || result.kind !== 'rejected' || records.length !== 1 || !first) return;
      this.model.refuse(sink, first.position);
      if (result.cause === 'too-large') this.#shortened.add(first.position);
    });
    return isInterrupted ? unavailable : result;
  }

  /** A divergence is not the relay's to see, which would take it for a failure of the sink. */
  #noted(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#divergence ??= error;
    }
  }
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const fd = openSync(path, 'r+');
  writeSync(fd, bytes, 0, bytes.length, at);
  closeSync(fd);
}
