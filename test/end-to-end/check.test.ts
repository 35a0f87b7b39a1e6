import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { mountSmallDisk, whyNoMount } from '../outbox/small-disk.ts';
import {
  type BridgeConfiguration,
  configurationFor,
  startBridge,
  temporaryDirectory,
} from '../support/bridge-process.ts';
import { runCheck } from '../support/check-process.ts';
import { startConnectProxy } from '../support/connect-proxy.ts';
import { until } from '../support/until.ts';

const columns = JSON.parse(readFileSync('bicep/schema/columns.json', 'utf8')).tables.VmLifecycle_CL;
const guid = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const dayMs = 86_400_000;

let azure: AzureSimulator;
beforeAll(async () => {
  azure = await startAzureSimulator();
});
afterAll(() => azure.close());
beforeEach(() => {
  azure.eventHubs.fault(null);
  azure.logAnalytics.fault(null);
  azure.logAnalytics.authorize(null);
  azure.logAnalytics.declare('Custom-VmLifecycle_CL', columns);
  for (const target of ['instance', 'scheduledevents', 'token'] as const) azure.imds.fault(target, null);
  azure.imds.assignIdentities(null);
  azure.imds.shiftDate(0);
});

interface Trouble {
  readonly name: string;
  /** Makes the trouble. What it gives back is laid over the configuration, or ends the trouble. */
  readonly make: (state: string) => Promise<Made> | Made;
  readonly what: string;
  readonly message: RegExp;
  readonly remedy?: RegExp;
  readonly code: number;
  readonly args?: readonly string[];
}
interface Made {
  readonly configuration?: BridgeConfiguration;
  readonly end?: () => unknown;
}

const sinks = (): { eventHubs: Record<string, unknown>; logAnalytics: Record<string, unknown> } => {
  const { fullyQualifiedNamespace, customEndpoint, eventHubName } = azure.eventHubs;
  const { endpoint, ruleId, streamName } = azure.logAnalytics;
  return {
    eventHubs: { fullyQualifiedNamespace, customEndpoint, eventHubName },
    logAnalytics: { endpoint, ruleId, streamName },
  };
};
const withHub = (settings: Record<string, unknown>): Made => ({
  configuration: { sinks: { eventHubs: { ...sinks().eventHubs, ...settings } } },
});
const withRule = (settings: Record<string, unknown>): Made => ({
  configuration: { sinks: { logAnalytics: { ...sinks().logAnalytics, ...settings } } },
});
const overWebSockets = (url: string): BridgeConfiguration => ({
  ...withHub({ transport: 'amqp-ws', customEndpoint: azure.eventHubs.websocketEndpoint.replace('wss:', 'sb:') })
    .configuration,
  proxy: { url },
});

/** A server whose certificate is trusted, and ended yesterday. */
async function startExpired(directory: string) {
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
    notBeforeDate: new Date(Date.now() - 10 * dayMs),
    notAfterDate: new Date(Date.now() - dayMs),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  const server = createServer({ key: made.private, cert: made.cert });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const caFile = join(directory, 'expired.pem');
  writeFileSync(caFile, made.cert);
  return { endpoint: `https://localhost:${(server.address() as AddressInfo).port}`, caFile, server };
}

const troubles: readonly Trouble[] = [
  {
    name: 'the hub has another name',
    make: () => withHub({ eventHubName: 'vm-lifecycel' }),
    what: 'eventHubs.send',
    message: /does not know the event hub vm-lifecycel .*check sinks\.eventHubs\.eventHubName/,
    remedy: /^az rest .*--name simulated .*\/eventhubs\?/,
    code: 12,
  },
  {
    name: 'the role on the hub is missing',
    make: () => azure.eventHubs.fault('unauthorized') ?? {},
    what: 'eventHubs.send',
    message: /identity of this VM may not send .*30 min/,
    remedy: new RegExp(
      `^az role assignment create --role "Azure Event Hubs Data Sender" --assignee-object-id ${guid} --assignee-principal-type ServicePrincipal --scope "\\$\\(az resource list --subscription ${guid} .*--name simulated .*\\)/eventhubs/vm-lifecycle"$`,
    ),
    code: 12,
  },
  {
    name: 'the key in the connection string is wrong',
    make: () => {
      const { fullyQualifiedNamespace: _, customEndpoint: __, ...hub } = sinks().eventHubs;
      const connectionString = azure.eventHubs.connectionString.replace(/SharedAccessKey=[^;]+/, 'SharedAccessKey=x');
      return { configuration: { sinks: { eventHubs: { ...hub, connectionString } } } };
    },
    what: 'eventHubs.send',
    message: /^The access policy in sinks\.eventHubs\.connectionString may not send/,
    remedy: /^az rest .*\[0\]\.id" --output tsv\)\/authorizationRules\?/,
    code: 12,
  },
  {
    name: 'the role on the rule is missing',
    make: () => azure.logAnalytics.authorize([]) ?? {},
    what: 'logAnalytics.write',
    message: /may not send .*HTTP 403.*30 min/,
    remedy: new RegExp(
      `^az role assignment create --role "Monitoring Metrics Publisher" --assignee-object-id ${guid} .*immutableId=='dcr-0{32}'`,
    ),
    code: 13,
  },
  {
    name: 'the rule is another one',
    make: () => withRule({ ruleId: `dcr-${'1'.repeat(32)}` }),
    what: 'logAnalytics.write',
    message: /does not know .*HTTP 404.*ruleId/,
    remedy: /^az rest .*dataCollectionRules/,
    code: 13,
  },
  {
    name: 'the rule has no such stream',
    make: () => withRule({ streamName: 'Custom-Other_CL' }),
    what: 'logAnalytics.write',
    message: /does not know the stream Custom-Other_CL/,
    remedy: /streamDeclarations/,
    code: 13,
  },
  {
    name: 'a column has another type',
    make: () => {
      const wrong = columns.map((column: { name: string; type: string }) =>
        column.name === 'Sequence' ? { ...column, type: 'string' } : column,
      );
      azure.logAnalytics.declare('Custom-VmLifecycle_CL', wrong);
      return {};
    },
    args: ['--json', '--write'],
    what: 'logAnalytics.probe',
    message: /malformed .*has the columns that this version writes/,
    code: 13,
  },
  {
    name: 'the authority of the certificate is not trusted',
    make: () => ({ configuration: { tls: {} } }),
    what: 'eventHubs.tls',
    message: /authority that this VM does not trust .*tls\.caFile/,
    remedy: /^openssl s_client /,
    code: 12,
  },
  {
    name: 'the certificate has expired',
    make: async (state) => {
      const { endpoint, caFile, server } = await startExpired(state);
      return { configuration: { ...withRule({ endpoint }).configuration, tls: { caFile } }, end: () => server.close() };
    },
    what: 'logAnalytics.tls',
    message: /not valid at this time \(CERT_HAS_EXPIRED\): renew it, or set the clock/,
    code: 13,
  },
  {
    name: 'the proxy is down',
    make: () => ({ configuration: overWebSockets('http://127.0.0.1:1') }),
    what: 'eventHubs.name',
    message: /Nothing listens at the proxy 127\.0\.0\.1:1,.*proxy\.url/,
    code: 12,
  },
  {
    name: 'the proxy refuses every connection',
    make: async () => {
      const proxy = await startConnectProxy(403);
      return { configuration: overWebSockets(proxy.url), end: proxy.close };
    },
    what: 'eventHubs.name',
    message: /The proxy 127\.0\.0\.1:\d+ refuses .*\(HTTP 403\): let it allow CONNECT to localhost/,
    code: 12,
  },
  {
    name: 'the VM has two identities and none is configured',
    make: () =>
      azure.imds.assignIdentities(['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']) ??
      {},
    what: 'identity.token',
    message: /Multiple user assigned identities.*identity\.clientId/,
    remedy: /^az vmss? identity show .*userAssignedIdentities/,
    code: 11,
  },
  {
    name: 'the identity that is named is not assigned to this VM',
    make: () => {
      azure.imds.assignIdentities(['11111111-1111-4111-8111-111111111111']);
      return { configuration: { identity: { clientId: '33333333-3333-4333-8333-333333333333' } } };
    },
    what: 'identity.token',
    message: /Identity not found/,
    remedy: /^az vmss identity assign .*--name web --identities "\$\(az identity list .*33333333-/,
    code: 11,
  },
  {
    name: 'the clock is a day behind',
    make: () => azure.imds.shiftDate(dayMs) ?? {},
    what: 'clock.offset',
    message: /is 24 h behind that of Azure: tokens and certificates/,
    remedy: /chronyc makestep/,
    code: 15,
  },
  {
    name: 'nothing is at the address of the metadata service',
    make: () => ({ configuration: { imds: { endpoint: 'http://127.0.0.1:1' } } }),
    what: 'imds.instance',
    message: /Nothing listens at http:\/\/127\.0\.0\.1:1: check imds\.endpoint/,
    remedy: /^curl .*http:\/\/127\.0\.0\.1:1\/metadata\/instance/,
    code: 10,
  },
  {
    name: 'the proxy agent refuses the program',
    make: () => {
      azure.imds.fault('instance', { status: 403, body: '{}' });
      azure.imds.fault('scheduledevents', { status: 403, body: '{}' });
      return {};
    },
    what: 'imds.document',
    message: /Metadata Security Protocol, its rules must allow this program/,
    remedy: /securityProfile\.proxyAgentSettings$/,
    code: 10,
  },
  {
    name: 'the state file is damaged',
    make: (state) => {
      writeFileSync(join(state, 'outbox.sqlite'), 'SQLite format 3\0 and then nothing that makes sense'.repeat(200));
      return {};
    },
    what: 'state.outbox',
    message: /is damaged .*The service repairs it.*corrupt-<time>/,
    remedy: /^sudo systemctl start /,
    code: 14,
  },
  {
    name: 'the certificate file is not there',
    make: () => ({ configuration: { tls: { caFile: '/no/such.pem' } } }),
    what: 'configuration.read',
    message: /tls\.caFile is "\/no\/such\.pem": there is no such file/,
    code: 78,
  },
];

test.for(troubles)(
  'check names the cause and the remedy: $name',
  async ({ make, what, message, remedy, code, args }) => {
    using directory = temporaryDirectory('state');
    const { configuration, end } = await make(directory.path);
    try {
      const whole = configurationFor(azure, 'web_0', directory.path, configuration);
      const checked = await runCheck(whole, args ? { args } : {});
      const line = checked.line(what);
      expect(line).toMatchObject({ verdict: 'problem', message: expect.stringMatching(message) });
      if (remedy) expect(line.remedy).toMatch(remedy);
      expect(checked.report).toMatchObject({ verdict: 'problem', exitCode: code });
      expect(checked.code).toBe(code);
      expect(checked.err).toBe('');
      expect(checked.out + checked.err).not.toMatch(/undefined|\[object|SharedAccessKey=/);
    } finally {
      await end?.();
    }
  },
);

test('without problems, check verifies every component, and with --write a test record arrives in both sinks', async () => {
  using directory = temporaryDirectory('state');
  const configuration = configurationFor(azure, 'web_0', directory.path);
  const before = azure.eventHubs.events().length;
  expect((await runCheck(configuration)).report).toMatchObject({ verdict: 'ok', exitCode: 0, counts: { problem: 0 } });
  expect(azure.eventHubs.events()).toHaveLength(before);
  const { code, report } = await runCheck(configuration, { args: ['--json', '--write'] });
  expect({ code, counts: report.counts }).toMatchObject({
    code: 0,
    counts: { warning: 0, problem: 0, 'not-proven': 0 },
  });
  const record = JSON.parse(String(azure.eventHubs.events().at(-1)?.body));
  expect(record).toMatchObject({ isTest: true, vmName: 'web_0', eventType: 'Test' });
  expect(azure.logAnalytics.rows().at(-1)).toMatchObject({ IsTest: true, VmName: 'web_0' });
});

test('check explains on a terminal why it waits for the first answer, and ends with a verdict', async () => {
  using directory = temporaryDirectory('state');
  azure.imds.switchOff();
  azure.imds.firstCallDelay(4_000);
  const imds = { endpoint: azure.imds.vmUrl('web_0'), firstTimeoutSeconds: 30 };
  const { out, code } = await runCheck(configurationFor(azure, 'web_0', directory.path, { imds }), { args: [] });
  expect(out).toMatch(/may take two minutes: it turns the feature on/);
  expect(out).toMatch(/\nNo problem found: \d+ ok, 2 not proven\.\n$/);
  expect(code).toBe(0);
});

test('offline, check makes no network calls', async () => {
  using directory = temporaryDirectory('state');
  const before = { polls: azure.imds.polls.web_9 ?? 0, connections: azure.eventHubs.connectionsOpened };
  const { report } = await runCheck(configurationFor(azure, 'web_9', directory.path), {
    args: ['--json', '--offline'],
  });
  expect([...new Set(report.findings.map(({ what }) => what.split('.')[0]))]).toEqual([
    'configuration',
    'disk',
    'state',
    'approve',
  ]);
  expect({ polls: azure.imds.polls.web_9 ?? 0, connections: azure.eventHubs.connectionsOpened }).toEqual(before);
});

test('check comes to its end where nothing answers', async () => {
  using directory = temporaryDirectory('state');
  azure.imds.fault('instance', 'hang');
  azure.imds.fault('scheduledevents', 'hang');
  azure.imds.fault('token', 'hang');
  azure.eventHubs.fault('mute');
  azure.logAnalytics.fault('hang');
  const imds = { endpoint: azure.imds.vmUrl('web_0'), firstTimeoutSeconds: 5 };
  const checked = await runCheck(configurationFor(azure, 'web_0', directory.path, { imds }));
  const verdicts = Object.fromEntries(checked.report.findings.map(({ what, verdict }) => [what, verdict]));
  expect(verdicts).toMatchObject({
    'imds.instance': 'problem',
    'imds.document': 'problem',
    'clock.offset': 'not-proven',
    'identity.token': 'problem',
    'eventHubs.tls': 'problem',
    'eventHubs.send': 'not-proven',
    'logAnalytics.write': 'not-proven',
  });
  expect(checked.code).toBe(10);
});

test('a throttled request is no verdict: check retries', async () => {
  using directory = temporaryDirectory('state');
  for (const target of ['instance', 'scheduledevents', 'token'] as const) azure.imds.fault(target, { status: 429 }, 1);
  const { report, code } = await runCheck(configurationFor(azure, 'web_0', directory.path));
  expect(report.findings.filter(({ verdict }) => verdict === 'problem')).toEqual([]);
  expect(code).toBe(0);
});

describe('beside a service that runs', () => {
  test('check disturbs nothing, knows it, and a second one is refused', async () => {
    using directory = temporaryDirectory('state');
    const configuration = configurationFor(azure, 'web_0', directory.path);
    const service = startBridge(configuration);
    await until(() => (azure.imds.polls.web_0 ?? 0) > 1 && service.log.length > 0, { what: 'polls' });
    const { line, code } = await runCheck(configuration);
    expect(line('state.service')).toMatchObject({
      verdict: 'ok',
      message: expect.stringMatching(/A service runs .*75/),
    });
    expect(line('state.outbox').verdict).toBe('ok');
    expect(code).toBe(0);
    const second = startBridge(configuration);
    expect((await second.exited).code).toBe(75);
    expect(service.child.exitCode).toBeNull();
    service.kill('SIGTERM');
    expect((await service.exited).code).toBe(0);
    const after = await runCheck(configuration);
    expect(after.line('state.service')).toMatchObject({
      verdict: 'warning',
      message: expect.stringMatching(/^No service/),
    });
  });
});

const noMount = whyNoMount();
test.skipIf(noMount !== null)(`a full disk is reported as one${noMount ? ` (skipped: ${noMount})` : ''}`, async () => {
  using disk = mountSmallDisk(8);
  disk.fill();
  const { line, code } = await runCheck(configurationFor(azure, 'web_0', disk.path));
  expect(line('disk.directory')).toMatchObject({
    verdict: 'problem',
    message: expect.stringMatching(/the disk is full/),
  });
  expect(line('disk.space')).toMatchObject({ verdict: 'problem', remedy: `df -h ${disk.path}` });
  expect(code).toBe(14);
});
