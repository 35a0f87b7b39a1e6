import type { DeadlineCounts } from '../azure/deadline.ts';
import type { Log } from '../log.ts';
import { noCounters, type Outbox } from '../outbox/outbox.ts';
import { imbalance } from '../outbox/store/counters.ts';
import { jsonAnswer, serveHttp, textAnswer } from './http.ts';
import type { Readings, SinkReadings } from './metric-family.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { startNotify } from './notify.ts';
import { pollFigures, type SnapshotSources, sinkRows, takeSnapshot } from './snapshot.ts';
import { serveStatus } from './status-server.ts';
import { createStoreCounts } from './store-counts.ts';
import { type Condition, liveness, readiness, remarks, richHealth, statusLine } from './verdict.ts';

export interface HealthOptions extends SnapshotSources {
  /** Commands ask this service through a socket in there. */
  readonly stateDirectory: string;
  readonly credential: { readonly deadlines: DeadlineCounts };
  /** `http.port`: 0 = nothing is served. */
  readonly port: number;
  /** NOTIFY_SOCKET and WATCHDOG_USEC of the service manager are in there. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
}

/** Reports the health of the bridge on this machine. */
export interface Health {
  /** Never rejects. */
  close(): Promise<void>;
}

/** The paths of the local HTTP server. */
export const healthRoutes = {
  '/livez': '200 while every loop progresses, else 503 and which one does not: restart the service.',
  '/readyz':
    '200 while the last valid document is at most 10 s old and records can be written to disk, else 503 and why. Sinks do not affect the status: the body is `ready`, and below it a line for a late poll, for each sink that does not take what waits for it and for each sender process that keeps failing.',
  '/healthz':
    'Rich health state for the Application Health extension: always 200, ApplicationHealthState Healthy or Unhealthy as /readyz says. `status` is ok, warning (ready, but a poll is late, a sink does not take what waits for it or a sender process keeps failing) or unready; `messages` has a sentence for each thing that is wrong, customMetrics the details of each sink. No cause to repair an instance automatically: a full disk or a silent metadata service would cost the VM.',
  '/metrics': 'Metrics for Prometheus.',
} as const;

/** Starts to report at once; opens a port only if one is configured, and starts a process only for a service manager. */
export function startHealth(options: HealthOptions): Health {
  const { clock, log, env, port, stop } = options;
  const condition = (): Condition => conditionOf(options);
  const notify = startNotify({
    env,
    isProgressing: () => liveness(condition()).ok,
    status: () => statusLine(condition()),
    clock,
    log,
  });
  const onStop = (): void => notify.stopping();
  if (stop.aborted) onStop();
  else stop.addEventListener('abort', onStop, { once: true });

  const status = serveStatus({
    directory: options.stateDirectory,
    snapshot: () => takeSnapshot(options),
    clock,
    log,
  });
  const metrics = port === 0 ? null : openMetrics(options);
  metrics?.catch(() => {}); // reported to the client that asks for metrics
  const http =
    metrics &&
    serveHttp({
      port,
      clock,
      log,
      routes: {
        '/livez': () => {
          const { ok, messages } = liveness(condition());
          return ok ? textAnswer(200, 'alive') : textAnswer(503, ...messages);
        },
        '/readyz': () => {
          const now = condition();
          const { ok, messages } = readiness(now);
          return ok ? textAnswer(200, 'ready', ...remarks(now)) : textAnswer(503, ...messages);
        },
        '/healthz': () => jsonAnswer(200, richHealth(condition())),
        '/metrics': async () => {
          const { contentType, text } = await metrics;
          return { status: 200, contentType, body: await text() };
        },
      } satisfies Record<keyof typeof healthRoutes, unknown>,
    });

  return {
    async close() {
      stop.removeEventListener('abort', onStop);
      await Promise.all([notify.close(), status.close(), http?.close()]);
    },
  };
}

/** Counters that only metrics need start here. */
async function openMetrics(options: HealthOptions): Promise<Metrics> {
  const { runtimeStats, outbox } = options;
  const store = createStoreCounts(outbox, runtimeStats.startedAt);
  runtimeStats.onPoll(store.update);
  const metrics = await createMetrics(() => ({
    ...readingsOf(options),
    store: { ...store.counts(), ...storeOf(outbox) },
  }));
  runtimeStats.sends.onDelivered(metrics.delivered);
  return metrics;
}

const storeOf = ({ fill, storage }: Outbox) => ({ fill, storage });

function openEventsOf({ state }: Outbox): Readings['openEvents'] {
  const open = [...state.events.values()].filter((event) => event.open && event.inScope);
  const Started = open.filter(({ phase }) => phase === 'Started').length;
  return { Scheduled: open.length - Started, Started };
}

function conditionOf(options: HealthOptions): Condition {
  const { runtimeStats, outbox, holdSeconds, senderFacts, clock, version } = options;
  const { Scheduled, Started } = openEventsOf(outbox);
  return {
    at: clock.now(),
    loops: runtimeStats.progress.loops(),
    poll: pollFigures(options),
    storage: outbox.storage,
    sinks: sinkRows(outbox),
    holdSeconds,
    senders: senderFacts(),
    openEvents: Scheduled + Started,
    version,
  };
}

function readingsOf(options: HealthOptions): Omit<Readings, 'store'> {
  const { runtimeStats, outbox, credential, version } = options;
  const { user, system } = process.cpuUsage();
  const { missed, lateSettles } = credential.deadlines;
  return {
    version,
    polls: runtimeStats.counts(),
    loops: runtimeStats.progress.loops(),
    records: outbox.state.position,
    openEvents: openEventsOf(outbox),
    sinks: sinksOf(options),
    senders: options.senderFacts(),
    deadlines: [...runtimeStats.sends.deadlines(), { target: 'credential', missed: { ...missed }, lateSettles }],
    process: {
      residentBytes: process.memoryUsage.rss(),
      cpuSeconds: (user + system) / 1e6,
      startedAt: runtimeStats.startedAt,
    },
  };
}

function sinksOf({ runtimeStats, outbox, relays, clock }: HealthOptions): SinkReadings[] {
  const healths = relays.map((relay) => relay.health());
  const counters = outbox.counters();
  return outbox.backlog().map(({ sink, pending }) => {
    const counted = counters[sink] ?? noCounters;
    const [oldest] = pending === 0 ? [] : outbox.pending(sink, { limit: 1 });
    return {
      sink,
      ...runtimeStats.sends.counts(sink),
      counters: counted,
      imbalance: imbalance(counted),
      pending,
      oldestPendingSeconds: oldest ? Math.max(0, (clock.now().getTime() - Date.parse(oldest.appendedAt)) / 1000) : null,
      lastSuccessAt: outbox.progress(sink).lastSuccessAt,
      relay: healths.find((health) => health.sink === sink) ?? null,
    };
  });
}
