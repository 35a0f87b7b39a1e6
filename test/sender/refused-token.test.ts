import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { SendResult } from '../../src/sinks/sink.ts';
import { type LocalAzure, startLocalAzure } from '../support/local-azure.ts';
import { sampleEntry } from '../support/sample-record.ts';
import { until } from '../support/until.ts';
import { openTestSenders } from './open-senders.ts';

let local: LocalAzure;
beforeAll(async () => {
  local = await startLocalAzure();
});
afterAll(() => local.close());

async function opened() {
  const senders = await openTestSenders(local.azure);
  onTestFinished(() => senders.close());
  const send = async (name: string): Promise<SendResult> => {
    const sink = senders.sinks.find((one) => one.name === name);
    if (!sink) throw new Error(`there is no ${name}`);
    return await sink.send([sampleEntry({ observedAt: new Date().toISOString() })], new AbortController().signal);
  };
  return { ...senders, send };
}

test('after all tokens were revoked both destinations get what is sent, with one new token each', async () => {
  const { send } = await opened();
  for (const name of ['event-hubs', 'log-analytics']) expect(await send(name)).toEqual({ kind: 'delivered' });
  const before = local.azure.imds.requests('token');
  local.azure.revokeTokens();
  local.azure.eventHubs.dropConnections();
  // The first one may still meet the connection that has just been dropped.
  await until(async () => (await send('event-hubs')).kind === 'delivered', { what: 'the event hub with a new token' });
  for (const name of ['log-analytics', 'event-hubs', 'log-analytics'])
    expect(await send(name)).toEqual({ kind: 'delivered' });
  expect(local.azure.imds.requests('token') - before).toBe(2);
});

test('a token that was revoked while there was no other is not used any more once there is', async () => {
  const { send } = await opened();
  expect(await send('log-analytics')).toEqual({ kind: 'delivered' });
  local.azure.imds.fault('token', { status: 500 });
  local.azure.revokeTokens();
  expect(await send('log-analytics')).toMatchObject({ kind: 'retry', code: 'http-401' });
  local.azure.imds.fault('token', null);
  expect(await send('log-analytics')).toEqual({ kind: 'delivered' });
});

test('without the role a send is refused, and tokens are not fetched in a loop', async () => {
  const { send } = await opened();
  local.azure.eventHubs.fault('unauthorized');
  const before = local.azure.imds.requests('token');
  for (let sends = 0; sends < 4; sends += 1)
    expect(await send('event-hubs')).toMatchObject({ cause: 'configuration', code: 'unauthorized' });
  expect(local.azure.imds.requests('token') - before).toBe(2);
  local.azure.eventHubs.fault(null);
  expect(await send('event-hubs')).toEqual({ kind: 'delivered' });
});
