import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../src/azure-simulator/imds/faults.ts';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { configurationFor, startBridge, temporaryDirectory } from '../support/bridge-process.ts';
import { firstCopies, hubRecords, type Row, tableRows } from '../support/delivered.ts';
import { until } from '../support/until.ts';

describe('what Azure withholds for a while arrives afterwards', () => {
  let azure: AzureSimulator;
  beforeAll(async () => {
    azure = await startAzureSimulator();
  });
  afterAll(() => azure.close());

  /** One whole life of an event, each step seen by the bridge of `web_0`. */
  async function oneLife(): Promise<string> {
    const polledTwice = async (): Promise<void> => {
      const before = azure.imds.polls.web_0 ?? 0;
      await until(() => (azure.imds.polls.web_0 ?? 0) >= before + 2, { what: 'two polls' });
    };
    const notBefore = new Date(Date.now() + 900_000);
    await polledTwice();
    const eventId = azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore });
    await polledTwice();
    azure.imds.start(eventId);
    await polledTwice();
    azure.imds.remove(eventId);
    await polledTwice();
    return eventId;
  }
  const whole = ['Scheduled', 'Started', 'Completed'];
  const onHub = (eventId: string): string[] =>
    firstCopies(hubRecords(azure))
      .filter((record) => record.eventId === eventId)
      .map(({ phase }) => phase);
  const inTable = (eventId: string): unknown[] =>
    firstCopies(tableRows(azure) as (Row & { RecordId?: unknown })[])
      .filter(({ EventId }) => EventId === eventId)
      .map(({ Phase }) => Phase);

  test('the table refuses for lack of a role: the hub is not held up, the log names the role, nothing is lost', async () => {
    using directory = temporaryDirectory('role');
    azure.logAnalytics.fault({ status: 403 });
    const bridge = startBridge(configurationFor(azure, 'web_0', directory.path));
    const eventId = await oneLife();
    await until(() => onHub(eventId).length === 3);
    expect(inTable(eventId)).toEqual([]);
    expect(bridge.stderr()).toContain('Monitoring Metrics Publisher');
    azure.logAnalytics.fault(null);
    // A refusal is asked about again within minutes; something urgent is tried at once, and the rest follows it.
    azure.imds.schedule({ eventType: 'Preempt', resources: ['web_0'], notBefore: new Date(Date.now() + 30_000) });
    await until(() => inTable(eventId).length === 3, { timeoutMs: 60_000 });
    expect(inTable(eventId)).toEqual(whole);
    bridge.kill('SIGTERM');
    await bridge.exited;
  });

  test('the event hub is gone: the table is not held up, and the records arrive in order once it is back', async () => {
    using directory = temporaryDirectory('hub');
    await azure.eventHubs.pause({ drop: true });
    const bridge = startBridge(configurationFor(azure, 'web_0', directory.path));
    const eventId = await oneLife();
    await until(() => inTable(eventId).length === 3);
    await azure.eventHubs.resume();
    await until(() => onHub(eventId).length === 3, { timeoutMs: 60_000 });
    expect(onHub(eventId)).toEqual(whole);
    bridge.kill('SIGTERM');
    await bridge.exited;
  });

  test.each<{ name: string; fault: Fault }>([
    { name: 'the endpoint does not answer', fault: 'hang' },
    { name: 'it asks for an hour of patience', fault: { status: 429, headers: { 'retry-after': '3600' } } },
  ])(
    'no token is to be had, since $name: polling goes on, and everything arrives once there is one',
    async ({ fault }) => {
      using directory = temporaryDirectory('token');
      azure.imds.fault('token', fault);
      const bridge = startBridge(configurationFor(azure, 'web_0', directory.path));
      const eventId = await oneLife();
      expect(onHub(eventId)).toEqual([]);
      azure.imds.fault('token', null);
      await until(() => onHub(eventId).length === 3 && inTable(eventId).length === 3, { timeoutMs: 90_000 });
      expect(onHub(eventId)).toEqual(whole);
      bridge.kill('SIGTERM');
      await bridge.exited;
    },
  );

  test('the VM does not know its own name for a while: what it saw meanwhile is decided afterwards, with its own times', async () => {
    using directory = temporaryDirectory('name');
    azure.imds.fault('instance', { status: 500 });
    const bridge = startBridge(configurationFor(azure, 'web_0', directory.path));
    const began = Date.now();
    const eventId = await oneLife();
    const ended = Date.now();
    expect(onHub(eventId)).toEqual([]);
    azure.imds.fault('instance', null);
    await until(() => onHub(eventId).length === 3 && inTable(eventId).length === 3, { timeoutMs: 90_000 });
    for (const { eventId: id, observedAt } of hubRecords(azure).filter((record) => record.eventId === eventId)) {
      expect(id).toBe(eventId);
      expect(Date.parse(observedAt)).toBeGreaterThan(began);
      expect(Date.parse(observedAt)).toBeLessThan(ended);
    }
    bridge.kill('SIGTERM');
    await bridge.exited;
  });
});
