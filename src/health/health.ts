import type { Deadlines } from '../azure/deadline.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { imbalance, noCounters } from '../outbox/tally.ts';
import type { Relay } from '../relay/relay.ts';
import { jsonAnswer, serveHttp, textAnswer } from './http.ts';
import type { Readings, SinkReadings } from './metric-family.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { startNotify } from './notify.ts';
import { createStoreCounts } from './store-counts.ts';
import { type Condition, liveness, readiness, richHealth, statusLine, type Verdict } from './verdict.ts';
import type { Vitals } from './vitals.ts';

export interface HealthOptions {
  readonly vitals: Vitals;
  readonly outbox: Outbox;
  readonly relays: readonly Relay[];
  readonly credential: { readonly deadlines: Pick<Deadlines, 'missed' | 'lateSettles'> };
  /** `http.port`: 0 = nothing is served. */
  readonly port: number;
  /** NOTIFY_SOCKET and WATCHDOG_USEC of the service manager are in there. */
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the bridge comes to its end: the service manager is told. */
  readonly stop: AbortSignal;
}

/** What tells the machine around it how the bridge is. */
export interface Health {
  /** Never rejects. */
  close(): Promise<void>;
}

/** What is at each path of the local HTTP. */
export const healthRoutes = {
  '/livez': '200 while every loop progresses, else 503 and which one does not: restart the service.',
  '/readyz':
    '200 while it polls, sees documents and can write them down, else 503 and why. A sink that is down is no matter of this: see /metrics.',
  '/healthz':
    'Rich health state for the Application Health extension: always 200, ApplicationHealthState Healthy or Unhealthy as /readyz says, details of each sink in customMetrics. No cause to repair an instance automatically: a full disk or a silent metadata service would cost the VM.',
  '/metrics': 'Metrics for Prometheus.',
} as const;

/** Begins to tell at once; opens no port unless one is configured, and starts no process unless a service manager asks for it. */
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

  const metrics = port === 0 ? null : openMetrics(options);
  metrics?.catch(() => {}); // said to who asks for them
  const http =
    metrics &&
    serveHttp({
      port,
      clock,
      log,
      routes: {
        '/livez': () => verdictAnswer(liveness(condition()), 'alive'),
        '/readyz': () => verdictAnswer(readiness(condition()), 'ready'),
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
      await Promise.all([notify.close(), http?.close()]);
    },
  };
}

const verdictAnswer = ({ ok, says }: Verdict, word: string) => (ok ? textAnswer(200, word) : textAnswer(503, ...says));

/** What is counted only for them begins to be counted here. */
async function openMetrics(options: HealthOptions): Promise<Metrics> {
  const { vitals, outbox } = options;
  const store = createStoreCounts(outbox, vitals.startedAt);
  vitals.onTurn(store.look);
  const metrics = await createMetrics(() => ({
    ...readingsOf(options),
    store: { ...store.counts(), ...storeOf(outbox) },
  }));
  vitals.sends.onDelivered(metrics.delivered);
  return metrics;
}

const storeOf = ({ fill, storage }: Outbox) => ({ fill, storage });

function openEventsOf({ state }: Outbox): Readings['openEvents'] {
  const open = [...state.events.values()].filter((event) => event.open && event.inScope);
  const Started = open.filter(({ phase }) => phase === 'Started').length;
  return { Scheduled: open.length - Started, Started };
}

function conditionOf({ vitals, outbox, relays, clock, version }: HealthOptions): Condition {
  const { Scheduled, Started } = openEventsOf(outbox);
  return {
    loops: vitals.progress.loops(),
    polls: vitals.counts(),
    storage: outbox.storage,
    relays: relays.map((relay) => relay.health()),
    backlog: outbox.backlog(),
    counters: outbox.counters(),
    openEvents: Scheduled + Started,
    monotonicMs: clock.monotonicMs(),
    version,
  };
}

function readingsOf(options: HealthOptions): Omit<Readings, 'store'> {
  const { vitals, outbox, credential, version } = options;
  const { user, system } = process.cpuUsage();
  const { missed, lateSettles } = credential.deadlines;
  return {
    version,
    polls: vitals.counts(),
    loops: vitals.progress.loops(),
    records: outbox.state.position,
    openEvents: openEventsOf(outbox),
    sinks: sinksOf(options),
    deadlines: [...vitals.sends.deadlines(), { target: 'credential', missed: { ...missed }, lateSettles }],
    process: {
      residentBytes: process.memoryUsage.rss(),
      cpuSeconds: (user + system) / 1e6,
      startedAt: vitals.startedAt,
    },
  };
}

function sinksOf({ vitals, outbox, relays, clock }: HealthOptions): SinkReadings[] {
  const healths = relays.map((relay) => relay.health());
  const counters = outbox.counters();
  return outbox.backlog().map(({ sink, pending }) => {
    const counted = counters[sink] ?? noCounters;
    const [oldest] = pending === 0 ? [] : outbox.pending(sink, { limit: 1 });
    return {
      sink,
      ...vitals.sends.counts(sink),
      counters: counted,
      imbalance: imbalance(counted),
      pending,
      oldestPendingSeconds: oldest ? Math.max(0, (clock.now().getTime() - Date.parse(oldest.appendedAt)) / 1000) : null,
      lastSuccessAt: outbox.progress(sink).lastSuccessAt,
      relay: healths.find((health) => health.sink === sink) ?? null,
    };
  });
}
