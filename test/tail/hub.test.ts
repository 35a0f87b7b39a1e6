import { EventHubConsumerClient } from '@azure/event-hubs';
import { AuthenticationError, ManagedIdentityCredential } from '@azure/identity';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventHubsConfig } from '../../src/sinks/event-hubs/config.ts';
import { openFleetFeed } from '../../src/tail/fleet-feed.ts';
import { type Hub, openHub } from '../../src/tail/hub.ts';
import { HubRefused } from '../../src/tail/refusal.ts';
import { producer, send } from '../azure-simulator/sdk-clients.ts';
import { type LocalAzure, startLocalAzure } from '../support/local-azure.ts';
import { at, event, nothing, observe, started } from '../support/observations.ts';
import { until } from '../support/until.ts';

let local: LocalAzure;
const hubs: Hub[] = [];
const signal = new AbortController().signal;

beforeAll(async () => {
  const [first, ...others] = ['vm-lifecycle', 'crowded', 'owned', 'broken'].map((name) => ({ name, partitions: 1 }));
  local = await startLocalAzure({ hubs: [{ ...first, partitions: 4 }, ...others] });
});
afterAll(async () => {
  await Promise.all(hubs.map((hub) => hub.close()));
  await local.close();
  expect(local.azure.errors).toEqual([]);
});

async function open(settings: Partial<EventHubsConfig> = {}, consumerGroup = 'tail'): Promise<Hub> {
  const credential = new ManagedIdentityCredential();
  const hub = await openHub({ config: local.eventHubs(settings), credential, consumerGroup }, signal);
  hubs.push(hub);
  return hub;
}

/** Why a hub is not read. */
async function refusal(opening: Promise<Hub>): Promise<HubRefused['problem']> {
  const reading = async () => {
    const feed = await openFleetFeed(await opening);
    const refusal = await until(() => feed.refusal, { what: 'a refusal' });
    await feed.close();
    throw refusal;
  };
  const error = await reading().then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HubRefused)) throw new Error(`refused with ${error}`);
  return error.problem;
}

const freeze = event({ eventId: 'AAAAAAAA-1111' });
const { records } = observe([nothing, { events: [freeze] }, { events: [started(freeze)] }, nothing]);
const [announced, begun, over] = records;

test.for([
  { by: 'the identity of this machine', way: 'identity' },
  { by: 'a connection string', way: 'key' },
] as const)('a hub is read by $by: first what it holds, then what arrives', async ({ way }) => {
  const { connectionString } = local.azure.eventHubs;
  const settings = way === 'identity' ? {} : { fullyQualifiedNamespace: null, connectionString, customEndpoint: null };
  const sender = producer(local.azure);
  await send(sender, [announced, announced, begun], `aaaaaaaa-1111`);
  const feed = await openFleetFeed(await open(settings), { rememberHours: 24 * 365 * 10 });
  await feed.history;
  expect(feed.view.event(freeze.eventId)).toMatchObject({ hasStarted: true, steps: [announced, begun] });
  const arrived: string[] = [];
  feed.subscribe({ onRecord: ({ phase }, changed) => arrived.push(`${phase} ${changed.join()}`) });
  await send(sender, [over, over], `aaaaaaaa-1111`);
  await until(() => arrived.length === 2, { what: 'two copies of the end' });
  // The first reader of this file has already sent the end once.
  expect(arrived.at(-1)).toBe('Completed ');
  expect(feed.view.event(freeze.eventId)).toMatchObject({ isOpen: false, end: over });
  expect(at(4)).toBe(over?.observedAt);
  await feed.close();
  await sender.close();
});

test('a reader whose connection breaks says so, and misses nothing', async () => {
  const feed = await openFleetFeed(await open({ eventHubName: 'broken' }), { rememberHours: 24 * 365 * 10 });
  const senders = [0, 1].map(() => producer(local.azure, { hub: 'broken' }));
  const [before, after] = senders;
  if (!before || !after) throw new Error('no senders');
  await send(before, [announced], 'aaaaaaaa-1111');
  await until(() => feed.view.event(freeze.eventId), { what: 'the announcement' });
  await local.azure.eventHubs.pause({ drop: true });
  await until(() => feed.problems.length > 0, { what: 'a problem' });
  expect(feed.problems[0]).toMatchObject({ code: expect.stringMatching(/^connection-/), isPermanent: false });
  await local.azure.eventHubs.resume();
  await send(after, [begun], 'aaaaaaaa-1111');
  await until(() => feed.view.event(freeze.eventId)?.hasStarted, { what: 'the start' });
  await until(() => feed.problems.length === 0, { what: 'the end of the problems' });
  expect(feed.refusal).toBeNull();
  await Promise.all([feed, ...senders].map((one) => one.close()));
});

describe('a reader that is refused', () => {
  test('because the hub does not exist gets the command to list those that do', async () => {
    expect(await refusal(open({ eventHubName: 'none' }))).toMatchObject({
      code: 'hub-not-found',
      message: expect.stringMatching(/^There is no event hub none in localhost:\d+: check --namespace and --hub\.$/),
      remedy: expect.stringContaining('/eventhubs?api-version='),
    });
  });

  test('because the consumer group does not exist gets the command to create it', async () => {
    expect(await refusal(open({}, 'night-shift'))).toMatchObject({
      code: 'consumer-group-not-found',
      message:
        'The event hub vm-lifecycle has no consumer group night-shift: create it, or name another with --consumer-group.',
      remedy: expect.stringMatching(/^az rest --method put --url ".*\/consumergroups\/night-shift\?api-version=/),
    });
  });

  test('because the role is missing gets the command to grant it to the identity that it has', async () => {
    local.azure.eventHubs.fault('unauthorized');
    const { code, message, remedy } = await refusal(open());
    local.azure.eventHubs.fault(null);
    expect(code).toBe('unauthorized');
    const [, objectId = ''] =
      /object id ([0-9a-f-]{36})\) may not read|object id ([0-9a-f-]{36}) may/.exec(message) ?? [];
    expect(message).toContain('it needs the role Azure Event Hubs Data Receiver');
    expect(remedy).toContain(
      `az role assignment create --role "Azure Event Hubs Data Receiver" --assignee ${objectId}`,
    );
  });

  test('because five programs read the group already has to use another', async () => {
    const five = await Promise.all(Array.from({ length: 5 }, () => open({ eventHubName: 'crowded' })));
    const feeds = await Promise.all(five.map((hub) => openFleetFeed(hub)));
    await Promise.all(feeds.map(({ history }) => history));
    expect(await refusal(open({ eventHubName: 'crowded' }))).toMatchObject({
      code: 'too-many-readers',
      message: expect.stringMatching(/^Five programs already read the consumer group tail of the event hub crowded /),
    });
    await Promise.all(feeds.map((feed) => feed.close()));
  });

  test('because another reads with an owner level has to use another group', async () => {
    const { fullyQualifiedNamespace, customEndpoint } = local.azure.eventHubs;
    const options = { customEndpointAddress: customEndpoint };
    const credential = new ManagedIdentityCredential();
    const owner = new EventHubConsumerClient('tail', fullyQualifiedNamespace, 'owned', credential, options);
    const owned = Promise.withResolvers<void>();
    const subscription = owner.subscribe(
      { processEvents: async () => owned.resolve(), processError: async (error) => owned.reject(error) },
      { ownerLevel: 1, maxWaitTimeInSeconds: 1, startPosition: { offset: '-1' } },
    );
    await owned.promise;
    expect(await refusal(open({ eventHubName: 'owned' }))).toMatchObject({
      code: 'exclusive-reader',
      message: expect.stringMatching(
        /^Another program reads the consumer group tail of the event hub owned .* exclusively/,
      ),
    });
    await subscription.close();
    await owner.close();
  });

  test('because nothing listens gets the address that it used', async () => {
    const { code, message, isPermanent } = await refusal(open({ customEndpoint: 'sb://127.0.0.1:9' }));
    expect({ code, isPermanent }).toEqual({ code: 'connection-refused', isPermanent: false });
    expect(message).toMatch(
      /^Nothing listens at 127\.0\.0\.1:9\. If this continues, check sinks\.eventHubs\.customEndpoint and the firewall\.$/,
    );
  });

  test('because there is no token gets the command to sign in', async () => {
    const unavailable = Object.assign(new Error('not installed'), { name: 'CredentialUnavailableError' });
    const tried = new AggregateError([unavailable, new Error('the sign-in\nhas expired')]);
    const credential = { getToken: () => Promise.reject(tried) };
    const opening = openHub({ config: local.eventHubs(), credential, consumerGroup: 'tail' }, signal);
    expect(await refusal(opening)).toMatchObject({
      code: 'no-token',
      message: expect.stringMatching(/^No identity to read with \(the sign-in has expired\)\. Sign in \(az login\)/),
    });
  });

  test('because its service principal is rejected gets the reason, and no command to sign in', async () => {
    // As EnvironmentCredential of @azure/identity wraps what Microsoft Entra answers to a wrong secret.
    const rejected = new AuthenticationError(400, {
      error:
        'EnvironmentCredential authentication failed. To troubleshoot, visit https://aka.ms/azsdk/js/identity/environmentcredential/troubleshoot.',
      error_description:
        'invalid_client: 7000215 - [2026-01-31 09:00:00Z]: AADSTS7000215: Invalid client secret provided. Trace ID: 5d17 Correlation ID: 9c41',
    });
    const credential = { getToken: () => Promise.reject(rejected) };
    const opening = openHub({ config: local.eventHubs(), credential, consumerGroup: 'tail' }, signal);
    expect(await refusal(opening)).toEqual({
      code: 'identity-rejected',
      message:
        'The identity in the AZURE_ variables gets no token (AADSTS7000215: Invalid client secret provided). Correct AZURE_TENANT_ID, AZURE_CLIENT_ID and its secret or certificate, or unset them to read with a managed identity or the account of the Azure CLI.',
      remedy: null,
      isPermanent: true,
    });
  });

  test('because the connection string is unusable does not see it in the message', async () => {
    const connectionString = 'Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey=top-secret;EntityPath=other';
    const { code, message } = await refusal(open({ fullyQualifiedNamespace: null, connectionString }));
    expect(code).toBe('bad-address');
    expect(message).not.toContain('top-secret');
  });
});
