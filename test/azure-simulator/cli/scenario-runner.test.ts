import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Freezer } from '../../../src/azure-simulator/cli/freezer.ts';
import { createRunner } from '../../../src/azure-simulator/cli/scenario-runner.ts';
import { type AzureSimulator, startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import type { Scenario } from '../../../src/azure-simulator/scenarios/index.ts';
import type { Change } from '../../../src/recording/format.ts';
import { until } from '../../support/until.ts';

let azure: AzureSimulator;
const printed: string[] = [];
const warned: string[] = [];
const frozen: number[] = [];

beforeAll(async () => {
  azure = await startAzureSimulator({ vms: [{ name: 'db_0' }, { name: 'db_1' }] });
});
beforeEach(() => {
  for (const list of [printed, warned, frozen]) list.length = 0;
});
afterAll(() => azure.close());

const never = new AbortController().signal;
/** Stops a process that may have exited already. */
const freezerOf = (isThere: boolean): Freezer => ({
  pid: 4711,
  freeze(seconds) {
    frozen.push(seconds);
    return isThere;
  },
  close() {},
});

interface Given {
  readonly speed?: number;
  readonly signal?: AbortSignal;
  readonly freezer?: Freezer | null;
}

const runner = ({ speed, signal = never, freezer = freezerOf(true) }: Given = {}) =>
  createRunner(azure, {
    vms: ['db_0', 'db_1'],
    speed,
    freezer,
    output: { print: (text) => printed.push(text), warn: (text) => warned.push(text) },
    signal,
  });

const scenario = (...steps: Scenario['steps']): Scenario => ({
  name: 'tale',
  description: 'It happens.',
  demoSpeed: 10,
  steps,
});

test('a scenario prints what is played and its effects, and freezes only with the first VM', async () => {
  await runner().play(
    scenario(
      { afterSeconds: 0, do: 'schedule', event: 'it', eventType: 'Freeze', noticeSeconds: null, on: [0, 1] },
      { afterSeconds: 0, do: 'impact', event: 'it', kind: 'freeze', on: [1], seconds: 7 },
      { afterSeconds: 0, do: 'impact', event: 'it', kind: 'freeze', on: [0, 1], seconds: 25 },
      { afterSeconds: 0, do: 'impact', event: 'it', kind: 'restart', seconds: 60 },
      { afterSeconds: 0, do: 'remove', event: 'it' },
    ),
  );
  expect(printed).toEqual([
    'tale, 10 times as fast as Azure: It happens.',
    'Azure would freeze db_1 for 2 s now',
    'Azure would freeze db_0, db_1 for 2.5 s now: process 4711 is stopped',
    'Azure would restart db_0 for 6 s now',
    'tale has finished',
  ]);
  expect(frozen).toEqual([2.5]);
});

const freeze = scenario(
  { afterSeconds: 0, do: 'schedule', event: 'it', eventType: 'Freeze', noticeSeconds: null },
  { afterSeconds: 0, do: 'impact', event: 'it', kind: 'freeze', seconds: 20 },
  { afterSeconds: 0, do: 'remove', event: 'it' },
);

test('without a process to stop, no freeze is reported', async () => {
  await runner({ freezer: null }).play(freeze);
  expect(printed[1]).toBe('Azure would freeze db_0 for 2 s now (--freeze PID stops a process with it)');
  expect(frozen).toEqual([]);
});

test('a process that has ended by then is reported', async () => {
  await runner({ freezer: freezerOf(false) }).play(freeze);
  expect(warned).toEqual(['Azure would freeze db_0 for 2 s now, but process 4711 has exited: nothing is stopped']);
  expect(printed.join()).not.toContain('is stopped');
});

test('the speed of the call wins over that of the command, and this one over the scenario’s own', async () => {
  await runner({ speed: 3 }).play(scenario());
  await runner({ speed: 3 }).play(scenario(), { speed: 1 });
  expect(printed.filter((text) => text.includes('fast'))).toEqual([
    'tale, 3 times as fast as Azure: It happens.',
    'tale, as fast as Azure: It happens.',
  ]);
});

test('a scenario whose event was removed while it plays is aborted with a warning', async () => {
  const withdrawn = azure.imds.watch(() => {
    for (const { EventId } of azure.imds.document.Events) azure.imds.remove(EventId);
  });
  await runner().play(
    scenario(
      { afterSeconds: 0, do: 'schedule', event: 'e', eventType: 'Freeze', noticeSeconds: 900 },
      { afterSeconds: 0, do: 'change', event: 'e', noticeSeconds: 60 },
    ),
  );
  withdrawn();
  expect(warned).toEqual([expect.stringMatching(/^tale was aborted: event \S+ is not in the document/)]);
});

test('a scenario that is stopped is not reported as finished', async () => {
  await runner({ signal: AbortSignal.abort() }).play(scenario({ afterSeconds: 900, do: 'remove', event: 'e' }));
  expect(printed).toEqual(['tale, 10 times as fast as Azure: It happens.']);
});

test('firstPoll waits for the first request for scheduled events', async () => {
  const inspected: string[] = [];
  const waiting = runner()
    .firstPoll()
    .then(() => inspected.push('looked'));
  const { url } = azure.imds;
  await (await fetch(`${url}/metadata/instance?api-version=2021-02-01`, { headers: { Metadata: 'true' } })).text();
  expect(inspected).toEqual([]);
  const path = '/metadata/scheduledevents?api-version=2020-07-01';
  await (await fetch(`${url}${path}`, { headers: { Metadata: 'true' } })).text();
  await until(() => inspected.length > 0);
  await waiting;
});

test('a recording prints its failures, and its end', async () => {
  const header = { begunAt: new Date(), endpoint: '', apiVersion: '2020-07-01', vm: null };
  const seen: readonly Change['seen'][] = [
    { answer: { status: 503, headers: {}, body: '' } },
    { failure: { kind: 'no-answer', reason: 'no answer came in 10 s' } },
    { document: { DocumentIncarnation: 4, Events: [] } },
  ];
  const changes = seen.map((one) => ({ atSeconds: 0, seen: one }));
  await runner().replay({ header, changes });
  expect(printed).toEqual([
    'no document: status 503',
    'no document: no answer came in 10 s',
    'The recording has finished; its last answer stays.',
  ]);
});
