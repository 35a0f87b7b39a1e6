import { setTimeout as sleep } from 'node:timers/promises';
import type { TokenCredential } from '@azure/identity';
import { classify } from '../../../src/azure/errors.ts';
import { destinationOf, type EventHubsConfig } from '../../../src/sinks/event-hubs/config.ts';
import type { Failure } from '../../../src/sinks/sink.ts';
import type { Hub, HubOptions } from '../../../src/tail/hub.ts';
import type { Step, StepContext, StepOptions } from '../step.ts';
import type { Destinations } from '../target.ts';
import { verdictOnName, verdictOnReaders, verdictOnThrottling } from './hub-verdicts.ts';
import { readsOnly, refusals, reportOfAzure } from './step-parts.ts';

/** Steps that connect to the hub from this machine, with the code of the bridge and of `tail`. */
export const hubSteps = ({ against }: StepOptions): readonly Step[] => [
  {
    ...refusals(against),
    id: 'refuse-hub-name',
    title: 'an event hub that does not exist',
    minutes: 1,
    proves: ['hub-not-found'],
    run: refuseName,
  },
  {
    ...refusals(against),
    id: 'refuse-sixth-reader',
    title: 'six readers of one partition and consumer group',
    minutes: 1,
    proves: ['hub-readers'],
    run: refuseSixthReader,
  },
  ...(against === 'azure' ? onlyInAzure : []),
];

/** The simulator accepts WebSockets only from clients that trust its certificate, and has its own limit. */
const onlyInAzure: readonly Step[] = [
  {
    ...readsOnly('azure'),
    id: 'read-hub-websocket',
    title: 'the event hub over WebSockets',
    minutes: 1,
    proves: ['hub-websocket'],
    run: readOverWebSockets,
  },
  {
    ...refusals('azure'),
    id: 'refuse-hub-throttled',
    title: 'send more than the throughput units of the namespace accept',
    creates: ['up to 120 MB of messages in the hub, which are no records'],
    cost: {
      usd: 0.05,
      basis: '120 messages of 1 MB, each of 16 billed events at $0.028 a million, and part of an hour',
    },
    minutes: 3,
    proves: ['hub-throttled'],
    run: throttleHub,
  },
];

/** The hub as the bridge and `tail` are configured for it. */
const configOf = ({ hub }: Destinations, changed: Partial<EventHubsConfig> = {}): EventHubsConfig => ({
  fullyQualifiedNamespace: hub.connectionString === null ? hub.fullyQualifiedNamespace : null,
  connectionString: hub.connectionString,
  eventHubName: hub.eventHubName,
  customEndpoint: null,
  transport: 'amqp',
  idleCloseSeconds: 60,
  connectJitterSeconds: 0,
  ...changed,
});

const credentialOf = ({ token }: Destinations): TokenCredential => ({ getToken: () => token('hub') });

/** Loads the library of the hub, which takes longer than everything else that a plan needs. */
const openHub = async (options: HubOptions, signal: AbortSignal): Promise<Hub> =>
  (await import('../../../src/tail/hub.ts')).openHub(options, signal);

/** A client without attempts of its own, and the classification of its errors by the sink. */
async function openProducer(destinations: Destinations, changed: Partial<EventHubsConfig> = {}) {
  const { EventHubProducerClient } = await import('@azure/event-hubs');
  const config = configOf(destinations, changed);
  const { connectionString, fullyQualifiedNamespace, eventHubName } = config;
  const options = { retryOptions: { maxRetries: 0, timeoutInMs: 20_000 } };
  const client =
    connectionString === null
      ? new EventHubProducerClient(fullyQualifiedNamespace ?? '', eventHubName, credentialOf(destinations), options)
      : new EventHubProducerClient(connectionString, eventHubName, options);
  return { client, failureOf: (error: unknown) => classify(error, destinationOf(config)) };
}

async function refuseName(context: StepContext): Promise<void> {
  const { target, signal, say, save } = context;
  const { client, failureOf } = await openProducer(await target.destinations(), { eventHubName: 'no-such-hub' });
  const failure = await client
    .createBatch({ abortSignal: signal })
    .then(() => null, failureOf)
    .finally(() => client.close());
  const code = failure?.code ?? 'accepted';
  say(`an event hub that does not exist: ${code}: ${failure?.reason}`);
  const verdict = verdictOnName(failure);
  const file = save('refuse-hub-name.json', JSON.stringify(failure, null, 1));
  if (verdict !== null) {
    reportOfAzure(context, {
      assumption: 'hub-not-found',
      verdict,
      evidence: `To a sender of a hub that does not exist Azure gave the answer that the bridge calls ${code}.`,
      file,
    });
  }
  if (code === 'unauthorized') return;
  if (code !== 'not-found') throw new Error(`A hub that does not exist is taken for ${code}: ${failure?.reason}`);
}

const readers = 6;
/** The sixth is refused within seconds; by then an effect on the others would show. */
const settleMs = { azure: 15_000, simulator: 1_000 } as const;

async function refuseSixthReader(context: StepContext): Promise<void> {
  const { target, signal, say } = context;
  const destinations = await target.destinations();
  const options = { config: configOf(destinations), credential: credentialOf(destinations), consumerGroup: '$Default' };
  const hubs: Hub[] = [];
  const refused: string[] = [];
  try {
    for (let number = 1; number <= readers; number += 1) {
      const hub = await openHub(options, signal);
      hubs.push(hub);
      const [partitionId = '0'] = await hub.client.getPartitionIds();
      const handlers = {
        async processEvents() {},
        async processError(error: Error) {
          refused.push(`${number} ${hub.explain(error, 'partition').code}`);
        },
      };
      const start = { startPosition: { enqueuedOn: new Date() }, maxBatchSize: 1, maxWaitTimeInSeconds: 5 };
      hub.client.subscribe(partitionId, handlers, start);
      await sleep(settleMs[target.pace.like] / readers, undefined, { signal });
    }
    await sleep(settleMs[target.pace.like], undefined, { signal });
  } finally {
    await Promise.all(hubs.map((hub) => hub.close()));
  }
  const distinct = [...new Set(refused)];
  const refusedReaders = distinct.map((one) => one.replace(/^(\d+) (.*)$/, 'number $1 ($2)')).join(', ') || 'none';
  say(`six readers, opened one after the other; refused: ${refusedReaders}`);
  const verdict = verdictOnReaders(distinct, readers);
  if (verdict !== null) {
    reportOfAzure(context, {
      assumption: 'hub-readers',
      verdict,
      evidence: `Six readers of one partition were opened one after the other; refused: ${refusedReaders}.`,
    });
  }
  if (verdict !== 'proven')
    throw new Error(`Expected was that only the sixth reader is refused; refused: ${refusedReaders}.`);
}

async function readOverWebSockets(context: StepContext): Promise<void> {
  const { target, signal } = context;
  const destinations = await target.destinations();
  const config = configOf(destinations, { transport: 'amqp-ws' });
  const hub = await openHub({ config, credential: credentialOf(destinations), consumerGroup: '$Default' }, signal);
  try {
    const partitions = await hub.client.getPartitionIds();
    context.report({
      assumption: 'hub-websocket',
      verdict: 'proven',
      evidence: `The namespace named the ${partitions.length} partitions of the hub over WebSockets, without a proxy.`,
    });
  } catch (error) {
    throw new Error(hub.explain(error, 'hub').message, { cause: error });
  } finally {
    await hub.close();
  }
}

const megabytes = 120;
const messageBytes = 1_000_000;
const parallel = 4;
const recoverySeconds = 60;

async function throttleHub(context: StepContext): Promise<void> {
  const { target, signal, say, measure, report } = context;
  const { client, failureOf } = await openProducer(await target.destinations());
  const send = async (body: Buffer): Promise<Failure | null> => {
    try {
      await client.sendBatch([{ body }], { abortSignal: signal });
      return null;
    } catch (error) {
      return failureOf(error);
    }
  };
  let sent = 0;
  const failures: Failure[] = [];
  async function load(): Promise<void> {
    while (failures.length === 0 && sent < megabytes) {
      sent += 1;
      const failure = await send(Buffer.alloc(messageBytes));
      if (failure !== null) failures.push(failure);
    }
  }
  try {
    await Promise.all(Array.from({ length: parallel }, load));
    const [failure] = failures;
    if (failure === undefined) throw new Error(`The namespace took ${sent} MB without throttling.`);
    if (verdictOnThrottling(failure, 0) === null)
      throw new Error(`The load ended before the namespace throttled it: ${failure.reason}`);
    const refusedAt = performance.now();
    say(`after ${sent} MB the namespace refuses: ${failure.code}`);
    while ((await send(Buffer.from('small'))) !== null) {
      if (performance.now() - refusedAt > recoverySeconds * 1000)
        throw new Error(`The namespace still refuses after ${recoverySeconds} s.`);
      await sleep(1_000, undefined, { signal });
    }
    const seconds = (performance.now() - refusedAt) / 1000;
    measure('how long a throttled namespace refuses', seconds, failure.code);
    report({
      assumption: 'hub-throttled',
      verdict: verdictOnThrottling(failure, seconds) ?? 'refuted',
      evidence: `Beyond its units the namespace refused with ${failure.code}, and accepted again after ${Math.round(seconds)} s.`,
    });
  } finally {
    await client.close();
  }
}
