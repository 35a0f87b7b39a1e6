import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../src/clock.ts';
import { silentLog } from '../../../src/log.ts';
import { createRandom, type Random } from '../../fleet-model/random.ts';
import { until } from '../../support/until.ts';
import { backlogOf, store } from '../backlog/records.ts';
import type { FaultContext, FaultTest } from '../fault-test.ts';
import { FleetUnderTest } from '../fleet/fleet-under-test.ts';
import { fromSources } from '../sources.ts';

/** The first poll after the start of the process, whatever is checked and read of the file. */
const mostSeconds = 2;
const sinks = ['event-hubs', 'log-analytics'];
const outboxMegabytes = 4096;
/** What a kill may cut off between the services and the outbox: what is in flight, and what was sent in the 100 ms before a commit. */
const mostCopiesPerKill = 2_000;

/** Fills the outbox of a VM with records for which both sinks wait. @returns their ids. */
async function fill(context: FaultContext, directory: string, random: Random): Promise<ReadonlySet<string>> {
  const { openOutbox } = await fromSources(context, 'outbox/durable-outbox.ts');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const ids = new Set<string>();
  while (ids.size < context.cases) {
    context.signal.throwIfAborted();
    const options = { directory, sinks, maxMegabytes: outboxMegabytes, clock: systemClock, log: silentLog };
    const outbox = openOutbox({ ...options, version: '9.9.9' });
    const count = Math.min(5_000, context.cases - ids.size);
    const backlog = backlogOf(random, { after: outbox.state, count, name: `from ${ids.size}` });
    for (const { recordId } of backlog.records) ids.add(recordId);
    store(outbox, backlog);
  }
  return ids;
}

/** Starts a bridge with so much waiting that its file is too large to be checked at once. Each record is four rows. */
export const largeStart: FaultTest = {
  id: 'large-start',
  title: 'a start with many records waiting',
  kind: 'processes',
  cases: { quick: 8_000, full: 250_000 },
  load: { seconds: 10, processors: 0.4 },
  async run(context) {
    const fleet = await FleetUnderTest.start(context, {
      vms: ['web_0'],
      configuration: { outbox: { maxMegabytes: outboxMegabytes } },
    });
    const { eventHubs, imds, logAnalytics } = fleet.azure;
    try {
      const [vm] = fleet.vms;
      if (!vm) throw new Error('there is no VM');
      const ids = await fill(context, vm.stateDirectory, createRandom(context.seed));
      const starts: number[] = [];
      const start = async (): Promise<void> => {
        const before = imds.polls.web_0 ?? 0;
        const began = performance.now();
        fleet.startBridge(vm);
        await until(() => (imds.polls.web_0 ?? 0) > before, { what: 'a first poll', timeoutMs: 120_000 });
        starts.push((performance.now() - began) / 1000);
      };
      const arrived = (): number => Math.min(eventHubs.events().length, logAnalytics.rows().length);
      await start();
      // The next two are in the middle of the backlog, the first of them after a kill.
      for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
        const before = arrived();
        await until(() => arrived() > before + context.cases / 10, {
          what: 'a part of the backlog',
          timeoutMs: 300_000,
        });
        await fleet.kill(vm, signal);
        await start();
      }
      const [event] = await fleet.announceTogether(1);
      const isFresh = (): boolean =>
        eventHubs.events().filter(({ body }) => body.includes(event?.eventId ?? '')).length >= 2 &&
        logAnalytics.rows().filter(({ EventId }) => EventId === event?.eventId).length >= 2;
      const hubIds = (): Set<unknown> => new Set(eventHubs.events().map(({ messageId }) => messageId));
      const tableIds = (): Set<unknown> => new Set(logAnalytics.rows().map(({ RecordId }) => RecordId));
      const missing = (): number =>
        [hubIds(), tableIds()].reduce((sum, found) => sum + [...ids].filter((id) => !found.has(id)).length, 0);
      const end = performance.now() + 60_000 + 6 * context.cases;
      while (missing() > 0 && performance.now() < end && !context.signal.aborted) await sleep(1000);
      const freshArrived = await until(isFresh, { timeoutMs: 30_000, everyMs: 500 }).catch(() => false);
      const copies = eventHubs.events().length - hubIds().size + logAnalytics.rows().length - tableIds().size;
      context.say(`first polls after ${starts.map((seconds) => seconds.toFixed(2)).join(', ')} s`);
      return {
        lost: missing(),
        duplicated: { found: copies, allowed: mostCopiesPerKill },
        happened: [
          { what: 'records that waited', count: ids.size, least: context.cases },
          { what: 'starts', count: starts.length, least: 3 },
        ],
        worst: { what: 'first poll', seconds: Math.max(...starts), mostSeconds },
        freshArrived,
        conservation: fleet.conservation,
        broken: [],
      };
    } finally {
      await fleet.close();
    }
  },
};
