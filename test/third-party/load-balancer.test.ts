import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { producer, send, useSimulator } from '../azure-simulator/sdk-clients.ts';
import { ResourceManagerSimulator } from '../infra/examples/load-balancer/resource-manager.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { sampleRecord } from '../support/sample-record.ts';
import { root } from '../support/source-tree.ts';
import { until } from '../support/until.ts';
import { startAzurite, whyNoAzurite } from './azurite.ts';

const begun = Date.now() - 600_000;
const noAzurite = whyNoAzurite();

let azure: AzureSimulator;
beforeAll(async () => {
  azure = await startAzureSimulator({ hubs: [{ name: 'one' }, { name: 'two' }] });
  useSimulator(azure);
});
afterAll(async () => {
  await azure.close();
  expect(azure.errors).toEqual([]);
});

/** A pool of two VMs, an event hub, and subscribers in processes of their own. */
async function createStage(hub: string) {
  const pool = await new ResourceManagerSimulator(['web_0', 'web_1']).listen();
  const directory = temporaryDirectory('load-balancer');
  const running: ChildProcess[] = [];
  const client = producer(azure, { hub });
  const output = { text: '' };
  onTestFinished(async () => {
    for (const child of running) child.kill('SIGKILL');
    await client.close();
    pool.close();
    directory[Symbol.dispose]();
  });
  return {
    pool,
    output,
    start(env: NodeJS.ProcessEnv = {}): ChildProcess {
      const child = spawn(process.execPath, [join(root, 'infra/examples/load-balancer/subscriber.ts')], {
        cwd: directory.path,
        env: {
          PATH: process.env.PATH,
          NODE_EXTRA_CA_CERTS: azure.caFile,
          AZURE_POD_IDENTITY_AUTHORITY_HOST: azure.imds.url,
          EVENT_HUBS_NAMESPACE: azure.eventHubs.fullyQualifiedNamespace,
          EVENT_HUBS_CUSTOM_ENDPOINT: azure.eventHubs.customEndpoint,
          EVENT_HUB_NAME: hub,
          RESOURCE_MANAGER: pool.url,
          POOL_ID: pool.id,
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => {
          output.text += chunk;
        });
      running.push(child);
      return child;
    },
    report(second: number, eventId: string, vmName: string, phase: LifecycleRecord['phase']): Promise<void> {
      const id = `${second} ${eventId} ${vmName}`;
      const record = sampleRecord({
        ...{ eventId, vmName, vmId: vmName, phase, recordId: id, transitionId: id, sequence: second },
        ...{
          affectedResources: [vmName],
          affectedResourceCount: 1,
          observerAffected: true,
          evidence: ['said-by-azure'],
        },
        ...{ subscriptionId: '5A', resourceGroup: 'WEB', observedAt: new Date(begun + 1000 * second).toISOString() },
      });
      return send(client, [record], eventId);
    },
    states: (expected: Readonly<Record<string, string>>): Promise<unknown> =>
      until(() => JSON.stringify(pool.states) === JSON.stringify(expected), {
        what: `${JSON.stringify(expected)}; ${output.text}`,
        timeoutMs: 40_000,
      }),
    /** Subscribers that have read the backlog and wait for more. */
    async ready(count: number): Promise<void> {
      await until(() => azure.eventHubs.connections >= count, { what: `${count} connections` });
    },
  };
}

test('the subscriber of a load balancer takes a VM out until its last event has ended, though it is killed', async () => {
  const { pool, output, start, report, states } = await createStage('one');
  let subscriber = start();
  await report(1, 'e1', 'web_0', 'Scheduled');
  await states({ web_0: 'Down' });
  await report(2, 'e2', 'web_0', 'Scheduled');
  await report(3, 'e3', 'web_1', 'Scheduled');
  await until(() => output.text.includes('web_1 stays in the pool: 0 VMs would be left'), { what: 'a refusal' });

  subscriber.kill('SIGKILL');
  await once(subscriber, 'exit');
  await report(4, 'e1', 'web_0', 'Completed');
  subscriber = start();
  const refusals = (): number => output.text.split('web_1 stays in the pool').length;
  const before = refusals();
  await until(() => refusals() > before, { what: `another refusal; ${output.text}` });
  expect(pool.states).toEqual({ web_0: 'Down' });
  await report(5, 'e2', 'web_0', 'Completed');
  await states({ web_0: 'None', web_1: 'Down' });
  await report(6, 'e3', 'web_1', 'Completed');
  await states({ web_0: 'None', web_1: 'None' });
  subscriber.kill('SIGTERM');
  expect(await once(subscriber, 'exit')).toEqual([0, null]);
});

test.skipIf(noAzurite)(
  `of two subscribers of a load balancer that are started with one state, one ends and explains why, and the other continues${noAzurite}`,
  async () => {
    const { pool, output, start, report, states, ready } = await createStage('two');
    const azurite = await startAzurite();
    onTestFinished(() => azurite.close());
    await azurite.container('pool');
    const env = { STATE_CONTAINER: 'pool', STORAGE_CONNECTION_STRING: azurite.connectionString };
    const both = [start(env), start(env)];
    await ready(both.length);
    const ended = Promise.race(both.map(async (child) => ({ child, exit: await once(child, 'exit') })));
    await report(1, 'e1', 'web_0', 'Scheduled');
    const { child, exit } = await ended;
    expect(exit).toEqual([1, null]);
    expect(output.text).toMatch(
      /^The state http:\S+subscriber\.json was written by .+ process \d+ at .+ Only one process may use a state/m,
    );
    await states({ web_0: 'Down' });
    await report(2, 'e1', 'web_0', 'Completed');
    await states({ web_0: 'None' });
    expect(both.filter((one) => one !== child).map(({ exitCode }) => exitCode)).toEqual([null]);
    expect(pool.requests.filter((request) => request.startsWith('PUT'))).toEqual(['PUT 200', 'PUT 200']);
  },
);

test.each([
  [{}, /^Set EVENT_HUBS_NAMESPACE, POOL_ID to the id of a backend address pool, and MIN_IN_SERVICE/],
  [{ EVENT_HUBS_NAMESPACE: 'x', POOL_ID: '/x', MIN_IN_SERVICE: '1' }, /^Set EVENT_HUBS_NAMESPACE, POOL_ID/],
])('the subscriber of a load balancer started with %o explains what is missing', async (env, message) => {
  const child = spawn(process.execPath, ['infra/examples/load-balancer/subscriber.ts'], { env });
  let text = '';
  child.stderr.on('data', (chunk) => {
    text += chunk;
  });
  expect(await once(child, 'close')).toEqual([2, null]);
  expect(text).toMatch(message);
});
