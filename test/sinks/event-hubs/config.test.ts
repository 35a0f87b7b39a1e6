import { afterEach, expect, test, vi } from 'vitest';
import { destinationOf, type EventHubsConfig } from '../../../src/sinks/event-hubs/config.ts';

const config: EventHubsConfig = {
  fullyQualifiedNamespace: 'x.servicebus.windows.net',
  connectionString: null,
  eventHubName: 'h',
  customEndpoint: null,
  transport: 'amqp',
  idleCloseSeconds: 60,
  connectJitterSeconds: 0,
};
const connectionString = 'Endpoint=sb://y.example;SharedAccessKeyName=n;SharedAccessKey=s3cret';

afterEach(() => vi.unstubAllEnvs());

test.for([
  {
    name: 'an identity sends',
    with: {},
    to: { host: 'x.servicebus.windows.net', sender: 'the identity of this VM', proxy: null },
  },
  {
    name: 'a key sends',
    with: { fullyQualifiedNamespace: null, connectionString },
    to: { host: 'y.example', sender: 'the access policy in sinks.eventHubs.connectionString', proxy: null },
  },
  { name: 'WebSockets go through the proxy', with: { transport: 'amqp-ws' as const }, to: { proxy: 'proxy:3128' } },
  {
    name: 'unless the detour goes past it',
    with: { transport: 'amqp-ws' as const, customEndpoint: 'sb://direct:1' },
    to: { proxy: null },
  },
])('the name that failures of the event hub report: $name', ({ with: settings, to }) => {
  vi.stubEnv('HTTPS_PROXY', 'http://ada:s3cret@proxy:3128');
  vi.stubEnv('NO_PROXY', 'direct');
  const destination = destinationOf({ ...config, ...settings });
  expect(destination).toMatchObject(to);
  expect(JSON.stringify(destination)).not.toContain('s3cret');
});
