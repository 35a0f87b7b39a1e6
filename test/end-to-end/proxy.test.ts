import { describe, expect } from 'vitest';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import { test } from '../support/azure-test.ts';
import { startConnectProxy } from '../support/connect-proxy.ts';
import { hubRecords, tableRows } from '../support/delivered.ts';
import { until } from '../support/until.ts';

describe('with a proxy', { concurrent: true }, () => {
  const webSockets = (azure: AzureSimulator): Record<string, unknown> => {
    const { fullyQualifiedNamespace, websocketEndpoint, eventHubName } = azure.eventHubs;
    const { endpoint, ruleId, streamName } = azure.logAnalytics;
    const customEndpoint = websocketEndpoint.replace('wss:', 'sb:');
    return {
      eventHubs: { fullyQualifiedNamespace, customEndpoint, eventHubName, transport: 'amqp-ws' },
      logAnalytics: { endpoint, ruleId, streamName },
    };
  };
  async function deliverOne(azure: AzureSimulator): Promise<void> {
    const polls = azure.imds.polls.web_0 ?? 0;
    await until(() => (azure.imds.polls.web_0 ?? 0) > polls + 1, { what: 'polls' });
    const notBefore = new Date(Date.now() + 900_000);
    const eventId = azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore });
    await until(() => hubRecords(azure).length > 0 && tableRows(azure).length > 0, { what: 'both sinks' });
    azure.imds.remove(eventId);
  }

  test.for([
    { name: 'configured by the environment', inEnvironment: true, credentials: undefined },
    { name: 'configured by the configuration file', inEnvironment: false, credentials: undefined },
    { name: 'with credentials, configured by the environment', inEnvironment: true, credentials: 'ada:s3cret' },
    { name: 'with credentials, configured by the configuration file', inEnvironment: false, credentials: 'ada:s3cret' },
  ])(
    '$name: both sinks go through it, polling and tokens never',
    async ({ inEnvironment, credentials }, { azure, start }) => {
      const proxy = await startConnectProxy(200, credentials);
      const address = credentials === undefined ? proxy.url : proxy.url.replace('//', `//${credentials}@`);
      const setting = inEnvironment ? {} : { proxy: { url: address } };
      const env = inEnvironment ? { HTTP_PROXY: address, HTTPS_PROXY: address, http_proxy: address } : {};
      const bridge = start({ sinks: webSockets(azure), ...setting }, { env });
      await deliverOne(azure);
      bridge.kill('SIGTERM');
      await bridge.exited;
      await proxy.close();
      const port = (url: string): string => new URL(url).port;
      const through = new Set(proxy.asked.map((target) => target.split(':').at(-1)));
      expect(JSON.stringify(bridge.log)).not.toContain('s3cret');
      expect([...through].sort()).toEqual(
        [port(azure.logAnalytics.endpoint), port(azure.eventHubs.websocketEndpoint)].sort(),
      );
    },
  );
});
