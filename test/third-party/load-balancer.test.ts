import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startAzureSimulator } from '../../src/azure-simulator/index.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { producer, send, useSimulator } from '../azure-simulator/sdk-clients.ts';
import { ResourceManagerSimulator } from '../infra/examples/load-balancer/resource-manager.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { sampleRecord } from '../support/sample-record.ts';
import { root } from '../support/source-tree.ts';
import { until } from '../support/until.ts';

const begun = Date.now() - 600_000;

test('the subscriber of a load balancer takes a VM out until its last event has ended, though it is killed', {
  timeout: 120_000,
}, async () => {
  const azure = await startAzureSimulator();
  useSimulator(azure);
  const pool = await new ResourceManagerSimulator(['web_0', 'web_1']).listen();
  const directory = temporaryDirectory('load-balancer');
  const running: ChildProcess[] = [];
  const client = producer(azure);
  onTestFinished(async () => {
    for (const child of running) child.kill('SIGKILL');
    await client.close();
    pool.close();
    await azure.close();
    directory[Symbol.dispose]();
  });
  const output = { text: '' };
  const start = (): ChildProcess => {
    const child = spawn(process.execPath, [join(root, 'infra/examples/load-balancer/subscriber.ts')], {
      cwd: directory.path,
      env: {
        PATH: process.env.PATH,
        NODE_EXTRA_CA_CERTS: azure.caFile,
        AZURE_POD_IDENTITY_AUTHORITY_HOST: azure.imds.url,
        EVENT_HUBS_NAMESPACE: azure.eventHubs.fullyQualifiedNamespace,
        EVENT_HUBS_CUSTOM_ENDPOINT: azure.eventHubs.customEndpoint,
        RESOURCE_MANAGER: pool.url,
        POOL_ID: pool.id,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output.text += chunk;
      });
    running.push(child);
    return child;
  };
  const report = (second: number, eventId: string, vmName: string, phase: LifecycleRecord['phase']): Promise<void> => {
    const id = `${second} ${eventId} ${vmName}`;
    const record = sampleRecord({
      ...{ eventId, vmName, vmId: vmName, phase, recordId: id, transitionId: id, sequence: second },
      ...{ affectedResources: [vmName], affectedResourceCount: 1, observerAffected: true, evidence: ['said-by-azure'] },
      ...{ subscriptionId: '5A', resourceGroup: 'WEB', observedAt: new Date(begun + 1000 * second).toISOString() },
    });
    return send(client, [record], eventId);
  };
  const states = (expected: Readonly<Record<string, string>>): Promise<unknown> =>
    until(() => JSON.stringify(pool.states) === JSON.stringify(expected), {
      what: `${JSON.stringify(expected)}; ${output.text}`,
      timeoutMs: 40_000,
    });

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
  expect(azure.errors).toEqual([]);
});

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
