import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type BridgeSettings,
  bridgeConfiguration,
  makeConfiguration,
  userInitiatedEvents,
} from '../../infra/bridge-configuration.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { root } from '../support/source-tree.ts';

const settings: BridgeSettings = {
  fullyQualifiedNamespace: 'evhns-lifecycle-abcd.servicebus.windows.net',
  eventHubName: 'vm-lifecycle',
  logsIngestionEndpoint: 'https://dcr-lifecycle-abcd.westeurope-1.ingest.monitor.azure.com',
  ruleId: 'dcr-0123456789abcdef0123456789abcdef',
  streamName: 'Custom-VmLifecycle_CL',
  heartbeatStreamName: 'Custom-VmLifecycleBridge_CL',
  identityClientId: '6f6b5d0a-1c1e-4b57-9a0e-2f1f3f1a7c55',
  identityResourceId:
    '/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-lifecycle',
};

/** As `az deployment sub show --query properties.outputs` prints them: each output with its type. */
const outputsOf = (value: unknown) => ({
  resourceGroupName: { type: 'String', value: 'rg-lifecycle' },
  settings: { type: 'Object', value },
});

/** Runs the command on files that are not there but in the table. */
function run(args: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const result = { code: -1, out: '', err: '', written: {} as Record<string, string> };
  result.code = makeConfiguration(args, {
    read(file) {
      const text = files[file ?? '-'];
      if (text === undefined) throw new Error(`ENOENT: no such file or directory, open '${file}'`);
      return text;
    },
    write(file, text) {
      if (file === '/read-only') throw new Error(`EACCES: permission denied, open '${file}'`);
      result.written[file] = text;
    },
    print(text) {
      result.out += text;
    },
    say(text) {
      result.err += text;
    },
  });
  return result;
}

const choice = '--user-initiated-events';
const good = JSON.stringify(outputsOf(settings));

test.for([
  { name: 'the outputs from standard input', args: [], files: { '-': good } },
  { name: 'the outputs from a file', args: ['o.json'], files: { 'o.json': good } },
  {
    name: 'the complete answer of the deployment',
    args: ['o.json'],
    files: { 'o.json': JSON.stringify({ id: '/x', properties: { outputs: outputsOf(settings) } }) },
  },
  {
    name: 'a file of PowerShell, which has a byte order mark',
    args: ['o.json'],
    files: { 'o.json': `\uFEFF${good}` },
  },
])('a configuration is made of $name', ({ args, files }) => {
  const { code, out, err } = run([...args, choice, 'acceptDelay'], files);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(JSON.parse(out)).toEqual(bridgeConfiguration(settings, 'acceptDelay'));
});

test.for([
  { vms: '4000', jitter: undefined },
  { vms: '4001', jitter: 60 },
])('for $vms VMs connectJitterSeconds is $jitter', ({ vms, jitter }) => {
  const { out } = run([choice, 'acceptDelay', '--vms', vms], { '-': good });
  expect(JSON.parse(out).sinks.eventHubs.connectJitterSeconds).toBe(jitter);
});

test.for(['0', '-1', '2.5', 'many'])('a number of VMs that is %s is refused', (vms) => {
  const { code, err } = run([choice, 'acceptDelay', '--vms', vms], { '-': good });
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('Expected a whole number') });
});

const secondShard = { ...settings, fullyQualifiedNamespace: 'evhns-second.servicebus.windows.net' };
const sharded = JSON.stringify({
  ...outputsOf(settings),
  shards: {
    type: 'Array',
    value: [
      { regions: ['westeurope', 'northeurope'], settings },
      { regions: ['francecentral'], settings: secondShard },
    ],
  },
});

test.for([
  { region: 'northeurope', expected: settings },
  { region: 'francecentral', expected: secondShard },
])('VMs in $region are sent to the shard that takes their region', ({ region, expected }) => {
  const { code, out } = run([choice, 'acceptDelay', '--region', region], { '-': sharded });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual(bridgeConfiguration(expected, 'acceptDelay'));
});

test('a platform of one shard needs no region', () => {
  const one = { shards: { type: 'Array', value: [{ regions: ['francecentral'], settings: secondShard }] } };
  const { code, out } = run([choice, 'acceptDelay'], { '-': JSON.stringify(one) });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual(bridgeConfiguration(secondShard, 'acceptDelay'));
});

test.for(userInitiatedEvents)(
  'the bridge takes the configuration made with %s, and finds in it what was deployed',
  (who) => {
    const { out } = run([choice, who], { '-': good });
    const document = { value: JSON.parse(out), source: 'config.json', keepsSecrets: false };
    const { config, problems } = readConfig({ documents: [document], env: {}, defaultStateDirectory: '/x' });
    expect(problems).toBeUndefined();
    expect(config).toMatchObject({
      identity: { clientId: settings.identityClientId },
      sinks: {
        eventHubs: { fullyQualifiedNamespace: settings.fullyQualifiedNamespace, eventHubName: settings.eventHubName },
        logAnalytics: {
          endpoint: settings.logsIngestionEndpoint,
          ruleId: settings.ruleId,
          streamName: settings.streamName,
        },
      },
      heartbeat: { streamName: settings.heartbeatStreamName },
      approve: { userInitiated: who === 'bridgeApproves' },
    });
  },
);

test('with --output the file is written and nothing is printed', () => {
  const { code, out, written } = run([choice, 'bridgeApproves', '--output', 'config.json'], { '-': good });
  expect({ code, out }).toEqual({ code: 0, out: '' });
  expect(JSON.parse(written['config.json'] ?? '')).toEqual(bridgeConfiguration(settings, 'bridgeApproves'));
});

const { ruleId: _, identityClientId: __, ...incomplete } = settings;
const refused: readonly { name: string; args?: readonly string[]; input?: string; message: RegExp; code: number }[] = [
  {
    name: 'no approver was chosen',
    args: [],
    message: /required option '--user-initiated-events <who>' not spec/,
    code: 2,
  },
  {
    name: 'an unknown approver was chosen',
    args: [choice, 'me'],
    message: /'me' is invalid.*acceptDelay, bridgeApp/,
    code: 2,
  },
  {
    name: 'an option is misspelt',
    args: [choice, 'acceptDelay', '--outptu', 'x'],
    message: /'--outptu' .*--output/,
    code: 2,
  },
  { name: 'there is a second file', args: [choice, 'acceptDelay', 'a', 'b'], message: /too many arguments/, code: 2 },
  { name: 'the file is not there', args: [choice, 'acceptDelay', 'a'], message: /^a cannot be read: ENOENT/, code: 78 },
  {
    name: 'the input is empty',
    input: ' \n',
    message: /^There is nothing in standard input: .*az deployment sub/,
    code: 78,
  },
  {
    name: 'the input is a table',
    input: 'Name  State\n',
    message: /^What is in standard input is not JSON .*az depl/,
    code: 78,
  },
  {
    name: 'the input is null',
    input: 'null',
    message: /^There are no settings of a bridge in standard input/,
    code: 78,
  },
  {
    name: 'the outputs belong to another template',
    input: '{"fqdn":{"value":"x"}}',
    message: /no settings .*main\.b/,
    code: 78,
  },
  {
    name: 'the deployment failed',
    input: '{"properties":{"outputs":null}}',
    message: /^There are no settings/,
    code: 78,
  },
  {
    name: 'the outputs are of another version',
    input: JSON.stringify(outputsOf(incomplete)),
    message: /have no text for ruleId, identityClientId: expected .* deploy it again\.$/m,
    code: 78,
  },
  {
    name: 'there are several shards and no region',
    input: sharded,
    message: /^There are 2 shards in standard input: say with --region .* westeurope, northeurope, francecentral\.$/m,
    code: 2,
  },
  {
    name: 'no shard takes the region',
    args: [choice, 'acceptDelay', '--region', 'eastus'],
    input: sharded,
    message: /^No shard in standard input takes the VMs of eastus: expected one of westeurope, /,
    code: 2,
  },
  {
    name: 'there is no shard',
    input: '{"shards":{"type":"Array","value":[]}}',
    message: /^There are no settings of a bridge in standard input/,
    code: 78,
  },
  {
    name: 'the bridge would refuse what was deployed',
    input: JSON.stringify(outputsOf({ ...settings, ruleId: 'x', logsIngestionEndpoint: 'ingest' })),
    message: /^The bridge would not take it: .*endpoint is "ingest".*ruleId is "x".*expected the immutable id/,
    code: 78,
  },
  {
    name: 'the configuration cannot be written',
    args: [choice, 'acceptDelay', '--output', '/read-only'],
    input: good,
    message: /^\/read-only cannot be written: EACCES/,
    code: 78,
  },
];

test.for(refused)(
  'no configuration is written, and one line gives the reason, when $name',
  ({ args, input, message, code }) => {
    const files = input === undefined ? {} : { '-': input };
    const result = run(args ?? [choice, 'acceptDelay'], files);
    expect(result).toEqual({ code, out: '', err: expect.stringMatching(message), written: {} });
    expect(result.err.trimEnd().split('\n')).toHaveLength(1);
  },
);

test('the help of bridge-configuration names the choices, an example and every exit code', () => {
  const { code, out, err } = run(['--help']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  for (const word of [
    ...userInitiatedEvents,
    '--output',
    'az deployment sub show',
    ...['0', '2', '78'].map((n) => `\n  ${n} `),
  ]) {
    expect(out).toContain(word);
  }
});

test('as a process it reads standard input, writes standard output and ends with the exit code', () => {
  const start = (args: readonly string[], input: string) => {
    const script = join(root, 'infra/bridge-configuration.ts');
    const { stdout, stderr, status } = spawnSync(process.execPath, [script, ...args], { input, encoding: 'utf8' });
    return { stdout, stderr, status };
  };
  const done = start([choice, 'bridgeApproves'], good);
  expect(done).toEqual({ stdout: expect.stringContaining('"userInitiated": true'), stderr: '', status: 0 });
  expect(start([choice, 'bridgeApproves'], '{}')).toEqual({
    stdout: '',
    stderr: expect.stringMatching(/^There are no settings of a bridge in standard input/),
    status: 78,
  });
});
