import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AzureSimulator, startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import { systemClock } from '../../../src/clock.ts';
import { askService } from '../../../src/health/status-client.ts';
import type { StepKind } from '../../../src/lifecycle/record-id.ts';
import { readOutbox } from '../../../src/outbox/reader.ts';
import { imbalance } from '../../../src/outbox/store/counters.ts';
import type { Random } from '../../fleet-model/random.ts';
import {
  type BridgeConfiguration,
  type BridgeProcess,
  configurationFor,
  startBridge,
} from '../../support/bridge-process.ts';
import { until } from '../../support/until.ts';
import type { FaultContext, Outcome } from '../fault-test.ts';
import type { Announced } from './announced.ts';
import { arrivedAt } from './arrived.ts';
import { type Arrived, judge } from './judge.ts';

/** One VM with a bridge, which may be killed and started again. */
export interface Vm {
  readonly name: string;
  /** For this process. */
  readonly stateDirectory: string;
  /** Null while none runs. */
  bridge: BridgeProcess | null;
  /** Counts the starts: a poll belongs to the process of its time. */
  starts: number;
}

/** A file system that only some processes see. */
export interface Disk {
  /** Its folder, for the processes that see it, and for this one. */
  readonly path: string;
  readonly outside: string;
  /** A command with this in front of it sees it. */
  readonly enter: readonly string[];
}

export interface FleetOptions {
  /** Where the state directories are; default: in the folder of the test. */
  readonly disk?: Disk;
  readonly vms?: readonly string[];
  readonly configuration?: BridgeConfiguration;
  /** Added to the environment of each bridge. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Simulated Azure and real bridges in processes of their own. It announces events, and knows what was announced; it outlives every bridge. */
export class FleetUnderTest {
  readonly azure: AzureSimulator;
  readonly vms: readonly Vm[];
  readonly announced: Announced[] = [];
  readonly #context: FaultContext;
  readonly #configuration: BridgeConfiguration;
  readonly #env: NodeJS.ProcessEnv;
  readonly #disk: Disk;
  /** Off while a read of the outboxes would block this process. */
  isSampling = true;
  readonly #conservation = { samples: 0, violations: 0 };
  readonly #sampling: NodeJS.Timeout;
  /** State directories whose service was asked and has not responded yet. */
  readonly #asked = new Set<string>();

  private constructor(azure: AzureSimulator, context: FaultContext, options: FleetOptions) {
    const { vms = ['web_0', 'web_1'], configuration = {}, env = {} } = options;
    this.#disk = options.disk ?? { path: context.directory, outside: context.directory, enter: [] };
    this.azure = azure;
    this.#context = context;
    this.#configuration = configuration;
    this.#env = env;
    this.vms = vms.map((name) => {
      return { name, stateDirectory: join(this.#disk.outside, name), bridge: null, starts: 0 };
    });
    this.#sampling = setInterval(() => this.#sample(), 1000);
  }

  static async start(context: FaultContext, options: FleetOptions = {}): Promise<FleetUnderTest> {
    const names = options.vms ?? ['web_0', 'web_1'];
    return new FleetUnderTest(await startAzureSimulator({ vms: names.map((name) => ({ name })) }), context, options);
  }

  /** @param more of the configuration, for this start. */
  startBridge(vm: Vm, env: NodeJS.ProcessEnv = {}, more: BridgeConfiguration = {}): BridgeProcess {
    const configuration = configurationFor(this.azure, vm.name, join(this.#disk.path, vm.name), {
      log: { level: 'warn' },
      ...this.#configuration,
      ...more,
    });
    vm.starts += 1;
    const { enter } = this.#disk;
    vm.bridge = startBridge(configuration, { program: this.#context.program, env: { ...this.#env, ...env }, enter });
    return vm.bridge;
  }

  /**
   * Waits until every bridge has received a document. Before that a request has a second, too little on a busy machine, and a bridge may
   * ask again without having seen anything.
   */
  async firstDocuments(): Promise<void> {
    const hasOne = ({ stateDirectory }: Vm): boolean => {
      try {
        return (readOutbox(stateDirectory)?.lastDocumentAt ?? null) !== null;
      } catch {
        return false; // it is being created
      }
    };
    await until(() => this.vms.every(hasOne), { what: 'a document for each bridge', timeoutMs: 60_000, everyMs: 100 });
  }

  async kill(vm: Vm, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const { bridge } = vm;
    vm.bridge = null;
    bridge?.kill(signal);
    await bridge?.exited;
  }

  /**
   * An event from its announcement to its end, with random steps. Each change stays listed until every bridge has polled it and asked again,
   * in one process: a bridge asks again only after it has stored what it saw, so from then on the step is due at both sinks.
   */
  announce(random: Random): Promise<void> {
    const updates = Array.from({ length: random.int(0, 2) }, () => 'updated' as const);
    return this.#announce(random, [...updates, ...(random.chance(0.8) ? ['started' as const] : [])]);
  }

  /** `between`: the steps between the first and the last one. */
  async #announce(random: Random, between: readonly ('updated' | 'started')[]): Promise<void> {
    const { imds } = this.azure;
    const eventType = random.pick(['Freeze', 'Reboot', 'Redeploy']);
    const resources = this.vms.map(({ name }) => name);
    const notBefore = new Date(Date.now() + 900_000);
    const eventId = imds.schedule({ eventType, resources, notBefore, durationSeconds: 5 });
    const steps: StepKind[] = ['scheduled'];
    this.announced.push({ eventId, eventType, steps });
    for (const step of between) {
      await this.observed();
      steps.push(step);
      if (step === 'started') imds.start(eventId);
      else imds.update(eventId, { durationSeconds: 5 + steps.length });
    }
    await this.observed();
    steps.push('end');
    imds.remove(eventId);
    await this.observed();
  }

  /** Freezes that are announced together and end together, each change observed as above. */
  async announceTogether(count: number, description = 'Moved.'): Promise<readonly Announced[]> {
    const { imds } = this.azure;
    const resources = this.vms.map(({ name }) => name);
    const notBefore = new Date(Date.now() + 900_000);
    const events = Array.from({ length: count }, (): Announced => {
      const eventId = imds.schedule({ eventType: 'Freeze', resources, notBefore, description });
      return { eventId, eventType: 'Freeze', steps: ['scheduled', 'end'] };
    });
    this.announced.push(...events);
    await this.observed();
    for (const { eventId } of events) imds.remove(eventId);
    await this.observed();
    return events;
  }

  /** Announces one more event, a short one, and waits until all of it is at both sinks. */
  async freshArrives(random: Random, seconds: number): Promise<boolean> {
    await this.#announce(random, []);
    const isComplete = (): boolean => this.judge(this.announced.slice(-1)).lost === 0;
    return await until(isComplete, { timeoutMs: seconds * 1000, everyMs: 200 }).then(
      () => true,
      () => false,
    );
  }

  /** `before`: what another program has sent, by the sink. */
  judge(
    announced: readonly Announced[] = this.announced,
    before: { readonly hub?: readonly Arrived[]; readonly table?: readonly Arrived[] } = {},
  ): ReturnType<typeof judge> {
    const { hub, table } = arrivedAt(this.azure);
    return judge(
      announced,
      this.vms.map(({ name }) => name),
      { 'the event hub': [...(before.hub ?? []), ...hub], 'the table': [...(before.table ?? []), ...table] },
    );
  }

  get stepsAnnounced(): number {
    return this.announced.reduce((sum, { steps }) => sum + steps.length, 0);
  }

  get conservation(): Outcome['conservation'] {
    return { ...this.#conservation };
  }

  async close(): Promise<void> {
    clearInterval(this.#sampling);
    for (const vm of this.vms) {
      if (vm.bridge) writeFileSync(join(this.#context.directory, `${vm.name}.log`), vm.bridge.stderr());
      await this.kill(vm);
    }
    await this.azure.close();
  }

  /** Every bridge has polled the document as it is now, and has polled once more afterwards without having been replaced. */
  async observed(): Promise<void> {
    const documents = (vm: Vm): number => this.azure.imds.documentsSent[vm.name] ?? 0;
    const marks = new Map(this.vms.map((vm) => [vm, { starts: vm.starts, documents: documents(vm) }]));
    const hasObserved = (vm: Vm): boolean => {
      const mark = marks.get(vm);
      if (mark?.starts !== vm.starts) marks.set(vm, { starts: vm.starts, documents: documents(vm) });
      else return documents(vm) >= mark.documents + 2;
      return false;
    };
    await until(() => this.#context.signal.aborted || this.vms.every(hasObserved), {
      what: 'two polls of every bridge',
      timeoutMs: 180_000,
      everyMs: 20,
    });
    this.#context.signal.throwIfAborted();
  }

  /**
   * The counters of each sink, as another process reads them and as the service reports them. A file that cannot be read at this moment, and
   * a service that does not respond, is no sample.
   */
  #sample(): void {
    if (!this.isSampling) return;
    for (const vm of this.vms) {
      const { stateDirectory } = vm;
      void this.#sampleService(vm);
      try {
        for (const { counters } of readOutbox(stateDirectory)?.sinks ?? []) {
          this.#conservation.samples += 1;
          if (imbalance(counters) !== 0) this.#conservation.violations += 1;
        }
      } catch {}
    }
  }

  /** With what is in flight as a figure of its own: it is part of what is pending, unless that was discarded meanwhile. */
  async #sampleService({ stateDirectory, bridge }: Vm): Promise<void> {
    if (!bridge || this.#asked.has(stateDirectory)) return;
    this.#asked.add(stateDirectory);
    const answer = await askService(stateDirectory, systemClock).catch(() => null);
    this.#asked.delete(stateDirectory);
    if (answer?.kind !== 'answered') return;
    const { outbox, recordsInFlight } = answer.snapshot;
    for (const { name, counters } of outbox.sinks) {
      const inFlight = recordsInFlight?.[name];
      // An earlier version, in a test of upgrades.
      if (inFlight === undefined) continue;
      const { accepted, delivered, pending, dead, expired, abandoned } = counters;
      const waiting = expired > 0 ? pending - inFlight : Math.max(0, pending - inFlight);
      this.#conservation.samples += 1;
      if (accepted !== delivered + waiting + inFlight + dead + expired + abandoned) this.#conservation.violations += 1;
    }
  }
}
