import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Pool } from '../../../../infra/examples/load-balancer/pool.ts';
import { ResourceManager } from '../../../../infra/examples/load-balancer/resource-manager.ts';
import { type AzureSimulator, startAzureSimulator } from '../../../../src/azure-simulator/index.ts';
import { fileStore, memoryStore, type StateStore, type VmId } from '../../../../src/consumer/index.ts';
import { temporaryDirectory } from '../../../support/bridge-process.ts';
import { until } from '../../../support/until.ts';
import { ResourceManagerSimulator } from './resource-manager.ts';

let azure: AzureSimulator;
let simulated: ResourceManagerSimulator;
let lines: string[];

beforeAll(async () => {
  azure = await startAzureSimulator();
});
beforeEach(async () => {
  simulated = await new ResourceManagerSimulator(['web_0', 'web_1', 'web_2', 'web_3']).listen();
  lines = [];
});
afterEach(() => simulated.close());
afterAll(() => azure.close());

const vm = (name: string, group = '5a/web'): VmId => ({
  key: `${group}/${name}`,
  name,
  subscriptionId: '5A',
  resourceGroup: 'Web',
  vmScaleSetName: null,
});

/** As a managed identity gets it. */
async function getToken(scope: string): Promise<{ readonly token: string }> {
  const resource = scope.replace('/.default', '');
  const url = `${azure.imds.url}/metadata/identity/oauth2/token?api-version=2018-02-01&resource=${resource}`;
  const response = await fetch(url, { headers: { metadata: 'true' } });
  return { token: ((await response.json()) as { access_token: string }).access_token };
}

function open({ minInService = 1, store = memoryStore() as StateStore } = {}): Promise<Pool> {
  const arm = new ResourceManager(simulated.url, { getToken });
  return Pool.open(arm, { id: simulated.id, minInService, store, log: (line) => lines.push(line) });
}

const changes = (): readonly string[] => simulated.requests.filter((request) => request.startsWith('PUT'));

test.each(['operation', 'location'] as const)(
  'a VM is taken out and returned, and the pool is as before, where Azure reports by %s',
  async (by) => {
    simulated.pollBy = by;
    const pool = await open();
    simulated.set('web_1', 'Up');
    const before = simulated.addresses;
    await pool.takeOut(vm('WEB_1'));
    expect(simulated.states).toEqual({ web_1: 'Down' });
    await pool.putBack(vm('WEB_1'));
    expect(simulated.addresses).toEqual(before);
    expect(lines).toEqual(['WEB_1: admin state Down', 'WEB_1: admin state Up']);
  },
);

test('a VM that is out already, or returned already, is not changed again', async () => {
  const pool = await open();
  for (let time = 0; time < 2; time += 1) await pool.takeOut(vm('web_0'));
  for (let time = 0; time < 2; time += 1) await pool.putBack(vm('web_0'));
  expect(simulated.states).toEqual({ web_0: 'None' });
  expect(changes()).toHaveLength(2);
});

test('the VMs of one event are taken out with few changes, and the last one stays', async () => {
  const pool = await open();
  const taken = await Promise.allSettled(['web_0', 'web_1', 'web_2', 'web_3'].map((name) => pool.takeOut(vm(name))));
  expect(taken.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
  expect(taken[3]).toMatchObject({
    reason: { message: 'web_3 stays in the pool: 0 VMs would be left, and MIN_IN_SERVICE is 1' },
  });
  expect(simulated.states).toEqual({ web_0: 'Down', web_1: 'Down', web_2: 'Down' });
  expect(changes()).toEqual(['PUT 200', 'PUT 200']);
  await pool.putBack(vm('web_0'));
  await pool.takeOut(vm('web_3'));
  expect(simulated.states).toEqual({ web_0: 'None', web_1: 'Down', web_2: 'Down', web_3: 'Down' });
});

test('the last VM is taken out where that is configured', async () => {
  const pool = await open({ minInService: 0 });
  await Promise.all(['web_0', 'web_1', 'web_2', 'web_3'].map((name) => pool.takeOut(vm(name))));
  expect(new Set(Object.values(simulated.states))).toEqual(new Set(['Down']));
});

test('a VM that someone else has taken out is not returned', async () => {
  const pool = await open();
  simulated.set('web_0', 'Down');
  await pool.takeOut(vm('web_0'));
  await pool.putBack(vm('web_0'));
  expect(simulated.states).toEqual({ web_0: 'Down' });
  expect(lines).toEqual(['web_0 was taken out by someone else, and stays out']);
});

test('a VM that someone else takes out in the same moment is not returned', async () => {
  const pool = await open();
  simulated.beforeChange = () => {
    simulated.set('web_0', 'Down');
    simulated.beforeChange = () => {};
  };
  await pool.takeOut(vm('web_0'));
  expect(changes()).toEqual(['PUT 412']);
  await pool.putBack(vm('web_0'));
  expect(simulated.states).toEqual({ web_0: 'Down' });
});

test('a change of someone else in the same moment is kept', async () => {
  const pool = await open();
  simulated.beforeChange = () => {
    simulated.set('web_2', 'Up');
    simulated.beforeChange = () => {};
  };
  await pool.takeOut(vm('web_0'));
  expect(changes()).toEqual(['PUT 412', 'PUT 200']);
  expect(simulated.states).toEqual({ web_0: 'Down', web_2: 'Up' });
});

test('two programs that take VMs out at once leave one in service', async () => {
  const names = ['web_0', 'web_1', 'web_2', 'web_3'];
  const pools = await Promise.all(names.map(() => open()));
  const taken = await Promise.allSettled(pools.map((pool, n) => pool.takeOut(vm(names[n] ?? ''))));
  expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  expect(Object.values(simulated.states)).toEqual(['Down', 'Down', 'Down']);
});

test('a VM of another resource group or subscription, or outside the pool, is left alone', async () => {
  const pool = await open();
  for (const one of [vm('web_0', '5a/other'), vm('web_0', '6b/web'), vm('db_0')]) {
    await pool.takeOut(one);
    await pool.putBack(one);
  }
  expect(changes()).toEqual([]);
});

test('a VM that was taken out before a crash is returned by the next process', async () => {
  using directory = temporaryDirectory('pool');
  const store = fileStore(join(directory.path, 'pool.json'));
  await (await open({ store })).takeOut(vm('web_0'));
  await (await open({ store })).putBack(vm('web_0'));
  expect(simulated.states).toEqual({ web_0: 'None' });
});

describe('a failure', () => {
  test('of the change is reported, and the change is repeated', async () => {
    const pool = await open();
    simulated.outcome = 'Failed';
    await expect(pool.takeOut(vm('web_0'))).rejects.toThrow(
      'The change Failed: InternalServerError An error occurred.',
    );
    simulated.outcome = 'Succeeded';
    await pool.takeOut(vm('web_0'));
    expect(simulated.states).toEqual({ web_0: 'Down' });
  });

  test('of the credential is reported with the answer of Azure', async () => {
    const token = await getToken('https://storage.azure.com/.default');
    const arm = new ResourceManager(simulated.url, { getToken: async () => token });
    const pool = await Pool.open(arm, { id: simulated.id, minInService: 1, store: memoryStore(), log: () => {} });
    await expect(pool.takeOut(vm('web_0'))).rejects.toThrow(
      '401 {"error":{"code":"InvalidAuthenticationTokenAudience"',
    );
  });

  test('to save what is taken out keeps the VM in the pool', async () => {
    const store = { load: async () => null, save: () => Promise.reject(new Error('no space left')) };
    await expect((await open({ store })).takeOut(vm('web_0'))).rejects.toThrow('no space left');
    expect(simulated.states).toEqual({});
  });
});

test('the token is not sent to another host that an answer names', async () => {
  const other = await new ResourceManagerSimulator([]).listen();
  simulated.pollAt = other.url;
  await expect((await open()).takeOut(vm('web_0'))).rejects.toThrow(`is not at ${simulated.url}`);
  expect(other.requests).toEqual([]);
  other.close();
});

test('a VM is returned after a change that another program makes for long', async () => {
  const pool = await open();
  const first = pool.takeOut(vm('web_0'));
  const second = (await open()).takeOut(vm('web_1'));
  await Promise.all([first, second]);
  await until(() => changes().length >= 2, { what: 'both changes' });
  await pool.putBack(vm('web_0'));
  expect(simulated.states).toEqual({ web_0: 'None', web_1: 'Down' });
});
