import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { partitionOfKey } from '../../src/azure-simulator/event-hubs/partition-key.ts';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';

/** Clients that share nothing with ours, not even the language. `test/third-party/prepare` fetches them. */
const microsoft = { python: 'node_modules/.cache/third-party/bin/python', module: 'azure.eventhub' };
const debian = { python: '/usr/bin/python3', module: 'proton' };

/** Why a client cannot be run here; null when it can. */
function missing({ python, module }: typeof microsoft): string | null {
  const { status, stderr, error } = spawnSync(python, ['-c', `import ${module}`], { encoding: 'utf8' });
  if (status === 0) return null;
  const reason = error?.message ?? stderr.trim().split('\n').at(-1);
  console.warn(`  skipped: what ${module} makes of the simulator (${reason}); test/third-party/prepare fetches it`);
  return reason ?? `exit code ${status}`;
}

const ways = ['connection string', 'tls', 'websockets'] as const;
const hubOf = (way: string): string => way.replace(' ', '-');

let azure: AzureSimulator;
beforeAll(async () => {
  azure = await startAzureSimulator({ hubs: [...ways.map(hubOf), 'proton'].map((name) => ({ name })) });
});
afterAll(async () => {
  await azure.close();
  expect(azure.errors).toEqual([]);
});

/** Runs a script beside this file. @returns what it saw at each of its checks. */
async function run({ python }: typeof microsoft, script: string, ...args: string[]): Promise<Record<string, unknown>> {
  const { eventHubs, logAnalytics, caFile, imds } = azure;
  const { fullyQualifiedNamespace, customEndpoint, websocketEndpoint, plainPort, connectionString } = eventHubs;
  const { endpoint, ruleId, streamName } = logAnalytics;
  const { stdout } = await promisify(execFile)(python, [join(import.meta.dirname, script), ...args], {
    env: {
      ...process.env,
      PYTHONUTF8: '1',
      AZURE_POD_IDENTITY_AUTHORITY_HOST: imds.url,
      SIMULATOR: JSON.stringify({
        eventHubs: { fullyQualifiedNamespace, customEndpoint, websocketEndpoint, plainPort, connectionString },
        logAnalytics: { endpoint, ruleId, streamName },
        caFile,
      }),
    },
    timeout: 60_000,
  });
  const lines = stdout.trim().split('\n');
  console.info(lines.map((line) => `  ${[script, ...args].join(' ')}: ${line}`).join('\n'));
  return Object.fromEntries(
    lines.map((line) => {
      const { check, saw } = JSON.parse(line) as { check: string; saw: unknown };
      return [check, saw];
    }),
  );
}

describe.skipIf(missing(microsoft))("Microsoft's Python clients", { concurrent: true, timeout: 90_000 }, () => {
  beforeAll(() => {
    // The client tries a batch twice before it tells that it was refused.
    const left = new Map(ways.map((way) => [`throttled ${hubOf(way)}`, 2]));
    const when = (body: Buffer): boolean => {
      const times = left.get(body.toString()) ?? 0;
      left.set(body.toString(), times - 1);
      return times > 0;
    };
    azure.eventHubs.fault({ reject: 'com.microsoft:server-busy', when });
  });

  test.each(ways)('azure-eventhub over %s asks, sends, reads, is throttled and is refused', async (way) => {
    const hub = hubOf(way);
    const saw = await run(microsoft, 'event_hubs.py', way);
    const partition = partitionOfKey('käse', 4);
    expect(saw).toEqual({
      properties: { name: hub, partitions: ['0', '1', '2', '3'] },
      'a batch under a key': { partition: String(partition) },
      'from the beginning': [
        ['one', 0, 'käse'],
        ['two', 1, 'käse'],
        ['three', 2, 'käse'],
      ],
      'from an offset': ['two', 'three'],
      'from a time': ['four'],
      throttled: ['com.microsoft:server-busy', null],
      ...(way === 'connection string' ? { 'a wrong key': 'AuthenticationError' } : {}),
    });
    expect(azure.eventHubs.events(hub).map((event) => [event.body.toString(), event.partition])).toEqual(
      ['one', 'two', 'three', 'four', `throttled ${hub}`].map((body) => [body, partition]),
    );
  });

  test('azure-monitor-ingestion waits where it is throttled, uploads rows and is refused', async () => {
    const { logAnalytics } = azure;
    logAnalytics.fault({ status: 429, headers: { 'retry-after': '1' } }, 1);
    expect(await run(microsoft, 'logs_ingestion.py')).toEqual({ rows: 3, 'a wrong rule': 404 });
    expect(logAnalytics.requests.map(({ status }) => status)).toEqual([429, 204, 404]);
    expect(logAnalytics.rows()).toMatchObject(
      ['0', '1', '2'].map((RecordId) => ({ TimeGenerated: '2026-01-01T00:00:00Z', RecordId, Text: 'käse' })),
    );
  });
});

describe.skipIf(missing(debian))('Qpid Proton', () => {
  test('signs in with a key or with a token, sends, reads and is refused', async () => {
    expect(await run(debian, 'qpid_proton.py', 'proton')).toEqual({
      'from the beginning': ['one', 'two', 'three'].map((body) => [body, 1, 'int']),
      'from an offset': ['two', 'three'],
      'from a number': ['two', 'three'],
      'a wrong key': 'amqp:unauthorized-access',
      'no token': 'amqp:unauthorized-access',
      'a token': 202,
      properties: ['0', '1', '2', '3'],
    });
    const { eventHubs } = azure;
    expect(eventHubs.events('proton').map(({ body }) => JSON.parse(body.toString()))).toEqual([
      'one',
      'two',
      'three',
      'four',
    ]);
  });
});
