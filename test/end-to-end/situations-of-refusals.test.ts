import { describe, expect } from 'vitest';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import { playInTurn, type Situation, well } from '../support/situation.ts';
import { type Stage, seesDocuments } from '../support/stage.ts';

const minutes = (n: number): Date => new Date(Date.now() + n * 60_000);
const announce = (azure: AzureSimulator, vm: string) =>
  azure.imds.schedule({ eventType: 'Freeze', resources: [vm], notBefore: minutes(30) });
/** And the other destination has nothing in flight, since the page shows that one too. */
const isRefused = (stage: Stage, sink: number) =>
  stage.untilStatus(
    'a refusal',
    ({ sinks }) =>
      sinks[sink]?.state === 'refused' &&
      sinks[sink].waiting > 0 &&
      sinks.every(({ state, waiting }) => state === 'refused' || waiting === 0),
  );
const table = ({ logAnalytics: { endpoint, ruleId, streamName } }: AzureSimulator) => ({
  endpoint,
  ruleId,
  streamName,
});

const withoutRoles: readonly Situation[] = [
  {
    name: 'the role on the hub is missing',
    make: async (stage) => {
      stage.azure.eventHubs.fault('unauthorized');
      await stage.start();
      await seesDocuments(stage);
      announce(stage.azure, 'web_0');
      await isRefused(stage, 0);
    },
    message:
      /^Event Hubs has accepted nothing since \d\d:\d\d UTC: .*grant the role 'Azure Event Hubs Data Sender'.*check prints the command.*outbox retry --now --sink event-hubs/,
    page: /^Event Hubs +refused +1 /m,
    status: 20,
    check: 12,
    checkPrints: /\$ az role assignment create --role "Azure Event Hubs Data Sender"/,
    ready: /^ready\nevent-hubs is refused \(unauthorized\), 1 waiting\n$/,
    health: 'warning',
  },
  {
    name: 'the role was granted, and the operator requests a retry',
    make: async (stage) => {
      stage.azure.eventHubs.fault(null);
      const { code, out } = await stage.command(['outbox', 'retry', '--now']);
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^Trying now: 1 for Event Hubs\./) });
      // Far sooner than the next scheduled attempt, which is minutes later after several failures.
      await stage.untilStatus('the delivery', ({ sinks }) => sinks[0]?.waiting === 0, { timeoutMs: 10_000 });
      for (const { EventId } of stage.azure.imds.document.Events) stage.azure.imds.remove(EventId);
      await stage.untilStatus(
        'the end',
        ({ events, sinks }) => events?.length === 0 && sinks.every(({ waiting }) => waiting === 0),
      );
    },
    ...well,
  },
  {
    name: 'the role on the rule is missing',
    make: async (stage) => {
      stage.azure.logAnalytics.authorize([]);
      announce(stage.azure, 'web_0');
      await isRefused(stage, 1);
    },
    message: /^Log Analytics has accepted nothing since \d\d:\d\d UTC: .*403.*outbox retry --now --sink log-analytics/,
    page: /^Event Hubs +idle +0 .*\nLog Analytics +refused +1 /m,
    status: 20,
    check: 13,
    checkPrints: /\$ az role assignment create --role "Monitoring Metrics Publisher"/,
    ready: /^ready\nlog-analytics is refused \(http-403\), 1 waiting\n$/,
    health: 'warning',
  },
  {
    name: 'both refuse',
    make: async (stage) => {
      stage.azure.eventHubs.fault('unauthorized');
      stage.bridge.kill('SIGTERM');
      await stage.bridge.exited;
      await stage.start();
      await seesDocuments(stage);
      announce(stage.azure, 'web_0');
      await isRefused(stage, 0);
      await isRefused(stage, 1);
    },
    message: /^Event Hubs has accepted nothing since .*\(1 more below\.\)$/,
    page: /^Operator action also required:\n {2}- Log Analytics has accepted nothing since/m,
    status: 20,
    check: 12,
    ready: /^ready\nevent-hubs is refused .*\nlog-analytics is refused /,
    health: 'warning',
  },
];

const misconfigured: readonly Situation[] = [
  {
    name: 'the hub has another name',
    make: async (stage) => {
      const { fullyQualifiedNamespace, customEndpoint } = stage.azure.eventHubs;
      stage.configure({
        sinks: {
          eventHubs: { fullyQualifiedNamespace, customEndpoint, eventHubName: 'vm-lifecycel' },
          logAnalytics: table(stage.azure),
        },
      });
      await stage.start();
      await seesDocuments(stage);
      announce(stage.azure, 'web_0');
      await stage.untilStatus('another failure', ({ sinks }) => sinks[0]?.lastError?.code === 'not-found');
    },
    message: /^Event Hubs has accepted nothing since .*does not know the event hub vm-lifecycel/,
    status: 20,
    check: 12,
    checkPrints: /\$ az rest --method get .*eventhubs/,
    ready: /^ready\nevent-hubs is refused \(not-found\)/,
    health: 'warning',
  },
  {
    name: 'the VM has no identity',
    make: async (stage) => {
      stage.azure.imds.assignIdentities([]);
      stage.bridge.kill('SIGTERM');
      await stage.bridge.exited;
      stage.configure({ identity: { clientId: '11111111-1111-1111-1111-111111111111' } });
      await stage.start();
      announce(stage.azure, 'web_0');
      // The pause that the failures before have earned is kept across the restart.
      await stage.command(['outbox', 'retry', '--now']);
      await stage.untilStatus('no token', ({ sinks }) =>
        sinks.every(({ waiting, lastError }) => waiting > 0 && lastError?.code.startsWith('token-') === true),
      );
    },
    message: /^Event Hubs has accepted nothing since .*identity/,
    status: 20,
    check: 11,
    checkPrints: /\$ az (vm|vmss) identity assign/,
    ready: /^ready\nevent-hubs is refused \(token-/,
    health: 'warning',
  },
];

describe('status and check as soon as a destination refuses', () => {
  playInTurn('a role is missing', withoutRoles);
  playInTurn('a name or an identity is wrong', misconfigured);
});
