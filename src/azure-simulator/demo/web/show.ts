import { type CommandContext, stopped } from '../../../cli/command-context.ts';
import { Failure } from '../../../cli/exit-codes.ts';
import { openFleetPageOn } from '../../../cli/tail/page.ts';
import { systemClock } from '../../../clock.ts';
import type { LifecycleRecord } from '../../../lifecycle/record.ts';
import type { EventHubsConfig } from '../../../sinks/event-hubs/config.ts';
import { createEventHubsSink } from '../../../sinks/event-hubs/sink.ts';
import type { Sink } from '../../../sinks/sink.ts';
import { openFleetFeed } from '../../../tail/fleet-feed.ts';
import { openHub } from '../../../tail/hub.ts';
import { plural } from '../../../terminal/styled-text.ts';
import { startAzureSimulator } from '../../index.ts';
import { createShowClock, type ShowClock } from './show-clock.ts';
import { type Act, createSimulatedFleet } from './simulated-fleet.ts';
import { rollingMaintenance, type Timeline } from './timeline.ts';

export interface WebDemoOptions extends Pick<CommandContext, 'print' | 'stop'> {
  /** For all files; the caller removes it. */
  readonly directory: string;
  /** Of the page; 0: any free one. */
  readonly port: number;
  readonly speed: number;
}

/** Two looks at what is due. */
const stepMs = 100;

/**
 * Plays maintenance of a fleet, and shows it on the page of `tail --web` until stopped: records are sent to the simulated event hub by the
 * product's sink, and read back by what `tail` reads with.
 */
export async function webDemo({ directory, port, speed, print, stop }: WebDemoOptions): Promise<void> {
  const timeline = rollingMaintenance();
  const { lengthSeconds, vms } = timeline;
  await using closing = new AsyncDisposableStack();
  const azure = await startAzureSimulator({ directory, vms: [] });
  closing.defer(azure.close);
  const config: EventHubsConfig = {
    fullyQualifiedNamespace: null,
    connectionString: azure.eventHubs.connectionString,
    eventHubName: azure.eventHubs.eventHubName,
    customEndpoint: null,
    transport: 'amqp',
    idleCloseSeconds: 10,
    connectJitterSeconds: 0,
  };
  const clock = createShowClock(lengthSeconds, speed);
  const sink = createEventHubsSink({ config, credential: noCredential, clock: systemClock });
  closing.defer(() => sink.close());
  const hub = await openHub({ config, credential: noCredential, consumerGroup: '$Default' }, stop);
  closing.defer(() => hub.close());
  const feed = await openFleetFeed(hub, { clock });
  closing.defer(() => feed.close());
  const page = await openFleetPageOn(feed, port, clock);
  closing.defer(() => page.close());
  print(
    `Maintenance of ${vms.length} simulated VMs: open ${page.url}?window=1h\n${Math.round(lengthSeconds / 60)} minutes are played in ${Math.ceil(lengthSeconds / speed)} s. Ctrl+C stops it.\n\n`,
  );
  const sent = await play(timeline, { clock, sink, print, stop });
  if (stop.aborted) return;
  print(
    `\nAll is over: ${plural(sent, 'record')} of ${plural(timeline.events.length, 'event')} are on the event hub.\nThe page shows them until Ctrl+C.\n`,
  );
  await stopped(stop);
}

/** The connection string holds a key. */
const noCredential = { getToken: async () => null as never };

/** @returns how many records were sent. */
async function play(
  timeline: Timeline,
  { clock, sink, print, stop }: { clock: ShowClock; sink: Sink; print: CommandContext['print']; stop: AbortSignal },
): Promise<number> {
  const { beginsAt } = clock;
  const fleet = createSimulatedFleet(timeline, beginsAt);
  let sent = 0;
  while (fleet.polledUntil < timeline.lengthSeconds && !stop.aborted) {
    const until = Math.min((clock.now().getTime() - beginsAt) / 1000, timeline.lengthSeconds);
    const records: LifecycleRecord[] = [];
    while (fleet.polledUntil < until) {
      const step = fleet.poll();
      for (const act of step.acts) print(`${describe(act, beginsAt)}\n`);
      records.push(...step.records);
    }
    await send(records, sink, stop);
    sent += records.length;
    await clock.sleep(stepMs, stop);
  }
  return sent;
}

function describe({ at, event: { eventType, vms }, what }: Act, beginsAt: number): string {
  const [first] = vms;
  const of = vms.length === 1 ? first?.name : `${vms.length} VMs of ${first?.set}, ${first?.name} and others`;
  return `${new Date(beginsAt + 1000 * at).toISOString().slice(11, 19)}  ${what.padEnd(9)}  ${eventType.padEnd(8)} of ${of}`;
}

/** As the relay does it: a batch holds records of one event, oldest first. */
async function send(records: readonly LifecycleRecord[], sink: Sink, stop: AbortSignal): Promise<void> {
  const queues = [...Map.groupBy(records, ({ eventId }) => eventId).values()];
  const sendAll = async (): Promise<void> => {
    for (let queue = queues.shift(); queue !== undefined; queue = queues.shift()) {
      for (let from = 0; from < queue.length; from += batchSize) {
        const batch = queue
          .slice(from, from + batchSize)
          .map((record) => ({ json: Buffer.from(JSON.stringify(record)) }));
        const result = await sink.send(batch, stop);
        if (stop.aborted) return;
        if (result.kind !== 'delivered') throw new Failure('unexpected', `The event hub of the demo: ${result.reason}`);
      }
    }
  };
  await Promise.all(Array.from({ length: sink.inFlight }, sendAll));
}

/** Records; well below the size limit of a batch. */
const batchSize = 50;
