import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { describe, expect } from 'vitest';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import { mountSmallDisk, whyNoMount } from '../outbox/small-disk.ts';
import { test } from '../support/azure-test.ts';
import { type BridgeConfiguration, configurationFor } from '../support/bridge-process.ts';
import { runCheck } from '../support/check-process.ts';
import { startConnectProxy } from '../support/connect-proxy.ts';
import { until } from '../support/until.ts';

const columns = JSON.parse(readFileSync('bicep/schema/columns.json', 'utf8')).tables.VmLifecycle_CL;
const guid = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const dayMs = 86_400_000;

test.override('simulator', { streams: { 'Custom-VmLifecycle_CL': columns, 'Custom-VmLifecycleBridge_CL': null } });

interface Fault {
  readonly name: string;
  /** Creates the problem. The result overrides the configuration, or ends the problem. */
  readonly make: (azure: AzureSimulator, directory: string) => Promise<Made> | Made;
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

const sinks = (
  azure: AzureSimulator,
): { eventHubs: Record<string, unknown>; logAnalytics: Record<string, unknown> } => {
  const { fullyQualifiedNamespace, customEndpoint, eventHubName } = azure.eventHubs;
  const { endpoint, ruleId, streamName } = azure.logAnalytics;
  return {
    eventHubs: { fullyQualifiedNamespace, customEndpoint, eventHubName },
    logAnalytics: { endpoint, ruleId, streamName },
  };
};
const withHub = (azure: AzureSimulator, settings: Record<string, unknown>): Made => ({
  configuration: { sinks: { eventHubs: { ...sinks(azure).eventHubs, ...settings } } },
});
const withRule = (azure: AzureSimulator, settings: Record<string, unknown>): Made => ({
  configuration: { sinks: { logAnalytics: { ...sinks(azure).logAnalytics, ...settings } } },
});
const overWebSockets = (azure: AzureSimulator, url: string): BridgeConfiguration => ({
  ...withHub(azure, { transport: 'amqp-ws', customEndpoint: azure.eventHubs.websocketEndpoint.replace('wss:', 'sb:') })
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

const problems: readonly Fault[] = [
  {
    name: 'the hub has another name',
    make: (azure) => withHub(azure, { eventHubName: 'vm-lifecycel' }),
    what: 'eventHubs.send',
    message: /does not know the event hub vm-lifecycel .*check sinks\.eventHubs\.eventHubName/,
    remedy: /^az rest .*--name simulated .*\/eventhubs\?/,
    code: 12,
  },
  {
    name: 'the role on the hub is missing',
    make: (azure) => azure.eventHubs.fault('unauthorized') ?? {},
    what: 'eventHubs.send',
    message: /identity of this VM may not send .*30 min/,
    remedy: new RegExp(
      `^az role assignment create --role "Azure Event Hubs Data Sender" --assignee-object-id ${guid} --assignee-principal-type ServicePrincipal --scope "\\$\\(az resource list --subscription ${guid} .*--name simulated .*\\)/eventhubs/vm-lifecycle"$`,
    ),
    code: 12,
  },
  {
    name: 'the key in the connection string is wrong',
    make: (azure) => {
      const { fullyQualifiedNamespace: _, customEndpoint: __, ...hub } = sinks(azure).eventHubs;
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
    make: (azure) => azure.logAnalytics.authorize([]) ?? {},
    what: 'logAnalytics.write',
    message: /may not send .*HTTP 403.*30 min/,
    remedy: new RegExp(
      `^az role assignment create --role "Monitoring Metrics Publisher" --assignee-object-id ${guid} .*--scope "/subscriptions/.*/dataCollectionRules/simulated"$`,
    ),
    code: 13,
  },
  {
    name: 'the rule is another one',
    make: (azure) => withRule(azure, { ruleId: `dcr-${'1'.repeat(32)}` }),
    what: 'logAnalytics.write',
    message: /^The stream .* of the data collection rule dcr-1{32} does not exist, .*HTTP 404.*ruleId/,
    remedy: /^az rest .*dataCollectionRules/,
    code: 13,
  },
  {
    name: 'the rule has no such stream',
    make: (azure) => withRule(azure, { streamName: 'Custom-Other_CL' }),
    what: 'logAnalytics.write',
    message: /does not know the stream Custom-Other_CL/,
    remedy: /streamDeclarations/,
    code: 13,
  },
  {
    name: 'a column has another type',
    make: (azure) => {
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
    message: /authority that the bridge does not trust .*tls\.caFile/,
    remedy: /^openssl s_client /,
    code: 12,
  },
  {
    name: 'the certificate has expired',
    make: async (azure, directory) => {
      const { endpoint, caFile, server } = await startExpired(directory);
      return {
        configuration: { ...withRule(azure, { endpoint }).configuration, tls: { caFile } },
        end: () => server.close(),
      };
    },
    what: 'logAnalytics.tls',
    message: /not valid at this time \(CERT_HAS_EXPIRED\): renew it, or correct the clock/,
    code: 13,
  },
  {
    name: 'the proxy is down',
    make: (azure) => ({ configuration: overWebSockets(azure, 'http://127.0.0.1:1') }),
    what: 'eventHubs.name',
    message: /Nothing listens at the proxy 127\.0\.0\.1:1,.*proxy\.url/,
    code: 12,
  },
  {
    name: 'the proxy refuses every connection',
    make: async (azure) => {
      const proxy = await startConnectProxy(403);
      return { configuration: overWebSockets(azure, proxy.url), end: proxy.close };
    },
    what: 'eventHubs.name',
    message: /The proxy 127\.0\.0\.1:\d+ refuses .*\(HTTP 403\): let it allow CONNECT to localhost/,
    code: 12,
  },
  {
    name: 'the VM has two identities and none is configured',
    make: (azure) =>
      azure.imds.assignIdentities(['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']) ??
      {},
    what: 'identity.token',
    message: /Multiple user assigned identities.*identity\.clientId/,
    remedy: /^az vmss? identity show .*userAssignedIdentities/,
    code: 11,
  },
  {
    name: 'the identity that is named is not assigned to this VM',
    make: (azure) => {
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
    make: (azure) => azure.imds.shiftDate(dayMs) ?? {},
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
    make: (azure) => {
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
    make: (_, directory) => {
      writeFileSync(
        join(directory, 'outbox.sqlite'),
        'SQLite format 3\0 and then nothing that makes sense'.repeat(200),
      );
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
    message: /tls\.caFile is "\/no\/such\.pem" in .*config\.json: there is no such file/,
    code: 78,
  },
];

// They compute and hardly wait, so that several at a time would only be in each other's way.
describe.concurrent('where something is wrong', () => {
  test.for(problems)(
    'check names the cause and the remedy: $name',
    { concurrent: false },
    async ({ make, what, message, remedy, code, args }, { azure, directory }) => {
      const { configuration, end } = await make(azure, directory);
      try {
        const whole = configurationFor(azure, 'web_0', directory, configuration);
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
});

describe.concurrent('check', () => {
  test('without problems, check verifies every component, and with --write a test record arrives in both sinks', async ({
    azure,
    directory,
  }) => {
    const configuration = configurationFor(azure, 'web_0', directory);
    const before = azure.eventHubs.events().length;
    expect((await runCheck(configuration)).report).toMatchObject({
      verdict: 'ok',
      exitCode: 0,
      counts: { problem: 0 },
    });
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

  test('check explains on a terminal why it waits for the first answer, and ends with a verdict', async ({
    azure,
    directory,
  }) => {
    azure.imds.switchOff();
    azure.imds.firstCallDelay(4_000);
    const imds = { endpoint: azure.imds.vmUrl('web_0'), firstTimeoutSeconds: 30 };
    const { out, code } = await runCheck(configurationFor(azure, 'web_0', directory, { imds }), { args: [] });
    expect(out).toMatch(/may take two minutes, because it enables the feature/);
    expect(out).toMatch(/\nNo problem found: \d+ ok, 2 not proven\.\n$/);
    expect(code).toBe(0);
  });

  test('offline, check makes no network calls', async ({ azure, directory }) => {
    const before = { polls: azure.imds.polls.web_9 ?? 0, connections: azure.eventHubs.connectionsOpened };
    const { report } = await runCheck(configurationFor(azure, 'web_9', directory), {
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

  test('check comes to its end where nothing answers', async ({ azure, directory }) => {
    azure.imds.fault('instance', 'hang');
    azure.imds.fault('scheduledevents', 'hang');
    azure.imds.fault('token', 'hang');
    azure.eventHubs.fault('mute');
    azure.logAnalytics.fault('hang');
    const imds = { endpoint: azure.imds.vmUrl('web_0'), firstTimeoutSeconds: 5 };
    const checked = await runCheck(configurationFor(azure, 'web_0', directory, { imds }));
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

  test('a throttled request is no verdict: check retries', async ({ azure, directory }) => {
    for (const target of ['instance', 'scheduledevents', 'token'] as const)
      azure.imds.fault(target, { status: 429 }, 1);
    const { report, code } = await runCheck(configurationFor(azure, 'web_0', directory));
    expect(report.findings.filter(({ verdict }) => verdict === 'problem')).toEqual([]);
    expect(code).toBe(0);
  });

  describe('beside a service that runs', () => {
    test('check disturbs nothing, knows it, and a second one is refused', async ({ azure, directory, start }) => {
      const configuration = configurationFor(azure, 'web_0', directory);
      const service = start();
      await until(() => (azure.imds.polls.web_0 ?? 0) > 1 && service.log.length > 0, { what: 'polls' });
      const { line, code } = await runCheck(configuration);
      expect(line('state.service')).toMatchObject({
        verdict: 'ok',
        message: expect.stringMatching(/A service runs .*75/),
      });
      expect(line('state.outbox').verdict).toBe('ok');
      expect(code).toBe(0);
      const second = start();
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
  test.skipIf(noMount !== null)(
    `a full disk is reported as one${noMount ? ` (skipped: ${noMount})` : ''}`,
    async ({ azure }) => {
      using disk = mountSmallDisk(8);
      disk.fill();
      const { line, code } = await runCheck(configurationFor(azure, 'web_0', disk.path));
      expect(line('disk.directory')).toMatchObject({
        verdict: 'problem',
        message: expect.stringMatching(/the disk is full/),
      });
      expect(line('disk.space')).toMatchObject({ verdict: 'problem', remedy: `df -h ${disk.path}` });
      expect(code).toBe(14);
    },
  );
});
