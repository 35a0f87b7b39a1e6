import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { freePort } from '../health/free-port.ts';
import type { BridgeConfiguration } from '../support/bridge-process.ts';
import { play } from '../support/situation.ts';
import { openStage, type Stage, seesDocuments } from '../support/stage.ts';

const minutes = (n: number): Date => new Date(Date.now() + n * 60_000);
const announce = (azure: AzureSimulator, vm: string) =>
  azure.imds.schedule({ eventType: 'Freeze', resources: [vm], notBefore: minutes(30) });
const hasFailed = (stage: Stage, sink: number) =>
  stage.untilStatus('a failure', ({ sinks }) => sinks[sink]?.state === 'retrying' && sinks[sink].waiting > 0);

interface Late {
  readonly name: string;
  /** What the bridge is configured with, and what goes wrong. */
  readonly with: (azure: AzureSimulator) => Promise<BridgeConfiguration> | BridgeConfiguration;
  readonly message: RegExp;
  readonly page?: RegExp;
  readonly check: number;
  readonly checkPrints: RegExp;
}

const hubAt = (azure: AzureSimulator, port: number, more: BridgeConfiguration = {}) => {
  const { fullyQualifiedNamespace, eventHubName } = azure.eventHubs;
  const eventHubs = { fullyQualifiedNamespace, eventHubName, customEndpoint: `sb://localhost:${port}`, ...more };
  return { sinks: { eventHubs } };
};
const table = ({ logAnalytics: { endpoint, ruleId, streamName } }: AzureSimulator) => ({
  endpoint,
  ruleId,
  streamName,
});
const servers: Server[] = [];

/** Accepts connections and never says a word: a handshake of TLS hangs. */
async function mutePort(): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => {}).resume());
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}

/** Each with its own bridge and Azure, all started at once: an operator has to look after two minutes. */
const late: readonly Late[] = [
  {
    name: 'the hub is down',
    with: async (azure) => hubAt(azure, await freePort()),
    message:
      /^Event Hubs has accepted nothing for \d+ (s|min), 1 record waits for it; next attempt (now|in \d+ (s|min)): .*outbox retry --now --sink event-hubs/,
    page: /^Event Hubs +retrying +1 +\d+ (s|min) +\d\d:\d\d UTC \((in )?\d+ (s|min)/m,
    check: 12,
    checkPrints: /PROBLEM +tcp /,
  },
  {
    name: 'the TLS handshake with the hub hangs',
    with: async (azure) => hubAt(azure, await mutePort()),
    message:
      /^Event Hubs has accepted nothing for \d+ (s|min), 1 record waits for it(; next attempt|: the current attempt)/,
    check: 12,
    checkPrints: /PROBLEM +tls /,
  },
  {
    name: 'the proxy before the hub is down',
    with: async (azure) => ({
      ...hubAt(azure, 0, {
        transport: 'amqp-ws',
        customEndpoint: azure.eventHubs.websocketEndpoint.replace('wss:', 'sb:'),
      }),
      proxy: { url: `http://127.0.0.1:${await freePort()}` },
    }),
    message: /^Event Hubs has accepted nothing for \d+ (s|min), 1 record waits for it.*proxy/,
    check: 12,
    checkPrints: /PROBLEM +name .*proxy/,
  },
  {
    name: 'the hub throttles and the table fails',
    with: (azure) => {
      azure.eventHubs.fault('server-busy');
      azure.logAnalytics.fault({ status: 500 });
      const { fullyQualifiedNamespace, eventHubName, customEndpoint } = azure.eventHubs;
      return {
        sinks: { eventHubs: { fullyQualifiedNamespace, eventHubName, customEndpoint }, logAnalytics: table(azure) },
      };
    },
    message: /^Event Hubs has accepted nothing for .*\(1 more below\.\)$/,
    page: /^ {2}- Log Analytics has accepted nothing for /m,
    check: 13,
    checkPrints: /PROBLEM +backlog .*Event Hubs has accepted nothing for/,
  },
  {
    name: 'the hub refuses what it is sent, though it can be reached',
    with: (azure) => {
      azure.eventHubs.fault({ reject: 'amqp:invalid-field' });
      const { fullyQualifiedNamespace, eventHubName, customEndpoint } = azure.eventHubs;
      return { sinks: { eventHubs: { fullyQualifiedNamespace, eventHubName, customEndpoint } } };
    },
    message: /^Event Hubs has accepted nothing (for|since) /,
    check: 20,
    checkPrints: /ok +send [\s\S]*PROBLEM +backlog /,
  },
];

describe('status and check two minutes after a failing destination', { concurrent: true }, () => {
  const stages: { readonly azure: AzureSimulator; readonly stage: Stage }[] = [];
  beforeAll(async () => {
    const begin = async (one: Late) => {
      const azure = await startAzureSimulator();
      const stage = await openStage(azure, { more: await one.with(azure) });
      await stage.start();
      return { azure, stage };
    };
    stages.push(...(await Promise.all(late.map(begin))));
    for (const { azure, stage } of stages) {
      await seesDocuments(stage);
      announce(azure, 'web_0');
    }
  }, 120_000);
  afterAll(async () => {
    for (const { azure, stage } of stages) {
      await stage[Symbol.asyncDispose]();
      await azure.close();
    }
    for (const server of servers) server.close();
  });

  test.for(late.map((one, index) => ({ ...one, index })))(
    '$name',
    async ({ index, message, page, check, checkPrints, name }) => {
      const stage = stages[index]?.stage;
      if (!stage) throw new Error('no stage');
      if (index === 0) {
        await hasFailed(stage, 0);
        await play(stage, {
          name: 'at first no action is needed',
          make: () => {},
          message: /^Running; Event Hubs failed, (will be retried|next attempt (now|in \d+ s)); no action needed yet: /,
          status: 0,
          check: 12,
          ready: /^ready\nevent-hubs is retrying \(.*\), 1 waiting\n$/,
          health: 'warning',
        });
      }
      const make = () =>
        stage.untilStatus(
          'two minutes',
          ({ sinks }) => sinks.some(({ lateSeconds }) => lateSeconds !== null) === true,
          // Five bridges wait for it, each asked for two minutes.
          { timeoutMs: 180_000, everyMs: 1_000 },
        );
      const ready = /^ready\n.*nothing delivered for \d+ (s|min)/;
      await play(stage, {
        name,
        make,
        message,
        ...(page && { page }),
        status: 20,
        check,
        checkPrints,
        ready,
        health: 'warning',
      });
    },
  );
});
