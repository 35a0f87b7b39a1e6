import { describe, expect } from 'vitest';
import type { Fault } from '../../src/azure-simulator/imds/faults.ts';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import { test } from '../support/azure-test.ts';
import { firstCopies, hubRecords, type Row, tableRows } from '../support/delivered.ts';
import { until } from '../support/until.ts';

describe('records pending during an outage of Azure arrive afterwards', { concurrent: true }, () => {
  /** A freeze from announcement to end, each step seen by the bridge of `web_0`. */
  async function playFreeze(azure: AzureSimulator): Promise<string> {
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
  const onHub = (azure: AzureSimulator, eventId: string): string[] =>
    firstCopies(hubRecords(azure))
      .filter((record) => record.eventId === eventId)
      .map(({ phase }) => phase);
  const inTable = (azure: AzureSimulator, eventId: string): unknown[] =>
    firstCopies(tableRows(azure) as (Row & { RecordId?: unknown })[])
      .filter(({ EventId }) => EventId === eventId)
      .map(({ Phase }) => Phase);

  test('the table refuses for lack of a role: the hub is not held up, the log names the role, nothing is lost', async ({
    azure,
    start,
  }) => {
    azure.logAnalytics.fault({ status: 403 });
    const bridge = start();
    const eventId = await playFreeze(azure);
    await until(() => onHub(azure, eventId).length === 3);
    expect(inTable(azure, eventId)).toEqual([]);
    expect(bridge.stderr()).toContain('Monitoring Metrics Publisher');
    azure.logAnalytics.fault(null);
    // A refusal is asked about again within minutes; something urgent is tried at firstCopies, and the rest follows it.
    azure.imds.schedule({ eventType: 'Preempt', resources: ['web_0'], notBefore: new Date(Date.now() + 30_000) });
    await until(() => inTable(azure, eventId).length === 3, { timeoutMs: 60_000 });
    expect(inTable(azure, eventId)).toEqual(whole);
  });

  test('the event hub is gone: the table is not held up, and the records arrive in order once it is back', async ({
    azure,
    start,
  }) => {
    await azure.eventHubs.pause({ drop: true });
    start();
    const eventId = await playFreeze(azure);
    await until(() => inTable(azure, eventId).length === 3);
    await azure.eventHubs.resume();
    await until(() => onHub(azure, eventId).length === 3, { timeoutMs: 60_000 });
    expect(onHub(azure, eventId)).toEqual(whole);
  });

  test.for<{ name: string; fault: Fault }>([
    { name: 'the endpoint does not answer', fault: 'hang' },
    { name: 'it requests an hour of patience', fault: { status: 429, headers: { 'retry-after': '3600' } } },
  ])(
    'no token is available, since $name: polling continues, and everything arrives once there is one',
    async ({ fault }, { azure, start }) => {
      azure.imds.fault('token', fault);
      start();
      const eventId = await playFreeze(azure);
      expect(onHub(azure, eventId)).toEqual([]);
      azure.imds.fault('token', null);
      await until(() => onHub(azure, eventId).length === 3 && inTable(azure, eventId).length === 3, {
        timeoutMs: 90_000,
      });
      expect(onHub(azure, eventId)).toEqual(whole);
    },
  );

  test('documents observed while the VM does not know its own name are decided later, with their own times', async ({
    azure,
    start,
  }) => {
    azure.imds.fault('instance', { status: 500 });
    start();
    const began = Date.now();
    const eventId = await playFreeze(azure);
    const ended = Date.now();
    expect(onHub(azure, eventId)).toEqual([]);
    azure.imds.fault('instance', null);
    await until(() => onHub(azure, eventId).length === 3 && inTable(azure, eventId).length === 3, {
      timeoutMs: 90_000,
    });
    for (const { eventId: id, observedAt } of hubRecords(azure).filter((record) => record.eventId === eventId)) {
      expect(id).toBe(eventId);
      expect(Date.parse(observedAt)).toBeGreaterThan(began);
      expect(Date.parse(observedAt)).toBeLessThan(ended);
    }
  });
});
