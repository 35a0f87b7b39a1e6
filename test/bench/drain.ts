import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventHubProducerClient } from '@azure/event-hubs';
import { type BridgeCredential, createCredential } from '../../src/azure/credential.ts';
import { managedIdentityTokens } from '../../src/azure/token-source.ts';
import { systemClock } from '../../src/clock.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { isUrgent } from '../../src/lifecycle/urgency.ts';
import { silentLog } from '../../src/log.ts';
import { openOutbox } from '../../src/outbox/durable-outbox.ts';
import { setProcessWide } from '../../src/process/process-wide.ts';
import { Relay } from '../../src/relay/relay.ts';
import { partitionKey } from '../../src/sinks/cloud-event.ts';
import { encodeEvent } from '../../src/sinks/event-hubs/encode.ts';
import { createEventHubsSink } from '../../src/sinks/event-hubs/sink.ts';
import { type Entry, parsed, type Sink } from '../../src/sinks/sink.ts';
import { sampleRecord } from '../support/sample-record.ts';
import { type Addresses, startSimulate } from '../support/simulate-process.ts';
import { until } from '../support/until.ts';
import { median } from './process-figures.ts';

const events = 2_000;
const recordsPerEvent = 5;
const inFlight = 16;

/** The order in which the records were announced; batches hold one event each, so it decides how large they are. */
const orders = {
  'one event after the other': (index: number) => Math.floor(index / recordsPerEvent),
  'all events side by side': (index: number) => index % events,
};
type Order = keyof typeof orders;

type Batch = readonly Entry[];

/** Records per second, by the bridge and by the SDK alone. */
interface Row {
  readonly order: Order;
  readonly perBatch: number;
  readonly bridge: number;
  readonly bare: number;
}

interface Hub {
  readonly addresses: Addresses;
  readonly credential: BridgeCredential;
}

/**
 * What waits on disk after an outage, sent to the event hub by the bridge (outbox, relay and sink: reading, batching, sending, settling,
 * with the disk's fsync), and beside it the bare SDK sending the very batches that the bridge sent, from memory, as many in
 * flight. Medians of `starts` rounds, taken in turn; the simulator has a process of its own.
 */
export async function drain({ starts }: { readonly starts: number }): Promise<void> {
  await using simulator = startSimulate('--json');
  const addresses = await simulator.ready();
  setProcessWide({ imds: { endpoint: addresses.imds }, proxy: null, tls: { caFile: addresses.caFile } });
  const credential = createCredential({ source: managedIdentityTokens(null), clock: systemClock, log: silentLog });
  const hub = { addresses, credential };
  const rows: Row[] = [];
  for (let round = 1; round <= starts; round += 1) {
    for (const order of Object.keys(orders) as Order[]) {
      const { took, batches } = await drainByBridge(hub, round, order);
      const records = batches.flat().length;
      const bare = records / (await sendBare(hub, batches));
      rows.push({ order, perBatch: records / batches.length, bridge: records / took, bare });
    }
    process.stderr.write(`round ${round} of ${starts}\n`);
  }
  credential.close();
  report(rows);
}

/** Fills an outbox, then measures the time from the first read to the last settled record. In s. */
async function drainByBridge({ addresses, credential }: Hub, round: number, order: Order) {
  const directory = mkdtempSync(join(tmpdir(), 'drain-'));
  const sent: Batch[] = [];
  const sink = watched(openSink({ addresses, credential }), sent);
  const outbox = openOutbox({
    directory,
    sinks: [sink.name],
    maxMegabytes: 256,
    clock: systemClock,
    log: silentLog,
    version: '0.0.0',
  });
  let written = 0;
  outbox.onAppended((records) => {
    written += records.length;
  });
  outbox.append({ ...outbox.state, position: events * recordsPerEvent }, recordsOf(round, order));
  await until(() => written === events * recordsPerEvent, { timeoutMs: 60_000, what: 'the outbox to be filled' });
  const relay = new Relay({ sink, outbox, clock: systemClock, log: silentLog, isUrgent });
  const began = performance.now();
  if (!(await relay.flush(600_000))) throw new Error(`not everything was sent: ${relay.health().lastErrorReason}`);
  const took = (performance.now() - began) / 1000;
  relay.close();
  await sink.close();
  outbox.close();
  rmSync(directory, { recursive: true });
  return { took, batches: sent };
}

/** The same batches by the SDK alone. In s. */
async function sendBare({ addresses, credential }: Hub, batches: readonly Batch[]): Promise<number> {
  const { fullyQualifiedNamespace, eventHubName, customEndpoint } = addresses.eventHubs;
  const client = new EventHubProducerClient(fullyQualifiedNamespace, eventHubName, credential, {
    customEndpointAddress: customEndpoint,
  });
  const waiting = batches.values();
  const began = performance.now();
  const send = async (): Promise<void> => {
    for (const stored of waiting) {
      const entries = stored.map(parsed);
      const key = entries[0] ? partitionKey(entries[0].record) : '';
      const batch = await client.createBatch({ partitionKey: key });
      for (const entry of entries) batch.tryAdd(encodeEvent(entry));
      await client.sendBatch(batch);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, send));
  const took = (performance.now() - began) / 1000;
  await client.close();
  return took;
}

function openSink({ addresses, credential }: Hub): Sink {
  const { fullyQualifiedNamespace, eventHubName, customEndpoint } = addresses.eventHubs;
  const config = {
    fullyQualifiedNamespace,
    eventHubName,
    customEndpoint,
    connectionString: null,
    transport: 'amqp' as const,
    idleCloseSeconds: 60,
    connectJitterSeconds: 0,
  };
  return createEventHubsSink({ config, credential, clock: systemClock });
}

/** Notes what is sent. */
const watched = (sink: Sink, sent: Batch[]): Sink => ({
  ...sink,
  async send(batch, signal) {
    const delivery = await sink.send(batch, signal);
    if (delivery.kind === 'delivered') sent.push(batch);
    return delivery;
  },
});

/** Freezes that were announced long enough ahead that nothing is urgent: five records each. */
function recordsOf(round: number, order: Order): LifecycleRecord[] {
  const sequences = new Map<number, number>();
  return Array.from({ length: events * recordsPerEvent }, (_, index) => {
    const event = orders[order](index);
    const sequence = 1 + (sequences.get(event) ?? 0);
    sequences.set(event, sequence);
    const eventId = createHash('sha256').update(`${order} ${round} ${event}`).digest('hex').slice(0, 36);
    const recordId = `${eventId.slice(0, 30)}${sequence}`;
    return sampleRecord({ eventId, recordId, sequence, position: index + 1 });
  });
}

function report(rows: readonly Row[]): void {
  const cell = (values: readonly number[]): string =>
    `${Math.round(median(values))} (${Math.round(Math.min(...values))} to ${Math.round(Math.max(...values))})`;
  const lines = (Object.keys(orders) as Order[]).map((order) => {
    const ofOrder = rows.filter((row) => row.order === order);
    const [bridge, bare] = [ofOrder.map((row) => row.bridge), ofOrder.map((row) => row.bare)];
    const ratio = ofOrder.map((row) => (100 * row.bridge) / row.bare);
    const perBatch = median(ofOrder.map((row) => row.perBatch)).toFixed(1);
    return `| ${order} | ${perBatch} | ${cell(bridge)} | ${cell(bare)} | ${cell(ratio)} |`;
  });
  process.stdout.write(
    [
      `Median of ${rows.length / lines.length} rounds (lowest to highest), ${events * recordsPerEvent} records of ${events} events; Node ${process.versions.node}`,
      '',
      '| records were announced | records a batch | bridge, records/s | bare SDK, records/s | bridge in % of it; budget 80 |',
      '|---|---|---|---|---|',
      ...lines,
      '',
    ].join('\n'),
  );
}
