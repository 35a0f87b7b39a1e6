import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startControl } from '../../../src/azure-simulator/control/control.ts';
import type { ControlServer } from '../../../src/azure-simulator/control/server.ts';
import { type AzureSimulator, startAzureSimulator } from '../../../src/azure-simulator/index.ts';

let azure: AzureSimulator;
let control: ControlServer;
beforeAll(async () => {
  azure = await startAzureSimulator();
  control = await startControl(azure, { play: () => {}, addresses: () => ({}) });
});
afterAll(async () => {
  await control.close();
  await azure.close();
});

const limit = async (target: string, body: object): Promise<[number, unknown]> => {
  const answer = await fetch(`${control.url}/limits/${target}`, { method: 'PUT', body: JSON.stringify(body) });
  return [answer.status, await answer.json()];
};
const instance = async (): Promise<number> => {
  const url = `${azure.imds.url}/metadata/instance?api-version=2023-11-15`;
  return (await fetch(url, { headers: { Metadata: 'true' } })).status;
};

test('a limit set by request holds until it is cleared', async () => {
  expect(await limit('imds', { requestsPerSecond: 1 })).toEqual([200, { requestsPerSecond: 1 }]);
  expect([await instance(), await instance()]).toEqual([200, 429]);
  await fetch(`${control.url}/limits/imds`, { method: 'DELETE' });
  expect([await instance(), await instance()]).toEqual([200, 200]);
});

describe('a limit of', () => {
  const cases: readonly (readonly [target: string, body: object, status: number, message: RegExp])[] = [
    ['eventHubs', { throughputUnits: 2 }, 200, /throughputUnits/],
    ['logAnalytics', { requestsPerMinute: 10, bytesPerMinute: 1e6 }, 200, /bytesPerMinute/],
    ['logAnalytics', {}, 400, /limits nothing; expected requestsPerMinute or bytesPerMinute/],
    ['eventHubs', { requestsPerMinute: 10 }, 400, /unknown field "requestsPerMinute"; known are throughputUnits/],
    ['imds', { requestsPerSecond: 0 }, 400, /requestsPerSecond of the body is 0; expected a number above 0/],
    ['toString', { bytesPerMinute: 1 }, 404, /"toString" has no limit/],
    ['disk', { bytesPerMinute: 1 }, 404, /"disk" has no limit; expected one of imds, eventHubs, logAnalytics/],
  ];
  test.each(cases)('%s to %j is answered %d', async (target, body, status, message) => {
    const [answered, value] = await limit(target, body);
    expect(answered).toBe(status);
    expect(JSON.stringify(value).replaceAll('\\', '')).toMatch(message);
  });
});
