import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AzureSimulator } from '../../../src/azure-simulator/index.ts';
import type { StepKind } from '../../../src/lifecycle/record-id.ts';
import { readOutbox } from '../../../src/outbox/reader.ts';
import { imbalance } from '../../../src/outbox/store/counters.ts';
import { type BridgeProcess, startBridge } from '../../support/bridge-process.ts';
import { until } from '../../support/until.ts';
import type { Announced } from '../fleet/announced.ts';
import { type Arrived, type Judgement, judge } from '../fleet/judge.ts';
import { ownVm, type Phase } from './phases.ts';
import { type CallCounts, countCalls, type FileFault, readShimLog, shimEnvironment } from './shim.ts';

/** A fault in one phase; null: only to count the calls. */
export interface FileCase {
  readonly phase: Phase;
  readonly fault: FileFault | null;
  /** A life that its fault does not end is ended by SIGKILL instead of SIGTERM, once the fault happened. */
  readonly isKilledAtEnd: boolean;
}

export interface CaseResult {
  readonly fileCase: FileCase;
  readonly hasFired: boolean;
  readonly judgement: Judgement;
  /** How many records were due. */
  readonly due: number;
  /** From the start after the fault until everything had arrived. */
  readonly recoverySeconds: number;
  readonly samples: number;
  readonly imbalanced: number;
  readonly broken: readonly string[];
  /** The calls of the first life, and those before the outbox was removed. */
  readonly calls: CallCounts;
  readonly callsBeforeRemoval: CallCounts | null;
}

/** Simulated Azure and a folder, for one case at a time. */
export interface Slot {
  readonly azure: AzureSimulator;
  readonly program: string;
  readonly shim: string;
  readonly folder: string;
}

/** After this long what has not arrived is lost: under a fault, since the bridge opens a file again every five seconds, and after the next start. */
const deadlineMs = 60_000;

/** For `firstTimeoutSeconds` after its first document the bridge does not trust that an event has left. */
const settlingMs = 1200;

/**
 * Two lives of a bridge on one state directory: one with the fault, and one after it. An event is announced to the first one. Where the
 * disk took what was sent, the event ends before the second life: only an outbox that has kept it can report its end.
 */
export async function runCase(slot: Slot, fileCase: FileCase): Promise<CaseResult> {
  rmSync(slot.folder, { recursive: true, force: true });
  mkdirSync(slot.folder, { recursive: true });
  fileCase.phase.place(stateDirectoryOf(slot));
  return new TwoLives(slot, fileCase).run();
}

export const stateDirectoryOf = ({ folder }: Slot): string => join(folder, 'state');

class TwoLives {
  readonly #slot: Slot;
  readonly #case: FileCase;
  readonly #lives: BridgeRun[] = [];
  readonly #steps: StepKind[] = ['scheduled'];
  readonly #event: Announced;
  readonly #broken: string[] = [];
  #callsBeforeRemoval: CallCounts | null = null;
  /** The outbox was removed and is not recreated: a kill now loses what it held. */
  #isRemoved = false;

  constructor(slot: Slot, fileCase: FileCase) {
    this.#slot = slot;
    this.#case = fileCase;
    this.#event = { eventId: schedule(slot), eventType: 'Freeze', steps: this.#steps };
  }

  async run(): Promise<CaseResult> {
    const { fault, phase } = this.#case;
    const log = join(this.#slot.folder, 'calls.log');
    const shim = { shim: this.#slot.shim, folder: stateDirectoryOf(this.#slot), log, fault };
    const first = this.#start(shimEnvironment(shim));
    await this.#underFault(first, log);
    await this.#endOf(first, log);
    const calls = readShimLog(log);
    const recoverySeconds = await this.#afterFault();
    const judgement = this.#judged();
    const sinks = readOutbox(stateDirectoryOf(this.#slot))?.sinks ?? [];
    if (judgement.lost > 0) this.#break(`${judgement.lost} records never arrived`);
    for (const one of judgement.broken) this.#break(one);
    return {
      fileCase: this.#case,
      hasFired: hasFired(log),
      judgement,
      due: phase.due.length * 2 + 2,
      recoverySeconds,
      samples: sinks.length,
      imbalanced: sinks.filter(({ counters }) => imbalance(counters) !== 0).length,
      broken: this.#broken,
      calls: countCalls(calls),
      callsBeforeRemoval: this.#callsBeforeRemoval,
    };
  }

  /** The first life, until it has done all it can or is dead. */
  async #underFault(life: BridgeRun, log: string): Promise<void> {
    const isLasting = this.#case.fault?.isLasting === true;
    // While nothing can be read, what the outbox holds has to wait; new records do not.
    await this.#awaited(
      life,
      () => (isLasting ? this.#hasEvent() : this.#judged().lost === 0 && life.isStored),
      'the bridge did not send everything',
    );
    if (!this.#case.phase.isRemoved || life.isOver) return;
    this.#callsBeforeRemoval = countCalls(readShimLog(log));
    rmSync(this.#outbox, { force: true });
    this.#isRemoved = true;
    if (isLasting) await sleep(1500);
    else await this.#awaited(life, () => this.#isThere && life.isStored, 'the outbox was not recreated');
    this.#isRemoved = !this.#isThere;
  }

  async #endOf(life: BridgeRun, log: string): Promise<void> {
    const isFatal = /kill/.test(this.#case.fault?.action ?? '');
    // A fault that is due at the end needs one.
    const [wasOver, isKilled] = [life.isOver, this.#case.isKilledAtEnd && hasFired(log)];
    if (!wasOver) {
      life.process.kill(isKilled ? 'SIGKILL' : 'SIGTERM');
      await until(() => life.isOver, { timeoutMs: 20_000 }).catch(() => {
        this.#break('SIGTERM did not end the bridge within 20 s');
        life.process.kill('SIGKILL');
      });
    }
    const { code, signal } = await life.process.exited;
    if (isFatal && hasFired(log)) return;
    if (wasOver || (!isKilled && code !== 0)) this.#break(`the bridge ended with ${signal ?? code}: ${life.lastLine}`);
  }

  /** The second life, until everything has arrived. @returns how many seconds that took. */
  async #afterFault(): Promise<number> {
    const { fault } = this.#case;
    const isFatal = /kill/.test(fault?.action ?? '');
    const isKept = this.#hasEvent() && !this.#isRemoved && (isFatal || !fault?.isLasting);
    if (isKept) await sleep(settlingMs);
    if (isKept) this.#end();
    const began = performance.now();
    const polls = this.#polls;
    const life = this.#start();
    if (!isKept) {
      await this.#awaited(life, () => this.#polls >= polls + 2, 'the next start did not poll twice');
      await sleep(settlingMs);
      this.#end();
    }
    await until(() => life.isOver || this.#judged().lost === 0, { timeoutMs: deadlineMs }).catch(() => {});
    const seconds = (performance.now() - began) / 1000;
    if (life.isOver) this.#break(`the next start ended by itself: ${life.lastLine}`);
    life.process.kill('SIGKILL');
    await life.process.exited;
    return seconds;
  }

  get #polls(): number {
    return this.#slot.azure.imds.polls[ownVm] ?? 0;
  }

  get #arrived(): readonly Arrived[] {
    return this.#lives.flatMap((life) => life.records);
  }

  get #outbox(): string {
    return join(stateDirectoryOf(this.#slot), 'outbox.sqlite');
  }

  get #isThere(): boolean {
    return existsSync(this.#outbox);
  }

  #hasEvent(): boolean {
    return this.#arrived.some(({ eventId }) => eventId === this.#event.eventId);
  }

  #judged(): Judgement {
    const { phase } = this.#case;
    if (!this.#isRemoved) return judge([...phase.due, this.#event], [ownVm], { stdout: this.#arrived });
    const own = this.#arrived.filter(({ eventId }) => eventId === this.#event.eventId);
    return judge([this.#event], [ownVm], { stdout: own });
  }

  #end(): void {
    this.#steps.push('end');
    this.#slot.azure.imds.remove(this.#event.eventId);
  }

  #start(env: NodeJS.ProcessEnv = {}): BridgeRun {
    const life = new BridgeRun(this.#slot, env);
    this.#lives.push(life);
    return life;
  }

  async #awaited(life: BridgeRun, condition: () => boolean, problem: string): Promise<void> {
    await until(() => life.isOver || condition(), { timeoutMs: deadlineMs, everyMs: 20 }).catch(() => {
      this.#break(`${problem} within ${deadlineMs / 1000} s`);
    });
  }

  #break(what: string): void {
    const { phase, fault } = this.#case;
    const how = fault ? `, ${fault.call} ${fault.n} ${fault.action}${fault.isLasting ? ' from then on' : ''}` : '';
    this.#broken.push(`${phase.name}${how}: ${what}`);
  }
}

/** One process of a bridge that sends to standard output, and does nothing else in another process. */
export class BridgeRun {
  readonly process: BridgeProcess;
  #isOver = false;

  constructor(slot: Slot, env: NodeJS.ProcessEnv) {
    const configuration = {
      imds: { endpoint: slot.azure.imds.vmUrl(ownVm), firstTimeoutSeconds: 1 },
      stateDirectory: stateDirectoryOf(slot),
      sinks: { stdout: {} },
      log: { level: 'info' },
    };
    this.process = startBridge(configuration, { program: slot.program, env });
    void this.process.exited.then(() => {
      this.#isOver = true;
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Lines that were complete when the process ended. */
  get records(): readonly Arrived[] {
    const lines = this.process.stdout().split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Arrived);
  }

  hasLogged(code: string): boolean {
    return this.process.log.some((line) => line.code === code);
  }

  /** Nothing is only in memory, as far as the log says. */
  get isStored(): boolean {
    const lines = this.process.log.filter(({ part }) => part === 'outbox');
    const failed = lines.findLastIndex(({ undurable }) => undurable !== undefined);
    return failed === -1 || lines.findLastIndex(({ code }) => code === 'writable') > failed;
  }

  get lastLine(): string {
    return this.process.stderr().trim().split('\n').at(-1) ?? '';
  }
}

/** Announces an event of the VM. */
export const schedule = ({ azure }: Slot): string =>
  azure.imds.schedule({
    eventType: 'Freeze',
    resources: [ownVm],
    notBefore: new Date(Date.now() + 900_000),
    durationSeconds: 5,
  });

/** Whether an event that is announced now arrives, on the state directory of the last case. */
export async function freshArrives(slot: Slot): Promise<boolean> {
  const eventId = schedule(slot);
  const life = new BridgeRun(slot, {});
  const hasArrived = await until(() => life.records.some((record) => record.eventId === eventId)).catch(() => false);
  life.process.kill('SIGKILL');
  await life.process.exited;
  return hasArrived;
}

const hasFired = (log: string): boolean => readShimLog(log).some(({ call }) => call === 'fired');
