import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AzureSimulator } from '../../../src/azure-simulator/index.ts';
import { readOutbox } from '../../../src/outbox/reader.ts';
import { createRandom } from '../../fleet-model/random.ts';
import type { BridgeConfiguration, BridgeProcess } from '../../support/bridge-process.ts';
import { until } from '../../support/until.ts';
import type { FaultContext, Outcome } from '../fault-test.ts';
import { FleetUnderTest, type Vm } from '../fleet/fleet-under-test.ts';
import { combined } from '../outcome.ts';
import { type Front, startFront } from './front.ts';
import { tcpConnectionsOf, type Watch, watch } from './watch.ts';

export type SinkName = 'event-hubs' | 'log-analytics';

/** One fault of the network or of a service, played to a bridge of its own. */
export interface Scene {
  readonly name: string;
  /** The sinks that it stops; none: it stops polling. */
  readonly sinks: readonly SinkName[];
  /** What `status` and the log call it. */
  readonly code: RegExp;
  /** The bridge is started while the fault is there: it never had a token or a connection. */
  readonly fromStart?: boolean;
  readonly configuration?: (stage: WireStage) => BridgeConfiguration;
  begin(stage: WireStage): unknown;
  end(stage: WireStage): unknown;
  /** `retries`: by itself. `preempt`: its pause is long, and a Preempt is tried at once and takes the rest with it. */
  readonly heals: 'retries' | 'preempt';
  /** After the fault has ended. */
  readonly mostHealSeconds: number;
  /** How many connections or answers the fault had. */
  readonly happened: (stage: WireStage) => number;
}

/** A simulated Azure whose services are reached through fronts, and one bridge. */
export interface WireStage {
  readonly azure: AzureSimulator;
  readonly hub: Front;
  readonly table: Front;
}

const vmName = 'web_0';
/** A fault has to be visible within this time. */
const mostFoundSeconds = 15;
/** With one poll a second; a busy machine may delay one, and two that are missing take three seconds. */
const mostPollGap = 3;
/** `MemoryMax` of the unit. */
const mostMegabytes = 320;
/** One to the metadata service, one to the hub, two to the table and one that is just being closed. */
const mostConnections = 5;

/** As many scenes as there are cases: each at least once where there is room, the others at random. */
export const drawScenes = (scenes: readonly Scene[], { cases, seed }: FaultContext): readonly Scene[] => {
  const random = createRandom(seed);
  return Array.from({ length: cases }, (_, n) => {
    const scene = scenes[n] ?? random.pick(scenes);
    return { ...scene, name: n < scenes.length ? scene.name : `${scene.name} (${n})` };
  });
};

/** Plays scenes, `atOnce` of them at a time. */
export async function playScenes(scenes: readonly Scene[], context: FaultContext, atOnce = 4): Promise<Outcome> {
  const left = [...scenes];
  const outcomes: Outcome[] = [];
  const work = async (): Promise<void> => {
    for (let scene = left.shift(); scene; scene = left.shift()) {
      context.signal.throwIfAborted();
      const directory = join(context.directory, scene.name.replaceAll(/\W+/g, '-'));
      mkdirSync(directory, { recursive: true });
      outcomes.push(await playScene(scene, { ...context, directory }));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return combined(outcomes);
}

async function playScene(scene: Scene, context: FaultContext): Promise<Outcome> {
  const fleet = await FleetUnderTest.start(context, { vms: [vmName] });
  const { azure } = fleet;
  const [hub, table] = await Promise.all([
    startFront(portOf(azure.eventHubs.customEndpoint)),
    startFront(portOf(azure.logAnalytics.endpoint)),
  ]);
  const stage: WireStage = { azure, hub, table };
  const [vm] = fleet.vms;
  if (!vm) throw new Error('there is no VM');
  const broken: string[] = [];
  const say = (what: string): void => {
    broken.push(`${scene.name}: ${what}`);
  };
  let watching: Watch | null = null;
  try {
    if (scene.fromStart) await scene.begin(stage);
    const bridge = fleet.startBridge(vm, {}, { ...through(stage), ...scene.configuration?.(stage) });
    watching = watch(bridge.child.pid ?? 0, () => azure.imds.polls[vmName] ?? 0);
    await until(() => (azure.imds.polls[vmName] ?? 0) > 1, { what: 'first polls', timeoutMs: 60_000 });
    const polling = watch(bridge.child.pid ?? 0, () => azure.imds.polls[vmName] ?? 0);
    if (!scene.fromStart) {
      await announce(fleet);
      // The fault must not meet the answer to that one: it would be found before it met a connection of its own.
      if (!((await arrives(fleet, 20)) && (await isSettled(vm))))
        say('the first event did not arrive before the fault');
      await scene.begin(stage);
    }
    await announce(fleet);
    const foundSeconds = await findFault(scene, { vm, bridge, say });
    await scene.end(stage);
    const healing = performance.now();
    if (scene.heals === 'preempt') await announce(fleet, 'Preempt');
    const isHealed = await arrives(fleet, scene.mostHealSeconds + 5);
    const healedSeconds = (performance.now() - healing) / 1000;
    if (!isHealed || healedSeconds > scene.mostHealSeconds)
      say(`delivered again after ${healedSeconds.toFixed(1)} s, at most ${scene.mostHealSeconds} s are allowed`);
    await announce(fleet);
    const freshArrived = await arrives(fleet, 10);
    polling.stop();
    if (polling.longestPollGap > mostPollGap) say(`no poll for ${polling.longestPollGap.toFixed(1)} s`);
    if (watching.mostMegabytes > mostMegabytes) say(`${watching.mostMegabytes.toFixed(0)} MB resident`);
    await expectNoLeak(stage, bridge, say);
    if (bridge.child.exitCode !== null) say('the bridge has ended');
    const { lost, copies, broken: judged } = fleet.judge();
    context.say(
      `${scene.name}: found after ${foundSeconds.toFixed(1)} s, delivered again after ${healedSeconds.toFixed(1)} s, ${watching.mostMegabytes.toFixed(0)} MB, longest without a poll ${polling.longestPollGap.toFixed(1)} s`,
    );
    return {
      lost,
      duplicated: { found: copies, allowed: 4 },
      happened: [{ what: scene.name, count: scene.happened(stage), least: 1 }],
      worst: { what: 'found', seconds: foundSeconds, mostSeconds: mostFoundSeconds },
      freshArrived,
      conservation: fleet.conservation,
      broken: [...broken, ...judged],
    };
  } finally {
    watching?.stop();
    await fleet.close();
    await Promise.all([hub.close(), table.close()]);
  }
}

/** Schedules an event far enough ahead to be nothing urgent, and close enough that the connection is kept. */
async function announce(fleet: FleetUnderTest, eventType = 'Freeze'): Promise<void> {
  const notBefore = new Date(Date.now() + (eventType === 'Preempt' ? 30_000 : 900_000));
  const eventId = fleet.azure.imds.schedule({ eventType, resources: [vmName], notBefore });
  fleet.announced.push({ eventId, eventType, steps: ['scheduled'] });
}

const arrives = (fleet: FleetUnderTest, seconds: number): Promise<boolean> =>
  until(() => fleet.judge().lost === 0, { timeoutMs: seconds * 1000, everyMs: 50 }).then(
    () => true,
    () => false,
  );

/** Nothing waits at any sink. */
const isSettled = (vm: Vm): Promise<boolean> =>
  until(() => readOrNull(vm.stateDirectory)?.every(({ counters }) => counters.pending === 0), { everyMs: 50 }).then(
    () => true,
    () => false,
  );

/** From the moment in which the record waits for the sinks of the scene, until each of them is seen to fail and the log has a line. */
async function findFault(
  { sinks, code }: Scene,
  {
    vm,
    bridge,
    say,
  }: {
    readonly vm: Vm;
    readonly bridge: BridgeProcess;
    readonly say: (what: string) => void;
  },
): Promise<number> {
  const states = () => (readOrNull(vm.stateDirectory) ?? []).filter(({ name }) => sinks.includes(name as SinkName));
  if (sinks.length > 0)
    await until(() => states().some(({ counters }) => counters.pending > 0), { what: 'a waiting record', everyMs: 20 });
  const began = performance.now();
  const isLogged = (name?: string): boolean =>
    bridge.log.some(({ level, sink, code: logged }) => level === 'warn' && sink === name && code.test(String(logged)));
  const missing = (): string[] => {
    // A fault of no sink is one of polling.
    if (sinks.length === 0) return isLogged() ? [] : ['polling'];
    return sinks.filter((name) => {
      const state = states().find((one) => one.name === name);
      return !(state && state.counters.pending > 0 && code.test(state.progress.lastErrorCode ?? '') && isLogged(name));
    });
  };
  await until(() => missing().length === 0, { timeoutMs: 40_000, everyMs: 50 }).catch(() => {
    const codes = states().map(({ name, progress }) => `${name} ${progress.lastErrorCode ?? 'nothing'}`);
    say(`not found at ${missing().join(', ')} in 40 s; the last errors were ${codes.join(', ')}`);
  });
  const seconds = (performance.now() - began) / 1000;
  // The other sink is not held up; it may just be sending.
  const waiting = (): string[] =>
    (readOrNull(vm.stateDirectory) ?? [])
      .filter(({ name, counters }) => !sinks.includes(name as SinkName) && counters.pending > 0)
      .map(({ name }) => name);
  await until(() => waiting().length === 0, { timeoutMs: 5_000, everyMs: 50 }).catch(() => {
    for (const name of waiting()) say(`${name} still waits with the fault of another sink`);
  });
  return seconds;
}

function readOrNull(directory: string) {
  try {
    return readOutbox(directory)?.sinks ?? null;
  } catch {
    return null;
  }
}

async function expectNoLeak(
  { hub, table }: WireStage,
  bridge: BridgeProcess,
  say: (what: string) => void,
): Promise<void> {
  const pid = bridge.child.pid ?? 0;
  const isClean = (): boolean => hub.open <= 1 && table.open <= 2 && tcpConnectionsOf(pid) <= mostConnections;
  await until(isClean, { timeoutMs: 8000, everyMs: 100 }).catch(() => {
    say(
      `connections are left: ${hub.open} to the event hub, ${table.open} to the table, ${tcpConnectionsOf(pid)} of the bridge in all`,
    );
  });
}

function through({ azure, hub, table }: WireStage): BridgeConfiguration {
  const { fullyQualifiedNamespace, eventHubName } = azure.eventHubs;
  const { ruleId, streamName } = azure.logAnalytics;
  return {
    sinks: {
      eventHubs: { fullyQualifiedNamespace, eventHubName, customEndpoint: `sb://localhost:${hub.port}` },
      logAnalytics: { endpoint: `https://localhost:${table.port}`, ruleId, streamName },
    },
  };
}

const portOf = (address: string): number => Number(new URL(address.replace(/^sb:/, 'https:')).port);
