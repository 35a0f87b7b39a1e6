import { expect, test } from 'vitest';
import { networkPathTo, type SendSeen, sendFindings } from '../../../src/sinks/event-hubs/check.ts';
import { destinationOf, type EventHubsConfig } from '../../../src/sinks/event-hubs/config.ts';

const config: EventHubsConfig = {
  fullyQualifiedNamespace: 'x.servicebus.windows.net',
  connectionString: null,
  eventHubName: 'vm-lifecycle',
  customEndpoint: null,
  transport: 'amqp',
  idleCloseSeconds: 60,
  connectJitterSeconds: 0,
};
const key = 'SharedAccessKeyName=sender;SharedAccessKey=s3cret';
const byKey = (endpoint: string, more = ''): Partial<EventHubsConfig> => ({
  fullyQualifiedNamespace: null,
  connectionString: `Endpoint=sb://${endpoint};${key}${more}`,
});

test.for([
  { name: 'AMQP', with: {}, way: { host: 'x.servicebus.windows.net', port: 5671, tls: true } },
  {
    name: 'WebSockets',
    with: { transport: 'amqp-ws' as const },
    way: { host: 'x.servicebus.windows.net', port: 443, tls: true },
  },
  {
    name: 'a detour',
    with: { customEndpoint: 'sb://10.0.0.4:9000' },
    way: { host: '10.0.0.4', port: 9000, tls: true },
  },
  {
    name: 'a connection string',
    with: byKey('y.servicebus.windows.net/'),
    way: { host: 'y.servicebus.windows.net', port: 5671, tls: true },
  },
  {
    name: 'the emulator',
    with: byKey('localhost', ';UseDevelopmentEmulator=true'),
    way: { host: 'localhost', port: 5672, tls: false },
  },
])('the way to the event hub: $name', ({ with: settings, way }) => {
  const whole = { ...config, ...settings };
  expect(networkPathTo(whole, destinationOf(whole))).toEqual({ ...way, proxy: null });
});

function found(code: string, more: Partial<SendSeen> & { settings?: Partial<EventHubsConfig> } = {}) {
  const whole = { ...config, ...more.settings };
  const verdict = { ok: code === 'ok', code, detail: 'Why.' };
  const [send, probe] = sendFindings({
    config: whole,
    to: destinationOf(whole),
    verdict,
    isReachable: true,
    objectId: 'oid',
    vm: null,
    write: false,
    probe: null,
    ...more,
  });
  return { send, probe };
}

const space =
  '$(az resource list --subscription <subscription> --resource-type Microsoft.EventHub/namespaces --name x --query "[0].id" --output tsv)';
test.for([
  { name: 'it may send', code: 'ok', verdict: 'ok', remedy: undefined },
  { name: 'there is no token', code: 'token-timeout', verdict: 'not-proven', remedy: undefined },
  {
    name: 'the way is closed',
    code: 'connection-refused',
    more: { isReachable: false },
    verdict: 'not-proven',
    remedy: undefined,
  },
  {
    name: 'the role is missing',
    code: 'unauthorized',
    verdict: 'problem',
    remedy: `az role assignment create --role "Azure Event Hubs Data Sender" --assignee-object-id oid --assignee-principal-type ServicePrincipal --scope "${space}/eventhubs/vm-lifecycle"`,
  },
  {
    name: 'the policy may not send',
    code: 'unauthorized',
    more: { settings: byKey('x.servicebus.windows.net') },
    verdict: 'problem',
    remedy: `az rest --method get --url "${space}/eventhubs/vm-lifecycle/authorizationRules?api-version=2024-01-01" --query "value[].{name:name, rights:properties.rights}"`,
  },
  {
    name: 'the hub is not there',
    code: 'not-found',
    verdict: 'problem',
    remedy: `az rest --method get --url "${space}/eventhubs?api-version=2024-01-01" --query "value[].name" --output tsv`,
  },
  {
    name: 'the firewall is in the way',
    code: 'network-refused',
    verdict: 'problem',
    remedy: `az rest --method get --url "${space}/networkRuleSets/default?api-version=2024-01-01"`,
  },
  {
    name: 'the hub is switched off',
    code: 'disabled',
    verdict: 'problem',
    remedy: `az resource update --ids "${space}/eventhubs/vm-lifecycle" --set properties.status=Active`,
  },
  { name: 'the service is busy', code: 'server-busy', verdict: 'problem', remedy: undefined },
])('the right to send to the event hub: $name', ({ code, more, verdict, remedy }) => {
  const { send } = found(code, more ?? {});
  expect(send?.verdict).toBe(verdict);
  expect(send?.remedy).toBe(remedy);
  expect(JSON.stringify(send)).not.toContain('s3cret');
});

test('a test record that is refused is a problem in the words of the sink', () => {
  const refused = { kind: 'retry', cause: 'throttled', code: 'server-busy', reason: 'Busy.' } as const;
  expect(found('ok', { write: true, probe: refused }).probe).toMatchObject({ verdict: 'problem', message: 'Busy.' });
  expect(found('ok', { write: true }).probe).toMatchObject({ verdict: 'not-proven' });
  expect(found('ok').probe).toBeUndefined();
});
