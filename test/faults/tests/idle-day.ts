import type { Sink } from '../../../src/sinks/sink.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { startLocalAzure } from '../../support/local-azure.ts';
import { sampleEntry } from '../../support/sample-record.ts';
import { until } from '../../support/until.ts';
import type { FaultTest } from '../fault-test.ts';
import { load } from '../product.ts';

const halfHourMs = 30 * 60_000;
/** Half an hour and five minutes of the service, which counts real time. */
const idle = { linkMs: 1_500, connectionMs: 500 };

/** Sinks that send nothing for half an hour at a time, with the real libraries: the service detaches their links, then closes their connections. */
export const idleDay: FaultTest = {
  id: 'idle-day',
  title: 'half an hour without an event, again and again: links are detached, connections closed',
  kind: 'one process',
  cases: { quick: 4, full: 48 },
  load: { seconds: 25, processors: 0.1 },
  async run(context) {
    const { createEventHubsSink } = await load<typeof import('../../../src/sinks/event-hubs/sink.ts')>(
      context.sources,
      'sinks/event-hubs/sink.ts',
    );
    const { createLogAnalyticsSink } = await load<typeof import('../../../src/sinks/log-analytics/sink.ts')>(
      context.sources,
      'sinks/log-analytics/sink.ts',
    );
    const local = await startLocalAzure({ eventHubsIdle: idle });
    const { azure, credential } = local;
    const clock = createFakeClock();
    const common = { credential, clock };
    const sinks: Readonly<Record<string, Sink>> = {
      // The service ends it, or the sink itself.
      'a connection that is kept': createEventHubsSink({
        ...common,
        config: local.eventHubs({ idleCloseSeconds: 86_400 }),
      }),
      'a connection that is closed': createEventHubsSink({ ...common, config: local.eventHubs() }),
      'the table': createLogAnalyticsSink({ ...common, config: local.logAnalytics() }),
    };
    const broken: string[] = [];
    const warn = (warning: Error): void => void broken.push(`${warning.name}: ${warning.message}`);
    process.on('warning', warn);
    let sent = 0;
    let worst = 0;
    const send = async (): Promise<void> => {
      for (const [name, sink] of Object.entries(sinks)) {
        const began = performance.now();
        const result = await sink.send([sampleEntry({ recordId: `idle-${sent}` })], context.signal);
        worst = Math.max(worst, (performance.now() - began) / 1000);
        sent += 1;
        if (result.kind !== 'delivered') broken.push(`${name}, after half an hour: ${result.kind} ${result.code}`);
      }
    };
    const arrived = (): number => azure.eventHubs.events().length + azure.logAnalytics.rows().length;
    const held: Readonly<Record<string, number>>[] = [];
    try {
      // The first sends load the libraries and fetch tokens.
      await send();
      worst = 0;
      for (let n = 0; n < context.cases; n += 1) {
        await clock.advance(halfHourMs);
        await until(() => azure.eventHubs.connections === 0, { timeoutMs: 10_000 }).catch(() =>
          broken.push('an idle connection is kept open'),
        );
        held.push({ ...resources(), sleepers: clock.sleepers() });
        await send();
        context.signal.throwIfAborted();
      }
      const opened = azure.eventHubs.connectionsOpened;
      // A day at once: nothing is sent, and nothing is opened.
      await clock.advance(24 * 2 * halfHourMs);
      if (azure.eventHubs.connectionsOpened > opened) broken.push('a connection was opened for nothing');
      await send();
      const [before] = held;
      for (const [name, count] of Object.entries(held.at(-1) ?? {})) {
        const most = (before?.[name] ?? 0) + (name === 'Timeout' ? lingering(held.length) : 0);
        if (count > most) broken.push(`${name}: ${before?.[name] ?? 0} at first, ${count} at the end`);
      }
      return {
        lost: sent - arrived(),
        duplicated: { found: 0, allowed: 0 },
        happened: [{ what: 'connections opened again', count: opened - 2, least: 2 * context.cases }],
        worst: { what: 'next event', seconds: worst, mostSeconds: 1 },
        freshArrived: arrived() >= sent,
        conservation: { samples: 1, violations: sent === arrived() ? 0 : 1 },
        broken,
      };
    } finally {
      for (const sink of Object.values(sinks)) await sink.close();
      process.off('warning', warn);
      await local.close();
    }
  },
};

/** rhea leaves a timer of two minutes with each connection that it closes; half an hour takes at least the time of `idle` here. */
const lingering = (halfHours: number): number => 2 * Math.min(halfHours, Math.ceil(120_000 / idle.linkMs));

/** What keeps this process busy, by its kind: sockets, timers. */
const resources = (): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Map.groupBy(
      process.getActiveResourcesInfo().filter((kind) => kind !== 'Immediate'),
      (kind) => kind,
    )
      .entries()
      .map(([kind, all]) => [kind, all.length]),
  );
