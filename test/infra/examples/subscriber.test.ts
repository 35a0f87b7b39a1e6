import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventHubProducerClient } from '@azure/event-hubs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { bundle } from '../../../infra/package/bundle.ts';
import { type AzureSimulator, startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import type { LifecycleRecord } from '../../../src/lifecycle/record.ts';
import { producer, useSimulator } from '../../azure-simulator/sdk-clients.ts';
import { configurationFor, startBridge, temporaryDirectory } from '../../support/bridge-process.ts';
import { firstCopies, hubRecords } from '../../support/delivered.ts';
import { cleanEnvironment } from '../../support/program.ts';
import { sampleEntry } from '../../support/sample-record.ts';
import { root } from '../../support/source-tree.ts';
import { until } from '../../support/until.ts';
import { type SubscriberOptions, type SubscriberProcess, startSubscriber } from './subscriber-process.ts';

let azure: AzureSimulator;
const directory = temporaryDirectory('subscriber');
const running: { kill(signal: NodeJS.Signals): unknown }[] = [];
const vms = ['web_0', 'web_1'];

/** The example in one file, which starts in half the time; test/end-to-end/documented-examples.test.ts starts it as documented. */
const bundled = join(directory.path, 'subscriber.mjs');

beforeAll(async () => {
  await bundle(bundled, {
    entryPoints: [join(root, 'infra/examples/subscriber.ts')],
    format: 'esm',
    minify: false,
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
  });
  const hubs = ['bridges', 'restarts', 'outage', 'histories'].map((name) => ({ name }));
  azure = await startAzureSimulator({ vms: vms.map((name) => ({ name })), hubs });
  useSimulator(azure);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.kill('SIGKILL')));
});
afterAll(async () => {
  await Promise.all([...producers.values()].map((client) => client.close()));
  await azure.close();
  directory[Symbol.dispose]();
  expect(azure.errors).toEqual([]);
});

/** Starts the example; where `hub` is the same, it finds what it did before. */
function start(hub: string, options: Partial<SubscriberOptions> = {}): SubscriberProcess {
  const subscriber = startSubscriber(azure, {
    hub,
    stateFile: join(directory.path, `${hub}.json`),
    command: [process.execPath, bundled],
    ...options,
  });
  running.push(subscriber);
  return subscriber;
}

const producers = new Map<string, EventHubProducerClient>();

/** Sends bodies to the partition where all records of an event are. */
async function send(hub: string, eventId: string, bodies: readonly Buffer[]): Promise<void> {
  const client = producers.get(hub) ?? producer(azure, { hub });
  producers.set(hub, client);
  const batch = await client.createBatch({ partitionKey: eventId.toLowerCase() });
  for (const body of bodies) expect(batch.tryAdd({ body, contentType: 'application/json' })).toBe(true);
  await client.sendBatch(batch);
}

/** What it has done when it has read all that an event's partition holds now. */
async function actsOf(subscriber: SubscriberProcess, hub: string, eventId: string): Promise<readonly string[]> {
  const fence = `fence-${randomUUID()}`;
  await send(hub, eventId, [message(0, { eventId: fence, vmName: fence, affectedResources: [fence] })]);
  await until(() => subscriber.acts.some((line) => line.includes(fence)), {
    what: `${fence}; ${subscriber.complaints()}`,
    timeoutMs: 25_000,
  });
  return subscriber.acts.filter((line) => !line.includes('fence-')).map((line) => line.replace(/[:,].*/, ''));
}

/** VMs do not wait for each other: only the order of one VM's acts is certain. */
const byVm = (acts: readonly string[]): readonly string[] =>
  acts.toSorted((a, b) => (a.split(' ')[1] ?? '').localeCompare(b.split(' ')[1] ?? ''));

test('the example subscriber acts once on the records of two bridges, and again when an event returns', async () => {
  const folders = vms.map((vm) => temporaryDirectory(vm));
  const bridges = vms.map((vm, n) => startBridge(configurationFor(azure, vm, folders[n]?.path ?? '')));
  running.push(...bridges);
  await until(() => vms.every((vm) => (azure.imds.polls[vm] ?? 0) > 1), { what: 'first polls' });
  const subscriber = start('bridges');
  const freeze = { eventType: 'Freeze', resources: vms, notBefore: new Date(Date.now() + 900_000) } as const;

  const eventId = azure.imds.schedule(freeze);
  const onHub = (count: number): Promise<boolean> =>
    until(() => firstCopies(hubRecords(azure)).filter((record) => record.eventId === eventId).length === count, {
      what: `${count} records on the hub`,
    });
  await onHub(2);
  expect(byVm(await actsOf(subscriber, 'bridges', eventId))).toEqual(['drain web_0', 'drain web_1']);
  azure.imds.start(eventId);
  await onHub(4);
  azure.imds.remove(eventId);
  await onHub(6);
  const first = ['drain web_0', 'restore web_0', 'drain web_1', 'restore web_1'];
  expect(byVm(await actsOf(subscriber, 'bridges', eventId))).toEqual(first);
  const everything = azure.eventHubs.events('bridges').map(({ body }) => body);
  await send('bridges', eventId, everything);
  expect(byVm(await actsOf(subscriber, 'bridges', eventId))).toEqual(first);

  azure.imds.schedule({ ...freeze, eventId });
  await onHub(8);
  expect(byVm(await actsOf(subscriber, 'bridges', eventId))).toEqual([
    ...['drain web_0', 'restore web_0', 'drain web_0'],
    ...['drain web_1', 'restore web_1', 'drain web_1'],
  ]);
  expect(subscriber.complaints()).toBe('');
  for (const bridge of bridges) bridge.kill('SIGKILL');
  await Promise.all(bridges.map(({ exited }) => exited));
  for (const folder of folders) folder[Symbol.dispose]();
});

/** The record of a step as one VM reports it, this many seconds after the first. */
function message(second: number, given: Partial<LifecycleRecord> = {}): Buffer {
  const { affectedResources = ['web_0'], vmName = 'web_0' } = given;
  return sampleEntry({
    evidence: ['said-by-azure'],
    ...given,
    recordId: `${second} ${JSON.stringify(given)}`,
    transitionId: `${second} ${JSON.stringify(given)}`,
    sequence: second + 1,
    affectedResources,
    affectedResourceCount: affectedResources.length,
    vmName,
    observerAffected: affectedResources.includes(vmName),
    observedAt: new Date(begun + 1000 * second).toISOString(),
  }).json;
}
const begun = Date.now() - 600_000;

test('the example subscriber does nothing twice and misses nothing when it is killed and started again', async () => {
  const sendRestart = (...bodies: Buffer[]): Promise<void> => send('restarts', 'D1', bodies);
  const twiceByTwo = (second: number, phase: LifecycleRecord['phase'], eventId = 'D1'): Buffer[] =>
    vms.flatMap((vmName, n) => {
      const copy = message(second + n, { eventId, phase, vmName, affectedResources: vms });
      return [copy, copy];
    });
  /** What one run of it does that starts with the hub's content and continues with `bodies`. */
  const live = async (...bodies: Buffer[]): Promise<readonly string[]> => {
    const subscriber = start('restarts');
    if (bodies.length > 0) await sendRestart(...bodies);
    const acts = await actsOf(subscriber, 'restarts', 'D1');
    // Killed between an act and its note it would repeat the act.
    const state = join(directory.path, 'restarts.json');
    await until(() => !readFileSync(state, 'utf8').includes('"draining"'), { what: 'a note of every act' });
    await subscriber.kill('SIGKILL');
    return acts;
  };

  expect(await live(...twiceByTwo(0, 'Scheduled'))).toEqual(['drain web_0', 'drain web_1']);
  await sendRestart(...twiceByTwo(10, 'Started'));
  expect(await live()).toEqual([]);
  await sendRestart(...twiceByTwo(20, 'Completed'));
  expect(await live(...twiceByTwo(0, 'Scheduled'))).toEqual(['restore web_0', 'restore web_1']);
  expect(await live(...twiceByTwo(20, 'Completed'), ...twiceByTwo(10, 'Started'))).toEqual([]);

  const much = Array.from({ length: 200 }, () => message(1, { isTest: true }));
  await sendRestart(...twiceByTwo(0, 'Scheduled', 'D2'), ...much, ...twiceByTwo(9, 'Canceled', 'D2'));
  expect(await live(), 'it acts on history that is over').toEqual([]);
});

test('the example subscriber continues after an outage of the hub, and ends on request', {
  timeout: 120_000,
}, async () => {
  const subscriber = start('outage');
  const [one, other] = ['A1', 'B2'];
  await send('outage', one, [message(0, { eventId: one })]);
  expect(await actsOf(subscriber, 'outage', one)).toEqual(['drain web_0']);
  await azure.eventHubs.pause({ drop: true });
  await until(() => subscriber.complaints().includes('ECONNREFUSED'), { what: 'a complaint', timeoutMs: 25_000 });
  await azure.eventHubs.resume();
  await send('outage', one, [message(5, { eventId: one, phase: 'Ended' })]);
  expect(await actsOf(subscriber, 'outage', one)).toEqual(['drain web_0', 'restore web_0']);
  await send('outage', one, [message(6, { eventId: other })]);
  expect(await actsOf(subscriber, 'outage', one)).toEqual(['drain web_0', 'restore web_0', 'drain web_0']);
  expect(await subscriber.kill('SIGTERM')).toBe(0);
});

const one = { eventId: 'E1' };
const started = { ...one, phase: 'Started' } as const;
const end = { ...one, phase: 'Completed' } as const;
const returned = { ...one, evidence: ['reappeared'] };
const another = { eventId: 'E2' };
const drains = 'drain web_0';
const restores = 'restore web_0';

/** The messages in order, and the result of each. */
/** Of a VM that no other case uses, since what it observes holds for all events that it reported. */
const ofNewVm = (number: number) => ({ ...one, vmId: `vm ${number}`, streamId: `lost stream ${number}` });
const inSight = (number: number, eventsInSight: string[]) =>
  ({
    ...ofNewVm(number),
    ...{ eventId: `in-sight-new stream ${number}`, streamId: `new stream ${number}` },
    ...({ phase: 'Snapshot', affectedResources: [], eventsInSight } as const),
  }) as const;
const cases: [name: string, messages: Buffer[], acts: string[]][] = [
  ['a start without notice', [message(0, started)], [drains]],
  ['a copy of the announcement after the end', [message(0, one), message(9, end), message(1, one)], [drains, restores]],
  [
    'a start reported late, by a VM whose hub was down',
    [message(0, one), message(9, end), message(5, started)],
    [drains, restores],
  ],
  ['an end alone', [message(9, end)], []],
  ['the id in other letters', [message(0, one), message(9, { ...end, eventId: 'e1' })], [drains, restores]],
  ['an event that comes back', [message(0, one), message(5, end), message(9, returned)], [drains, restores, drains]],
  ['an end observed before the event came back', [message(0, one), message(9, returned), message(5, end)], [drains]],
  ['an end after the event came back', [message(9, returned), message(5, end), message(12, end)], [drains, restores]],
  [
    'a VM that leaves the event',
    [
      message(0, { ...one, affectedResources: ['web_0', 'web_1'] }),
      message(5, { ...one, phase: 'Updated', affectedResources: ['web_1'] }),
    ],
    [drains, 'drain web_1', restores],
  ],
  ['a VM of two events', [message(0, one), message(1, another), message(5, end)], [drains, drains]],
  [
    'a VM of two events that both end',
    [message(0, one), message(1, another), message(5, end), message(9, { ...end, ...another })],
    [drains, drains, restores],
  ],
  [
    'a VM that lost its state and does not see it',
    [message(0, ofNewVm(1)), message(400, inSight(1, []))],
    [drains, restores],
  ],
  ['a VM that lost its state and still sees it', [message(0, ofNewVm(2)), message(400, inSight(2, ['E1']))], [drains]],
  ['an approval', [message(0, { ...one, phase: 'Approved' })], []],
  [
    'a phase of years to come',
    [Buffer.from(message(0, one).toString().replace('"phase":"Scheduled"', '"phase":"Pondered"'))],
    [],
  ],
  ['a record of a later contract', [message(0, { ...one, schemaVersion: '2.0' })], []],
  ['a test', [message(0, { ...one, isTest: true })], []],
  ['what is no record', [Buffer.from('{'), Buffer.from('null'), Buffer.from('[1]'), Buffer.from('"1.0"')], []],
];

test.each([
  [{}, 'Set EVENT_HUBS_NAMESPACE or EVENT_HUBS_CONNECTION_STRING.\n', 2],
  [{ EVENT_HUBS_CONNECTION_STRING: 'nonsense' }, /^EVENT_HUBS_CONNECTION_STRING is unusable: .*\n$/, 2],
  [
    {
      EVENT_HUBS_CONNECTION_STRING:
        'Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true',
    },
    /^Cannot read the event hub vm-lifecycle: .*ECONNREFUSED.*\n$/,
    1,
  ],
  [
    { EVENT_HUBS_NAMESPACE: 'localhost', AZURE_TOKEN_CREDENTIALS: 'EnvironmentCredential' },
    /^Cannot read the event hub vm-lifecycle: no identity: .*az login.*\n$/,
    1,
  ],
])('the example subscriber started with %o explains why it ends, in one line', (env, stderr, status) => {
  const options = { env: { ...cleanEnvironment(), ...env }, encoding: 'utf8' } as const;
  const ended = spawnSync(process.execPath, ['infra/examples/subscriber.ts'], options);
  expect(ended).toMatchObject({ stdout: '', stderr: expect.stringMatching(stderr), status });
});

test('the example subscriber ends with one line that names a consumer group that is missing', async () => {
  const subscriber = start('histories', { env: { CONSUMER_GROUP: 'night-shift' } });
  expect(await subscriber.ended).toBe(1);
  expect(subscriber.acts).toEqual([]);
  expect(subscriber.complaints()).toMatch(
    /^The event hub histories has no consumer group night-shift: .*az eventhubs eventhub consumer-group create .* --namespace-name localhost --eventhub-name histories --name 'night-shift'\n$/,
  );
});

describe('the example subscriber', () => {
  let subscriber: SubscriberProcess;
  beforeAll(() => {
    subscriber = startSubscriber(azure, {
      hub: 'histories',
      stateFile: join(directory.path, 'histories.json'),
      way: 'connection string',
    });
  });
  afterAll(() => subscriber.kill('SIGKILL'));

  test.each(cases)('handles %s, message by message', async (name, messages, acts) => {
    const own = (body: Buffer): Buffer => Buffer.from(body.toString().replaceAll(/"(e[12])"/gi, `"$1 of ${name}"`));
    const before = await actsOf(subscriber, 'histories', 'E');
    for (const message of messages) {
      await send('histories', 'E', [own(message)]);
      await actsOf(subscriber, 'histories', 'E');
    }
    const after = await actsOf(subscriber, 'histories', 'E');
    expect(after.slice(before.length)).toEqual(acts);
    expect(subscriber.complaints()).toBe('');
    await send(
      'histories',
      'E',
      [one, another].map(({ eventId }) => own(message(60, { ...end, eventId }))),
    );
  });
});
