import type { Approver } from '../approver/approver.ts';
import { refusal } from '../approver/manual.ts';
import { type Bridge, poll } from '../bridge.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { createPing, pingRequest } from '../control/ping.ts';
import { startHealth } from '../health/health.ts';
import { createRuntimeStats, type RuntimeStats } from '../health/runtime-stats.ts';
import { startHeartbeat } from '../heartbeat/heartbeat.ts';
import { isInCluster, notInCluster } from '../host/in-cluster.ts';
import { impactWithin } from '../lifecycle/scope.ts';
import { isUrgent } from '../lifecycle/urgency.ts';
import type { Log } from '../log.ts';
import { confirmIdentity } from '../outbox/confirm-ownership.ts';
import { outboxHandlers } from '../outbox/control/handlers.ts';
import { createControlQueue } from '../outbox/control/queue.ts';
import { type Outbox, openOutbox } from '../outbox/outbox.ts';
import { version } from '../process/version.ts';
import { createRelay, type Relay } from '../relay/relay.ts';
import type { OpenSenders, Senders } from '../sender/senders.ts';
import { readInstallationRecord } from '../service/inspect.ts';
import { placesIn } from '../service/places.ts';
import { tokenScopes } from '../sinks/index.ts';
import type { Sink } from '../sinks/sink.ts';
import { approveRequest } from './approve.ts';
import { assembleBridge, openImds } from './assemble-bridge.ts';
import { createEmitTest, emitTestRequest } from './emit-test.ts';
import { createTryNow, tryNowRequest } from './outbox/try-now.ts';

export interface RunBridgeOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted: polling ends, what is pending is sent for up to five seconds, and `runBridge` resolves. */
  readonly stop: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
  /** Where the sinks run. */
  readonly openSenders: OpenSenders;
}

/** What is pending at the end is sent for so long; what is left then is sent by the next start. */
const flushMs = 5000;
const upkeepMs = 60_000;
/** An approval that was sent gets so long for its outcome; the next start settles what has none. */
const approvalMs = 2000;
/** Sinks keep deadlines of their own; this is for one that does not. It comes after a token, a connection and a send. */
const sendDeadlineMs = 60_000;
/** Without a request for this long the service turns the feature off, and the next answer may take two minutes. */
const warmForMs = 24 * 3_600_000;
/** Connections are opened this long before an impact on this VM, and kept. */
const nearMs = 20 * 60_000;

/** The whole bridge, from open to closed. Rejects with `OutboxInUse` or `OutboxTooNew`, and for nothing that Azure does. */
export async function runBridge(options: RunBridgeOptions): Promise<void> {
  const { config, clock, log, stop, env = process.env } = options;
  const { bridge, approver, runtimeStats, senders, sinks, relays } = await assemble(options);
  const { credential, heartbeats } = senders;
  const { imds, host, outbox, observer } = bridge;
  const names = sinks.map(({ name }) => name);
  log.info(
    { version, sinks: names, stateDirectory: config.stateDirectory },
    `The bridge runs, with ${names.join(', ')}.`,
  );
  const sending = new AbortController();
  const isVmIdSet = config.observer.vmId !== undefined;
  const confirmed = confirmIdentity({ outbox, observer, host, isVmIdSet }, stop);
  const { pollIntervalSeconds: intervalSeconds, timeoutSeconds, firstTimeoutSeconds } = config.imds;
  const health = startHealth({
    runtimeStats,
    outbox,
    imds: { intervalSeconds, timeoutSeconds, firstTimeoutSeconds, isWarm: () => isWarm(outbox, clock) },
    connectJitterSeconds: config.sinks.eventHubs?.connectJitterSeconds ?? 0,
    senderFacts: senders.facts,
    relays,
    credential,
    stateDirectory: config.stateDirectory,
    port: config.http.port,
    env,
    version,
    clock,
    log,
    stop,
  });
  const { counts, upMs } = runtimeStats;
  const refusedVersion = () => readInstallationRecord(placesIn())?.refused?.version ?? null;
  const heartbeat = startHeartbeat({
    config,
    outbox,
    counts,
    upMs,
    senders: heartbeats,
    version,
    refusedVersion,
    clock,
    log,
    ready: confirmed,
  });
  let stopReason: 'asked' | 'failed' = 'failed';
  const emitTest = createEmitTest({ outbox, observer, clock, version, imdsApiVersion: config.imds.apiVersion });
  const handlers = {
    [emitTestRequest]: emitTest,
    [pingRequest]: createPing(runtimeStats, clock),
    // Asked from outside of the pod, whose files a command on the node can reach.
    [approveRequest]: isInCluster(env) ? () => refusal(notInCluster) : approver.approve,
    [tryNowRequest]: createTryNow(outbox, new Map(relays.map((relay, i) => [names[i] ?? '', relay]))),
    ...outboxHandlers(outbox, () => {
      for (const relay of relays) relay.wake();
    }),
  };
  const desk = createControlQueue({ outbox, handlers, clock, log });
  runtimeStats.onTurn(desk.look);
  credential.onRecovered(() => {
    for (const relay of relays) relay.resume((code) => code.startsWith('token-'));
  });
  credential.prefetch(tokenScopes(config.sinks));
  const tasks = [
    desk.run(stop),
    observer.run(stop),
    runMaintenance(outbox, clock, stop),
    send(relays, confirmed, sending.signal),
  ];
  try {
    await poll(bridge, { pollIntervalMs: 1000 * config.imds.pollIntervalSeconds, runtimeStats, log, stop });
    log.info({}, `The bridge stops: what is pending is sent, for ${flushMs / 1000} s at most.`);
    stopReason = 'asked';
    const said = heartbeat.stopped(stopReason);
    await approver.close(approvalMs);
    if (await confirmed) await Promise.all(relays.map((relay) => relay.flush(flushMs)));
    await said;
    sending.abort();
    await Promise.all(tasks);
  } finally {
    await heartbeat.stopped(stopReason);
    await health.close();
    for (const relay of relays) relay.close();
    await Promise.allSettled([senders.close(), imds.close()]);
    host.close();
    tellLeft(outbox, log);
    outbox.close();
  }
  log.info({}, 'The bridge has stopped.');
}

/** What is left undelivered, and what will be lost since no disk took it. */
function tellLeft(outbox: Outbox, log: Log): void {
  outbox.retry();
  for (const { sink, pending, onlyInMemory } of outbox.backlog()) {
    if (pending === 0) continue;
    const records = `${pending} ${pending === 1 ? 'record waits' : 'records wait'} for ${sink}`;
    if (onlyInMemory === 0) log.info({ sink, pending }, `${records}; the next start sends them.`);
    else {
      const why = outbox.storage.trouble?.reason ?? '';
      log.error(
        { sink, pending, onlyInMemory },
        `${records}, ${onlyInMemory} in memory only: those are lost now. ${why}`,
      );
    }
  }
}

/** Everything in its place, nothing begun. */
async function assemble({ config, clock, log, openSenders }: RunBridgeOptions): Promise<{
  readonly bridge: Bridge;
  readonly approver: Approver;
  readonly runtimeStats: RuntimeStats;
  readonly senders: Senders;
  readonly sinks: readonly Sink[];
  readonly relays: readonly Relay[];
}> {
  let opened: Outbox | null = null; // sinks ask before the outbox is open: it is opened for their names
  const near = (): boolean => opened !== null && impactWithin(opened.state, clock.now(), nearMs);
  const runtimeStats = createRuntimeStats(config, clock);
  const senders = await openSenders({ config, clock, log, near });
  const sinks = senders.sinks.map(runtimeStats.watched);
  const outbox = openOrClose(senders, () =>
    openOutbox({
      directory: config.stateDirectory,
      sinks: sinks.map(({ name }) => name),
      maxMegabytes: config.outbox.maxMegabytes,
      clock,
      log,
      version,
    }),
  );
  opened = outbox;
  const imds = openImds(config, { warm: () => isWarm(outbox, clock), clock, log });
  const { bridge, approver } = assembleBridge({ config, policy: config.approve, imds, outbox, clock, log });
  const deadlineMs = sendDeadlineMs + 1000 * (config.sinks.eventHubs?.connectJitterSeconds ?? 0);
  const relays = sinks.map((sink) =>
    createRelay({ sink, outbox, clock, log, isUrgent, deadlineMs, onPass: () => runtimeStats.relayPassed(sink.name) }),
  );
  return { bridge, approver, runtimeStats, senders, sinks, relays };
}

/** The feature is on: a document was seen not long ago. */
const isWarm = ({ state: { lastDocumentAt } }: Outbox, clock: Clock): boolean =>
  lastDocumentAt !== null && clock.now().getTime() - Date.parse(lastDocumentAt) < warmForMs;

/** Sinks watch their connections from the beginning: without an outbox nobody else would end that. */
function openOrClose(senders: Senders, open: () => Outbox): Outbox {
  try {
    return open();
  } catch (error) {
    void senders.close();
    throw error;
  }
}

/** Nothing is sent before it is certain that the outbox is this VM's own. */
async function send(relays: readonly Relay[], confirmed: Promise<boolean>, signal: AbortSignal): Promise<void> {
  if (await confirmed) await Promise.all(relays.map((relay) => relay.run(signal)));
}

async function runMaintenance(outbox: Outbox, clock: Clock, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await clock.sleep(upkeepMs, stop);
    outbox.maintain();
  }
}
