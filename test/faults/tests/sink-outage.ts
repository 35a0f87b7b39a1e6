import { isUrgent } from '../../../src/lifecycle/urgency.ts';
import { silentLog } from '../../../src/log.ts';
import { imbalance } from '../../../src/outbox/store/counters.ts';
import { createRandom } from '../../fleet-model/random.ts';
import { until } from '../../support/until.ts';
import { backlogOf } from '../backlog/records.ts';
import { tokensOf, trust } from '../clock/azure-here.ts';
import { createJumpingClock } from '../clock/jumping-clock.ts';
import type { FaultContext, FaultTest, Outcome } from '../fault-test.ts';
import { FleetUnderTest } from '../fleet/fleet-under-test.ts';
import { combined } from '../outcome.ts';
import { fromSources } from '../sources.ts';
import { faultsOf } from '../verdict.ts';

const dayMs = 24 * 3_600_000;
/** An outage is this many steps of time; in each the records of that time are appended. */
const steps = 60;
/** What one data collection rule takes in a minute. https://learn.microsoft.com/azure/azure-monitor/service-limits#logs-ingestion-api */
const ruleLimit = { requestsPerMinute: 12_000, bytesPerMinute: 2 * 2 ** 30 };
/** Of the namespace. With one of them the backlog of a quick run would take longer than the run. */
const throughputUnits = { quick: 20, full: 1 };
const mostSeconds = 1;

type SinkName = 'event-hubs' | 'log-analytics';

interface Outage {
  readonly down: SinkName;
  readonly days: number;
  readonly records: number;
}

const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(share * times.length)] ?? 0;
/** What other programs take of this machine shows less in the quicker ones. */
const quicker = (times: readonly number[]): number => quantile(times, 0.25);
/**
 * How much longer the quicker ones may take to the sink that is well, with the backlog of the other one than without: on a busy machine as
 * much as half of them differ without it. In ms.
 */
const mostSlowerMs = (before: readonly number[]): number =>
  Math.max(0.1 * quicker(before), 50, quantile(before, 0.75) - quicker(before));

async function runOutage(context: FaultContext, index: number, { down, days, records }: Outage): Promise<Outcome> {
  const fleet = await FleetUnderTest.start(
    { ...context, directory: `${context.directory}/${index}` },
    { vms: ['web_0'] },
  );
  const { azure } = fleet;
  const { eventHubs, logAnalytics } = azure;
  trust(azure);
  const random = createRandom(context.seed + index);
  const clock = createJumpingClock();
  // So that it ends now, by the clock of the services.
  clock.jump(-days * dayMs);
  const { createCredential } = await fromSources(context, 'azure/credential.ts');
  const { createEventHubsSink } = await fromSources(context, 'sinks/event-hubs/sink.ts');
  const { createLogAnalyticsSink } = await fromSources(context, 'sinks/log-analytics/sink.ts');
  const { openOutbox } = await fromSources(context, 'outbox/durable-outbox.ts');
  const { Relay } = await fromSources(context, 'relay/relay.ts');
  const credential = createCredential({ source: tokensOf(azure), clock, log: silentLog });
  const { fullyQualifiedNamespace, customEndpoint, eventHubName } = eventHubs;
  const hubConfig = {
    connectionString: null,
    transport: 'amqp',
    idleCloseSeconds: 86_400 * 7,
    connectJitterSeconds: 0,
  } as const;
  const sinks = [
    createEventHubsSink({
      config: { fullyQualifiedNamespace, customEndpoint, eventHubName, ...hubConfig },
      credential,
      clock,
    }),
    createLogAnalyticsSink({ config: logAnalytics, credential, clock }),
  ];
  const outbox = openOutbox({
    directory: `${context.directory}/${index}/web_0`,
    sinks: sinks.map(({ name }) => name),
    maxMegabytes: 2048,
    clock,
    log: silentLog,
    version: '9.9.9',
  });
  const relays = sinks.map((sink) => new Relay({ sink, outbox, clock, log: silentLog, isUrgent }));
  const stop = new AbortController();
  const running = relays.map((relay) => relay.run(stop.signal));
  const conservation = { samples: 0, violations: 0 };
  let sent = 0;
  const arrived = { 'event-hubs': () => eventHubs.events().length, 'log-analytics': () => logAnalytics.rows().length };
  const up: SinkName = down === 'event-hubs' ? 'log-analytics' : 'event-hubs';

  const append = (count: number): void => {
    const { records: next, announced } = backlogOf(random, {
      after: outbox.state,
      count,
      name: `${index} ${sent}`,
      observedAt: () => clock.now(),
    });
    fleet.announced.push(...announced);
    sent += count;
    outbox.append({ ...outbox.state, position: outbox.state.position + count }, next);
  };
  const isAt = (sink: SinkName): boolean => arrived[sink]() >= sent;
  /** From the append of one record until the sink that is well has it, when it has all others. In ms. */
  const latency = async (): Promise<number> => {
    await until(() => isAt(up), { what: `everything at ${up}`, timeoutMs: 120_000, everyMs: 2 });
    const began = performance.now();
    append(1);
    await until(() => isAt(up), { timeoutMs: 5_000, everyMs: 1 }).catch(() => {});
    for (const counters of Object.values(outbox.counters())) {
      conservation.samples += 1;
      if (imbalance(counters) !== 0) conservation.violations += 1;
    }
    return performance.now() - began;
  };
  /** Time that passed while a batch is in flight would be its deadline. */
  const pass = async (ms: number): Promise<void> => {
    const isQuiet = (): boolean => relays.every((relay) => relay.health().inFlight === 0);
    await until(isQuiet, { what: 'no batch in flight', timeoutMs: 600_000, everyMs: 2 });
    clock.pass(ms);
  };
  try {
    const before: number[] = [];
    // The first ones open connections.
    for (let n = 0; n < 3; n += 1) await latency();
    for (let n = 0; n < steps / 2; n += 1) before.push(await latency());
    const refusals = logAnalytics.requests.length;
    if (down === 'event-hubs') eventHubs.fault('server-busy');
    else logAnalytics.fault({ status: 503 });
    const during: number[] = [];
    for (let step = 0; step < steps; step += 1) {
      context.signal.throwIfAborted();
      append(Math.ceil(records / steps) - 1);
      const time = await latency();
      if (step >= steps / 2) during.push(time);
      await pass((days * dayMs) / steps);
    }
    const waiting = outbox.counters()[down]?.pending ?? 0;
    const refused = down === 'log-analytics' ? logAnalytics.requests.length - refusals : steps;
    eventHubs.limit({ throughputUnits: context.cases > 4_000 ? throughputUnits.full : throughputUnits.quick });
    logAnalytics.limit(ruleLimit);
    eventHubs.fault(null);
    logAnalytics.fault(null);
    const atHeal = logAnalytics.requests.length;
    const began = performance.now();
    const [relay] = relays.filter((_, n) => sinks[n]?.name === down);
    // A pause passes at once: throttled for its one throughput unit, a bridge pauses for 15 s after each second or so.
    const hasAll = async (): Promise<boolean> => {
      if (relay?.health().state === 'failing') await pass(10_000);
      return isAt(down);
    };
    await until(async () => context.signal.aborted || (await hasAll()), {
      what: 'the whole backlog',
      timeoutMs: 60_000 + 10 * records,
      everyMs: 100,
    }).catch(() => {});
    const seconds = (performance.now() - began) / 1000;
    const tooMuch = logAnalytics.requests.slice(atHeal).filter(({ status }) => status === 413 || status === 429).length;
    await latency().catch(() => 0);
    const freshArrived = await until(() => isAt(down), { timeoutMs: 60_000 }).catch(() => false);
    const { lost, copies, broken } = fleet.judge();
    const late = logAnalytics
      .rows()
      .filter(({ ObservedAt }) => Date.now() - Date.parse(String(ObservedAt)) > 2 * dayMs).length;
    const slower = quicker(during) - quicker(before);
    context.say(
      `${down} down for ${days} d: ${waiting} waited, drained in ${seconds.toFixed(1)} s; ${up} took ${quicker(before).toFixed(1)} ms before, ${quicker(during).toFixed(1)} ms during; ${late} rows late`,
    );
    return {
      lost,
      duplicated: { found: copies, allowed: 0 },
      happened: [
        { what: 'records that waited for one sink', count: waiting, least: records },
        { what: 'refusals', count: refused, least: 3 },
      ],
      worst: { what: 'latency of the other sink (p99)', seconds: quantile(during, 0.99) / 1000, mostSeconds },
      freshArrived,
      conservation,
      broken: [
        ...broken.slice(0, 3),
        ...(slower > mostSlowerMs(before) ? [`with ${down} down, ${up} took ${slower.toFixed(0)} ms longer`] : []),
        ...(tooMuch > 0 ? [`${tooMuch} requests were more than the rule takes`] : []),
        ...(days > 2 && down === 'log-analytics' && late === 0 ? ['no row was late'] : []),
      ],
    };
  } finally {
    stop.abort();
    await Promise.all(running);
    for (const relay of relays) relay.close();
    await Promise.all(sinks.map((sink) => sink.close()));
    credential.close();
    outbox.close();
    await fleet.close();
  }
}

/** One sink down for a day and for three days: the other one notices nothing, and all arrives in order afterwards. */
export const sinkOutage: FaultTest = {
  id: 'sink-outage',
  title: 'one sink down for a day, and for three days',
  kind: 'one process',
  cases: { quick: 2_000, full: 100_000 },
  load: { seconds: 30, processors: 0.4 },
  async run(context) {
    const outages: readonly Outage[] = [
      { down: 'log-analytics', days: 3, records: context.cases },
      { down: 'event-hubs', days: 1, records: context.cases },
    ];
    const outcomes: Outcome[] = [];
    for (const [index, outage] of outages.entries()) {
      const outcome = await runOutage(context, index, outage);
      outcomes.push(outcome);
      // The next one may wait for minutes, and fails as well.
      if (faultsOf(outcome).length > 0) break;
    }
    return combined(outcomes);
  },
};
