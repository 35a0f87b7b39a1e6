import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type AzureSimulator, startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import type { StepKind } from '../../../src/lifecycle/record-id.ts';
import type { SinkCounters } from '../../../src/outbox/outbox.ts';
import { readOutbox } from '../../../src/outbox/reader.ts';
import type { Random } from '../../fleet-model/random.ts';
import type { SmallDisk } from '../../outbox/small-disk.ts';
import { configurationFor } from '../../support/bridge-process.ts';
import type { Announced } from '../fleet/announced.ts';
import { arrivedAt } from '../fleet/arrived.ts';
import { type Arrivals, account, readLeft } from './account.ts';
import type { Bridges } from './bridges.ts';
import type { Combination } from './draw.ts';
import type { Order, Reply, Trigger } from './protocol.ts';

const vm = 'web_0';
const markedEvent = 'BADC0DE0-0000-4000-8000-000000000000';
const pollSeconds = 5;
/** The disk is so large that 5 % of it are far more than what waits. */
export const ampleBytes = 400 * 2 ** 20;
/** How the log names an outbox that takes no writes. */
const noWrites = /^(sqlite-\d+|E[A-Z]{3,})$/;

type Mood = Combination['hub'];

/** An {@link Announced} to which steps are added. */
interface Mutable {
  eventId: string;
  readonly eventType: string;
  readonly steps: StepKind[];
}

/** What a case did and what it found. */
export interface Played {
  readonly lost: number;
  readonly copies: number;
  readonly allowedCopies: number;
  readonly samples: number;
  readonly violations: number;
  readonly freshArrived: boolean;
  readonly broken: readonly string[];
  /** What really happened, with how often. */
  readonly happened: Readonly<Record<string, number>>;
}

/** How a process is to be ended, beside by its trigger. */
export interface Ending {
  readonly how: 'SIGTERM' | 'SIGKILL';
  /** Armed at its start. */
  readonly trigger: Trigger | null;
  /** What is counted where the trigger was met. */
  readonly name: string;
}

/** What one combination runs in: simulated Azure, a disk, and bridges that follow each other. */
export class Stage {
  readonly azure: AzureSimulator;
  readonly stateDirectory: string;
  readonly happened: Record<string, number> = {};
  readonly broken: string[] = [];
  readonly random: Random;
  readonly disk: SmallDisk;
  /** Called before each start but the first one; the bridge is not running. */
  beforeRestart: () => Promise<void> | void = () => {};
  /** The endings that are left. */
  endings: Ending[] = [];
  /** Whether the outbox may have no room, or its disk may refuse writes, at this moment. */
  mayRefuse = false;
  /** How many records it may have discarded by now; null: any number. */
  mostExpired: number | null = 0;
  /** How many of the endings may be armed. */
  mayArm = Number.POSITIVE_INFINITY;
  readonly #bridges: Bridges;
  readonly #folder: string;
  readonly #announced: Announced[] = [];
  readonly #exposed = new Map<Announced, number>();
  /** Announced while this process runs. */
  #recent: Announced[] = [];
  #sawRefusal = false;
  #starts = 0;
  #nowMs = Date.now();
  #copies: Readonly<Record<string, number>> = {};
  readonly #before: Readonly<Record<string, number>>;
  #counters: readonly SinkCounters[] = [];
  #samples = 0;
  #violations = 0;

  private constructor(azure: AzureSimulator, options: StageOptions, last: Reply) {
    this.azure = azure;
    this.#bridges = options.bridges;
    this.#folder = options.folder;
    this.random = options.random;
    this.disk = options.disk;
    this.stateDirectory = join(options.disk.path, 'state');
    this.#before = { ...last.copies };
    this.#learn(last);
  }

  static async open(options: StageOptions): Promise<Stage> {
    const azure = await startAzureSimulator({ directory: options.certificates });
    return new Stage(azure, options, await options.bridges.order({ kind: 'advance', ms: 1 }));
  }

  get recoveries(): number {
    return this.#starts - 1;
  }

  get sawRefusal(): boolean {
    return this.#sawRefusal;
  }

  count(what: string, times = 1): void {
    this.happened[what] = (this.happened[what] ?? 0) + times;
  }

  /** Bytes of the file and its log. */
  get storedBytes(): number {
    const size = (name: string): number =>
      statSync(join(this.stateDirectory, name), { throwIfNoEntry: false })?.size ?? 0;
    return size('outbox.sqlite');
  }

  /** Of both sinks, as last read from the file. */
  expired(): number {
    return this.#counters.reduce((sum, { expired }) => sum + expired, 0);
  }

  /** Of the sink with more. */
  pending(): number {
    return Math.max(0, ...this.#counters.map(({ pending }) => pending));
  }

  setMoods(hub: Mood, table: Mood): void {
    const { eventHubs, logAnalytics } = this.azure;
    const isMarked = (text: unknown): boolean => String(text).toUpperCase().includes(markedEvent);
    if (hub === 'up') eventHubs.fault(null);
    else if (hub === 'slow') eventHubs.fault({ delayMs: 5 });
    else if (hub === 'throttling') eventHubs.fault('server-busy');
    else if (hub === 'down') eventHubs.fault('force-close');
    else if (hub === 'loses answers') eventHubs.fault('accept-then-drop', 3);
    else eventHubs.fault({ reject: 'amqp:invalid-field', when: isMarked });
    if (table === 'up') logAnalytics.fault(null);
    else if (table === 'slow') logAnalytics.fault({ delayMs: 20 });
    else if (table === 'throttling') logAnalytics.fault({ status: 429, headers: { 'retry-after': '60' } });
    else if (table === 'down') logAnalytics.fault({ status: 503 });
    else if (table === 'loses answers') logAnalytics.fault('accept-then-reset', 3);
    else logAnalytics.fault({ refuseRows: ({ EventId }) => isMarked(EventId) });
  }

  async start(): Promise<void> {
    mkdirSync(this.#folder, { recursive: true });
    const configuration = configurationFor(this.azure, vm, this.stateDirectory, {
      imds: { endpoint: this.azure.imds.vmUrl(vm), firstTimeoutSeconds: 1, pollIntervalSeconds: pollSeconds },
    });
    this.#recent = [];
    this.#sawRefusal = false;
    this.#starts += 1;
    await this.#order({
      ...{ kind: 'start', configuration, stateDirectory: this.stateDirectory },
      ...{ aside: join(this.#folder, 'aside'), tokens: this.azure.imds.url },
    });
    await this.arm();
  }

  /** From now on the trigger of the next ending kills the process. */
  async arm(): Promise<void> {
    const trigger = this.endings[0]?.trigger;
    if (!trigger || this.mayArm <= 0) return;
    this.mayArm -= 1;
    await this.#order({ kind: 'arm', trigger });
  }

  /** Ends the process as the first of the endings says, and starts the next one. */
  async end(): Promise<void> {
    const [ending] = this.endings;
    if (!ending) return;
    await this.#order({ kind: ending.how === 'SIGTERM' ? 'terminate' : 'kill' });
    await this.#ended(ending.how);
  }

  /** Ends the process by SIGTERM, beside the endings. */
  async restart(): Promise<void> {
    this.endings = [{ how: 'SIGTERM', trigger: null, name: 'SIGTERM' }, ...this.endings];
    await this.end();
  }

  async terminate(): Promise<void> {
    await this.#order({ kind: 'terminate' });
  }

  async stepClock(ms: number): Promise<void> {
    await this.#order({ kind: 'step clock', ms });
    this.count('steps of the clock');
  }

  /** Time passes. A process that its trigger killed is followed by the next one. */
  async advance(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= pollSeconds) {
      this.azure.imds.shiftDate(this.#nowMs - Date.now());
      const reply = await this.#order({ kind: 'advance', ms: 1000 * Math.min(left, pollSeconds) });
      this.sample();
      if (!reply.isRunning) await this.#ended(this.endings[0]?.name ?? 'SIGKILL');
    }
  }

  /** One process has polled the document as it is now, and once more. */
  async observed(): Promise<void> {
    const documents = (): number => this.azure.imds.documentsSent[vm] ?? 0;
    let mark = { starts: this.#starts, documents: documents() };
    for (let tries = 0; documents() < mark.documents + 3; tries += 1) {
      if (tries > 100) throw new Error('the bridge does not poll');
      await this.advance(pollSeconds);
      if (mark.starts !== this.#starts) mark = { starts: this.#starts, documents: documents() };
    }
  }

  /** Events in one document, each with these steps; each change is observed. */
  async announce(
    count: number,
    { between = [], description = 'Moved.', isEnded = true, isMarked = false }: AnnounceOptions = {},
  ): Promise<readonly Announced[]> {
    const { imds } = this.azure;
    const change = async (edit: (event: Mutable) => void): Promise<void> => {
      imds.change(() => events.forEach(edit));
      this.#recent.push(...events);
      await this.observed();
    };
    const notBefore = new Date(this.#nowMs + 24 * 3_600_000);
    const eventType = this.random.pick(['Freeze', 'Reboot', 'Redeploy', 'Preempt']);
    const events: readonly Mutable[] = Array.from({ length: count }, () => ({ eventId: '', eventType, steps: [] }));
    await change((event) => {
      const id = isMarked ? { eventId: markedEvent } : {};
      event.eventId = imds.schedule({ ...id, eventType, resources: [vm], notBefore, description, durationSeconds: 5 });
      event.steps.push('scheduled');
      this.#announced.push(event);
    });
    for (const step of between) {
      await change(({ eventId, steps }) => {
        steps.push(step);
        if (step === 'started') imds.start(eventId);
        else imds.update(eventId, { durationSeconds: 5 + steps.length });
      });
    }
    if (isEnded) {
      await change(({ eventId, steps }) => {
        steps.push('end');
        imds.remove(eventId);
      });
    }
    return events;
  }

  /** The folder is renamed under the running bridge, which creates it again. */
  async moveDirectory(): Promise<void> {
    if (!existsSync(this.stateDirectory)) return;
    // Until the files are created again, a kill would lose them: the documents say so.
    await this.#order({ kind: 'arm', trigger: null });
    renameSync(this.stateDirectory, `${this.stateDirectory}.moved`);
    await this.advance(3 * pollSeconds);
    await this.arm();
    rmSync(`${this.stateDirectory}.moved`, { recursive: true });
    if (existsSync(join(this.stateDirectory, 'outbox.sqlite'))) this.count('directories created again');
  }

  /** Once nothing is left to send; the bridge has ended. */
  async judge(fresh: readonly Announced[]): Promise<Played> {
    this.sample();
    const left = readLeft(this.stateDirectory);
    const { hub, table } = arrivedAt(this.azure);
    const timeline = { vm, announced: this.#announced, exposed: this.#exposed };
    const arrivals = [
      { name: 'event-hubs', records: hub },
      { name: 'log-analytics', records: table },
    ] as unknown as readonly Arrivals[];
    const found = arrivals.map((one) => account(timeline, one, left));
    const freshMissing = arrivals.flatMap((one) =>
      fresh.filter(({ eventId }) => !one.records.some((record) => record.eventId.toUpperCase() === eventId)),
    );
    const expired = this.expired();
    this.count('records discarded', expired);
    const { eventHubs, logAnalytics } = this.azure;
    this.count(
      'refusals of a sink',
      eventHubs.faultsPlayed + logAnalytics.requests.filter(({ status }) => status >= 400).length,
    );
    this.count(
      'dead letters',
      [...left.sinks.values()].reduce((sum, { dead }) => sum + dead, 0),
    );
    const allowed = Object.entries(this.#copies).reduce(
      (sum, [sink, count]) => sum + count - (this.#before[sink] ?? 0),
      0,
    );
    return {
      lost: found.reduce((sum, { lost }) => sum + lost, 0),
      copies: found.reduce((sum, { copies }) => sum + copies, 0),
      allowedCopies: allowed,
      samples: this.#samples,
      violations: this.#violations,
      freshArrived: freshMissing.length === 0,
      broken: [
        ...this.broken,
        ...found.flatMap(({ broken }) => broken),
        ...(freshMissing.length > 0 ? ['a fresh event did not arrive'] : []),
        ...(this.#violations > 0 ? [`the counters did not add up in ${this.#violations} samples`] : []),
      ],
      happened: this.happened,
    };
  }

  async close(): Promise<void> {
    await this.#bridges.order({ kind: 'terminate' }).catch(() => {});
    await this.azure.close();
    this.disk.mount('rw');
    for (const path of [this.stateDirectory, `${this.stateDirectory}.moved`, this.#folder])
      rmSync(path, { recursive: true, force: true });
  }

  /** What the outbox must never do is noticed when it does it. */
  #checkExpired(): void {
    const expired = this.expired();
    if (this.mostExpired !== null && expired > this.mostExpired)
      this.broken.push(`${expired} records were discarded, although there was room for all but ${this.mostExpired}`);
    this.mostExpired = this.mostExpired === null ? null : Math.max(expired, this.mostExpired);
  }

  async #ended(name: string): Promise<void> {
    this.endings = this.endings.slice(1);
    this.count(`ended: ${name}`);
    if (this.#sawRefusal) {
      for (const event of this.#recent) this.#exposed.set(event, (this.#exposed.get(event) ?? 0) + 1);
    }
    await this.beforeRestart();
    await this.start();
  }

  /** Each reply has what the bridge has logged since the one before, whichever order it answers. */
  async #order(order: Order): Promise<Reply> {
    const reply = await this.#bridges.order(order);
    this.#learn(reply);
    return reply;
  }

  #learn({ nowMs, faults, failure, copies }: Reply): void {
    this.#nowMs = nowMs;
    this.#copies = { ...copies };
    if (failure !== null) throw new Error(`the bridge ended: ${failure}`);
    const refusals = faults.filter((code) => noWrites.test(code));
    if (refusals.length === 0) return;
    this.#sawRefusal = true;
    if (!this.mayRefuse) this.broken.push(`the outbox takes no writes (${refusals[0]}), although there is room`);
  }

  /** Reads the counters, as another process does. */
  sample(): void {
    try {
      this.#counters = (readOutbox(this.stateDirectory)?.sinks ?? []).map(({ counters }) => counters);
    } catch {
      // It is being created, or replaced.
      return;
    }
    for (const { accepted, delivered, pending, dead, expired, abandoned } of this.#counters) {
      this.#samples += 1;
      if (accepted !== delivered + pending + dead + expired + abandoned) this.#violations += 1;
    }
    this.#checkExpired();
  }
}

export interface StageOptions {
  readonly bridges: Bridges;
  readonly disk: SmallDisk;
  /** A folder on another disk. */
  readonly folder: string;
  readonly certificates: string;
  readonly random: Random;
}

export interface AnnounceOptions {
  readonly between?: readonly ('updated' | 'started')[];
  readonly description?: string;
  readonly isEnded?: boolean;
  /** The one whose records are refused. */
  readonly isMarked?: boolean;
}
