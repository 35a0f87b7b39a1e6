import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type AzureSimulator, startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import { readOutbox } from '../../../src/outbox/reader.ts';
import { imbalance } from '../../../src/outbox/store/counters.ts';
import { type BridgeConfiguration, configurationFor } from '../../support/bridge-process.ts';
import type { FaultContext, Outcome } from '../fault-test.ts';
import type { Announced } from '../fleet/announced.ts';
import { arrivedAt } from '../fleet/arrived.ts';
import { type Arrived, judge } from '../fleet/judge.ts';
import type { LogLine, Order, Reply, Resources } from './protocol.ts';

const vmName = 'web_0';
/** The counters are read, and the simulator's date follows, this often. */
const pieceMs = 60_000;
/** Less often than by default: hours of polls are what a test takes most of its time for. */
const pollSeconds = 5;

/**
 * One bridge whose hours pass in seconds, and the simulated Azure that it talks to over real sockets. Only its clock is not real: the
 * deadlines of single requests are those of the libraries, and take as long as they take.
 */
export class VirtualBridge {
  readonly azure: AzureSimulator;
  readonly announced: Announced[] = [];
  readonly log: LogLine[] = [];
  /** Polls that should have come and did not. */
  missedPolls = 0;
  readonly #child: ChildProcess;
  readonly #stateDirectory: string;
  readonly #conservation = { samples: 0, violations: 0 };
  #nowMs = Date.now();
  #ended: string | null = null;

  private constructor(azure: AzureSimulator, stateDirectory: string) {
    this.azure = azure;
    this.#stateDirectory = stateDirectory;
    this.#child = fork(join(import.meta.dirname, 'bridge-child.ts'), [], {
      execArgv: ['--expose-gc'],
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_proxy$/i.test(name))),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let stderr = '';
    this.#child.stderr?.on('data', (chunk) => {
      stderr = (stderr + chunk).slice(-4000);
    });
    this.#child.once('exit', (code, signal) => {
      this.#ended = `the bridge ended (${signal ?? code}): ${stderr}`;
      this.#child.emit('message-or-end');
    });
  }

  static async start(context: FaultContext, more: BridgeConfiguration = {}): Promise<VirtualBridge> {
    const azure = await startAzureSimulator();
    const stateDirectory = join(context.directory, 'state');
    mkdirSync(stateDirectory, { recursive: true });
    const bridge = new VirtualBridge(azure, stateDirectory);
    const configuration = configurationFor(azure, vmName, stateDirectory, {
      imds: { endpoint: azure.imds.vmUrl(vmName), firstTimeoutSeconds: 1, pollIntervalSeconds: pollSeconds },
      ...more,
    });
    await bridge.#order({ kind: 'start', sources: context.sources, configuration, stateDirectory });
    await bridge.advance(2000 * pollSeconds);
    bridge.missedPolls = 0;
    return bridge;
  }

  /** The wall clock of the bridge. */
  get now(): Date {
    return new Date(this.#nowMs);
  }

  /** After a collection of garbage. */
  async measure(): Promise<Resources> {
    const { resources } = await this.#order({ kind: 'measure' });
    if (resources === null) throw new Error('nothing was measured');
    return resources;
  }

  get conservation(): Outcome['conservation'] {
    return { ...this.#conservation };
  }

  /** Lets so much time pass for the bridge. */
  async advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= pieceMs) {
      const piece = Math.min(left, pieceMs);
      this.azure.imds.shiftDate(this.#nowMs - Date.now());
      const before = this.#polls();
      await this.#order({ kind: 'advance', ms: piece });
      // One that is due at the very end may come in the next piece.
      this.missedPolls += Math.max(0, Math.floor(piece / (1000 * pollSeconds)) - 1 - (this.#polls() - before));
      this.#sample();
    }
  }

  /** Lets time pass until this is so, and returns how many seconds that took; null where it is not after `mostSeconds`. */
  async until(condition: () => boolean, mostSeconds: number): Promise<number | null> {
    const began = this.#nowMs;
    while (!condition()) {
      if (this.#nowMs - began >= mostSeconds * 1000) return null;
      await this.advance(1000 * pollSeconds);
    }
    return (this.#nowMs - began) / 1000;
  }

  /** Schedules an event of this VM, so far ahead. */
  schedule(eventType: string, inMinutes: number): string {
    const notBefore = new Date(this.#nowMs + inMinutes * 60_000);
    const eventId = this.azure.imds.schedule({ eventType, resources: [vmName], notBefore });
    this.announced.push({ eventId, eventType, steps: ['scheduled'] });
    return eventId;
  }

  /** Ends an event that was scheduled. */
  remove(eventId: string): void {
    const index = this.announced.findIndex((event) => event.eventId === eventId);
    const event = this.announced[index];
    if (event) this.announced[index] = { ...event, steps: [...event.steps, 'end'] };
    this.azure.imds.remove(eventId);
  }

  judge(): ReturnType<typeof judge> {
    const { hub, table } = arrivedAt(this.azure);
    // A snapshot, which is due every hour, is of no event.
    const ofEvents = (records: readonly Arrived[]) => records.filter(({ phase }) => phase !== 'Snapshot');
    return judge(this.announced, [vmName], { 'the event hub': ofEvents(hub), 'the table': ofEvents(table) });
  }

  /** What the outbox says of a sink, as another process reads it. */
  sink(name: string) {
    const found = readOutbox(this.#stateDirectory)?.sinks.find((sink) => sink.name === name);
    if (!found) throw new Error(`the outbox has no sink ${name}`);
    return found;
  }

  async close(): Promise<void> {
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    if (this.#ended === null && this.#child.kill('SIGKILL')) await exited;
    await this.azure.close();
  }

  #polls(): number {
    return this.azure.imds.polls[vmName] ?? 0;
  }

  #sample(): void {
    for (const { counters } of readOutbox(this.#stateDirectory)?.sinks ?? []) {
      this.#conservation.samples += 1;
      if (imbalance(counters) !== 0) this.#conservation.violations += 1;
    }
  }

  async #order(order: Order): Promise<Reply> {
    if (this.#ended !== null) throw new Error(this.#ended);
    const reply = await new Promise<Reply>((resolve, reject) => {
      const ended = (): void => reject(new Error(this.#ended ?? 'the bridge ended'));
      this.#child.once('message-or-end', ended);
      this.#child.once('message', (message) => {
        this.#child.off('message-or-end', ended);
        resolve(message as Reply);
      });
      this.#child.send(order);
    });
    this.#nowMs = reply.nowMs;
    this.log.push(...reply.log);
    return reply;
  }
}
