import { hostname } from 'node:os';
import { type Approver, createApprover } from './approver/approver.ts';
import { lacksToken } from './azure/token-failure.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { faultPoint } from './fault-point.ts';
import { type Health, startHealth } from './health/health.ts';
import { createRuntimeStats, type RuntimeStats } from './health/runtime-stats.ts';
import { type HeartbeatLoop, startHeartbeat } from './heartbeat/heartbeat.ts';
import { type Host, openHost } from './host/index.ts';
import type { Imds } from './imds/client.ts';
import { createObserverWatch, type ObserverWatch } from './imds/observer-watch.ts';
import { openImds } from './imds/open-imds.ts';
import { createPollLog } from './imds/poll-log.ts';
import { nextPollIn } from './imds/poll-pace.ts';
import type { ApprovalPolicy } from './lifecycle/approval.ts';
import type { PollResult } from './lifecycle/scheduled-event.ts';
import { impactWithin, type Scope, startDue } from './lifecycle/scope.ts';
import { gapAfterMs, type Transition, transition } from './lifecycle/transition.ts';
import { isUrgent } from './lifecycle/urgency.ts';
import type { Log } from './log.ts';
import { confirmOwnership } from './outbox/confirm-ownership.ts';
import { createControlQueue } from './outbox/control/queue.ts';
import { openOutbox } from './outbox/durable-outbox.ts';
import { logBacklog } from './outbox/log-backlog.ts';
import type { Outbox } from './outbox/outbox.ts';
import { version } from './process/version.ts';
import { Relay } from './relay/relay.ts';
import { createHandlers } from './requests/handlers.ts';
import type { OpenSenders, Senders } from './sender/senders.ts';
import { installationHere } from './service/here.ts';
import { holdSecondsOf, tokenScopes } from './sinks/registry.ts';

/** Everything that one poll needs. */
export interface Bridge {
  readonly imds: Imds;
  readonly host: Host;
  readonly observer: ObserverWatch;
  readonly scope: Scope;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** A longer time than this without a valid document is a gap. */
  readonly gapAfterMs: number;
  /** For this long after Scheduled Events was enabled, its list may be incomplete. */
  readonly enablingMs: number;
  readonly bridgeVersion: string;
  /** Approves events; absent where a poll only observes. */
  readonly approver?: Pick<Approver, 'consider'>;
}

/** One poll: observe, decide, store. A poll that changes nothing writes nothing. */
export async function pollOnce(bridge: Bridge, signal: AbortSignal): Promise<Transition> {
  const { imds, host, observer, scope, outbox, clock, gapAfterMs, enablingMs, bridgeVersion } = bridge;
  const seen = await observe(imds, outbox, signal);
  const began = clock.monotonicMs();
  const result = transition(outbox.state, seen, {
    host: host.evidence(),
    observer: observer.known(),
    scope,
    gapAfterMs,
    enablingMs,
    bridgeVersion,
    at: clock.now(),
    monotonicMs: clock.monotonicMs(),
  });
  outbox.append(result.state, result.records); // one transaction: a crash loses both or neither
  outbox.retry(); // writes that the disk refused before, and a check that the files are still there
  bridge.approver?.consider(result);
  host.discountOwnWork(clock.monotonicMs() - began); // our own work is not a pause of the VM
  return result;
}

/** Observes again if the outbox switched to another state meanwhile: "unchanged" referred to the state before. */
async function observe(imds: Imds, outbox: Outbox, signal: AbortSignal): Promise<PollResult> {
  for (;;) {
    const { history } = outbox;
    const seen = await imds.observe(signal, history);
    if (seen.kind !== 'unchanged' || outbox.history === history) return seen;
  }
}

/** Pauses of the machine are measured from this long before an impact. */
const watchPausesMs = 5 * 60_000;

/** Polls until stopped. No outcome of a poll ends the loop. */
export async function poll(
  bridge: Bridge,
  {
    pollIntervalMs,
    runtimeStats,
    log,
    stop,
  }: {
    readonly pollIntervalMs: number;
    readonly runtimeStats: Pick<RuntimeStats, 'recordPoll' | 'recordPollFailure'>;
    readonly log: Log;
    readonly stop: AbortSignal;
  },
): Promise<void> {
  const { clock, host, observer } = bridge;
  const pollLog = createPollLog(log, clock);
  let { physicalHost } = bridge.outbox.state;
  while (!stop.aborted) {
    const began = clock.monotonicMs();
    try {
      const result = await pollOnce(bridge, stop);
      const pace = nextPollIn(result.pollResult, { tookMs: clock.monotonicMs() - began, pollIntervalMs });
      pollLog.polled(result, pace);
      runtimeStats.recordPoll(result);
      host.watchImpact(impactWithin(result.state, clock.now(), watchPausesMs));
      if (result.state.physicalHost !== physicalHost) observer.refresh();
      physicalHost = result.state.physicalHost;
      await clock.sleep(pace.waitMs, stop);
    } catch (error) {
      // An internal error about one document: exiting would turn it into a crash loop, and the VM would miss all other events.
      pollLog.failed(error);
      bridge.imds.forget(); // else the next answer may be "unchanged" since a document that was never decided
      runtimeStats.recordPollFailure();
      await clock.sleep(pollIntervalMs, stop);
    }
  }
}

export interface RunBridgeOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted: polling ends, pending records are sent for up to five seconds, and `runBridge` resolves. */
  readonly stop: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
  /** Decides in which processes the sinks run. */
  readonly openSenders: OpenSenders;
}

/** At the end, pending records are sent for this long; the next start sends the rest. */
const flushMs = 5000;
const maintenanceMs = 60_000;
/** At the end, an approval that was sent has this long for its outcome; the next start settles one without. */
const approvalMs = 2000;
/** Sinks have their own deadlines; this is for one that has none. It includes a token, a connection and a send. */
const sendDeadlineMs = 60_000;
/** After this long without a request Azure disables Scheduled Events for the VM, and the next answer may take two minutes. */
const warmForMs = 24 * 3_600_000;
/** Sending waits at most this long for the first poll: the answer that enables Scheduled Events may take two minutes. */
const firstPollMs = 1000;
/** Senders are started this long before an impact on this VM, and kept. */
const nearMs = 20 * 60_000;
/** Connections are opened this long before one starts: fleets share 5,000, and a cold one takes less than a second. */
const connectAheadMs = 10_000;

/** Runs the bridge from start to stop. Rejects with `OutboxInUse` or `OutboxTooNew`; no failure of Azure rejects it. */
export async function runBridge(options: RunBridgeOptions): Promise<void> {
  const { config, clock, log, stop } = options;
  const parts = await openParts(options);
  const { bridge, runtimeStats, senders, relays } = parts;
  const { approver, imds, host, outbox, observer } = bridge;
  const names = [...relays.keys()];
  log.info(
    { version, sinks: names, stateDirectory: config.stateDirectory },
    `The bridge is running with ${names.join(', ')}.`,
  );
  const isOwner = confirmOwnership({ outbox, observer, host, isVmIdSet: config.observer.vmId !== undefined }, stop);
  const { health, heartbeat } = startReports(options, parts, isOwner);
  const sending = new AbortController();
  const tasks = [
    executeRequests(options, parts),
    observer.run(stop),
    runMaintenance(outbox, clock, stop),
    deliver(options, parts, isOwner, sending.signal),
  ];
  let stopReason: 'asked' | 'failed' = 'failed';
  try {
    await poll(bridge, { pollIntervalMs: 1000 * config.imds.pollIntervalSeconds, runtimeStats, log, stop });
    log.info({}, `The bridge is stopping: it sends pending records for at most ${flushMs / 1000} s.`);
    faultPoint('draining');
    stopReason = 'asked';
    const lastHeartbeat = heartbeat.stopped(stopReason);
    await approver.close(approvalMs);
    if (await isOwner) await Promise.all([...relays.values()].map((relay) => relay.flush(flushMs)));
    await lastHeartbeat;
    sending.abort();
    await Promise.all(tasks);
  } finally {
    await heartbeat.stopped(stopReason);
    await health.close();
    for (const relay of relays.values()) relay.close();
    await Promise.allSettled([senders.close(), imds.close()]);
    host.close();
    logBacklog(outbox, log);
    faultPoint('before-close');
    outbox.close();
  }
  log.info({}, 'The bridge has stopped.');
}

/** What `runBridge` runs. */
interface Parts {
  readonly bridge: ReturnType<typeof createBridge>;
  readonly runtimeStats: RuntimeStats;
  readonly senders: Senders;
  /** By the name of their sink. */
  readonly relays: ReadonlyMap<string, Relay>;
}

/** Opens every part and starts none. */
async function openParts({ config, clock, log, openSenders }: RunBridgeOptions): Promise<Parts> {
  let opened: Outbox | null = null; // the outbox is opened for the sinks by name, and sinks may ask `near` before
  const near = (): boolean => opened !== null && impactWithin(opened.state, clock.now(), nearMs);
  const isStartDue = (): boolean => opened !== null && startDue(opened.state, clock.now(), connectAheadMs);
  const holdSeconds = holdSecondsOf(config.sinks);
  const runtimeStats = createRuntimeStats({ imds: config.imds, holdSeconds }, clock);
  const senders = await openSenders({ config, clock, log, near, startDue: isStartDue });
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
  const bridge = createBridge({ config, policy: config.approve, imds, outbox, clock, log });
  const relays = new Map(
    sinks.map((sink) => {
      const onPass = (): void => runtimeStats.relayPassed(sink.name);
      const deadlineMs = sendDeadlineMs + 1000 * (holdSeconds[sink.name] ?? 0);
      return [sink.name, new Relay({ sink, outbox, clock, log, isUrgent, deadlineMs, onPass })];
    }),
  );
  return { bridge, runtimeStats, senders, relays };
}

/** What polling needs, around an open outbox and metadata service; nothing is started. */
export function createBridge({
  config,
  policy,
  imds,
  outbox,
  clock,
  log,
}: {
  readonly config: Config;
  /** Decides what is approved automatically. */
  readonly policy: ApprovalPolicy;
  readonly imds: Imds;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Log;
}): Bridge & { readonly approver: Approver } {
  const { stateDirectory, scope } = config;
  const observer = createObserverWatch({
    imds,
    configured: config.observer,
    computer: hostname(),
    stored: outbox.storedObserver?.observer ?? null,
    clock,
    log,
  });
  const isVmNameSet = config.observer.vmName !== undefined;
  return {
    imds,
    host: openHost({ clock, storedBootId: outbox.state.bootId }),
    observer,
    scope,
    outbox,
    clock,
    gapAfterMs: gapAfterMs(config.imds.pollIntervalSeconds),
    enablingMs: 1000 * config.imds.firstTimeoutSeconds,
    bridgeVersion: version,
    approver: createApprover({
      imds,
      outbox,
      observer,
      policy,
      stateDirectory,
      isVmNameSet,
      bridgeVersion: version,
      clock,
      log,
    }),
  };
}

/** Starts what reports the health of the bridge: on this machine, and as a heartbeat in the table. */
function startReports(
  { config, clock, log, stop, env = process.env }: RunBridgeOptions,
  { bridge: { outbox }, runtimeStats, senders, relays }: Parts,
  isOwner: Promise<boolean>,
): { readonly health: Health; readonly heartbeat: HeartbeatLoop } {
  const { pollIntervalSeconds: intervalSeconds, timeoutSeconds, firstTimeoutSeconds } = config.imds;
  const health = startHealth({
    runtimeStats,
    outbox,
    imds: { intervalSeconds, timeoutSeconds, firstTimeoutSeconds, isWarm: () => isWarm(outbox, clock) },
    holdSeconds: holdSecondsOf(config.sinks),
    senderFacts: senders.facts,
    relays: [...relays.values()],
    credential: senders.credential,
    stateDirectory: config.stateDirectory,
    port: config.http.port,
    env,
    version,
    clock,
    log,
    stop,
  });
  const heartbeat = startHeartbeat({
    config,
    outbox,
    counts: runtimeStats.counts,
    upMs: runtimeStats.upMs,
    senders: senders.heartbeats,
    version,
    refusedVersion: () => installationHere()?.refused?.version ?? null,
    clock,
    log,
    ready: isOwner,
  });
  return { health, heartbeat };
}

/** Scheduled Events is enabled: a document was received not long ago. */
const isWarm = ({ state: { lastDocumentAt } }: Outbox, clock: Clock): boolean =>
  lastDocumentAt !== null && clock.now().getTime() - Date.parse(lastDocumentAt) < warmForMs;

/** Sinks watch their connections from the start: if the outbox fails to open, they have to be closed. */
function openOrClose(senders: Senders, open: () => Outbox): Outbox {
  try {
    return open();
  } catch (error) {
    void senders.close();
    throw error;
  }
}

/** Executes what commands request of the service, after each poll. */
function executeRequests(options: RunBridgeOptions, { bridge, runtimeStats, relays }: Parts): Promise<void> {
  const { config, clock, log, stop, env = process.env } = options;
  const imdsApiVersion = config.imds.apiVersion;
  const handlers = createHandlers({ ...bridge, relays, runtimeStats, version, imdsApiVersion, env });
  const controlQueue = createControlQueue({ outbox: bridge.outbox, handlers, clock, log });
  runtimeStats.onPoll(controlQueue.executeNew);
  return controlQueue.run(stop);
}

/**
 * Runs the relays, after the first poll: the processes that they start and the backlog that they load would delay it. Nothing is sent
 * before the outbox is confirmed to be this VM's own.
 */
async function deliver(
  { config, clock }: RunBridgeOptions,
  { runtimeStats, senders: { credential, startAhead }, relays }: Parts,
  isOwner: Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const all = [...relays.values()];
  credential.onRecovered(() => {
    for (const relay of all) relay.resume(lacksToken);
  });
  runtimeStats.onPoll(startAhead);
  await Promise.race([new Promise<void>(runtimeStats.onPoll), clock.sleep(firstPollMs, signal)]);
  if (signal.aborted) return;
  credential.prefetch(tokenScopes(config.sinks));
  if (await isOwner) await Promise.all(all.map((relay) => relay.run(signal)));
}

async function runMaintenance(outbox: Outbox, clock: Clock, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await clock.sleep(maintenanceMs, stop);
    outbox.maintain();
  }
}
