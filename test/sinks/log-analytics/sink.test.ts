import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Column, LogsFault } from '../../../src/azure-simulator/index.ts';
import { systemClock } from '../../../src/clock.ts';
import type { LogAnalyticsConfig } from '../../../src/sinks/log-analytics/config.ts';
import { createLogAnalyticsSink, type LogAnalyticsSink } from '../../../src/sinks/log-analytics/sink.ts';
import type { SendResult } from '../../../src/sinks/sink.ts';
import { type LocalAzure, startLocalAzure } from '../../support/local-azure.ts';
import { sampleEntry } from '../../support/sample-record.ts';
import { type Misbehaviour, passesTheContract, type SinkUnderTest } from '../contract.ts';

let local: LocalAzure;
const never = new AbortController().signal;
const waits = { tokenMs: 2000, uploadMs: 500 };

beforeAll(async () => {
  local = await startLocalAzure();
  const columns = new URL('../../../bicep/schema/columns.json', import.meta.url);
  const { tables } = JSON.parse(readFileSync(columns, 'utf8'));
  // Declared as in Azure, where a rule's streams write all types in lower case: an unknown column is dropped, a wrong type refuses the call.
  const declared = tables.VmLifecycle_CL.map(({ name, type }: Column) => ({ name, type: type.toLowerCase() }));
  local.azure.logAnalytics.declare(local.azure.logAnalytics.streamName, declared);
});
afterAll(async () => {
  expect(local.azure.errors).toEqual([]);
  await local.close();
});

const logs = () => local.azure.logAnalytics;

const makeSink = (settings: Partial<LogAnalyticsConfig> = {}): LogAnalyticsSink =>
  createLogAnalyticsSink({
    config: local.logAnalytics(settings),
    credential: local.credential,
    clock: systemClock,
    waits,
  });

/** What one send answers while the endpoint does this. */
async function during(fault: LogsFault, settings: Partial<LogAnalyticsConfig> = {}): Promise<SendResult> {
  logs().fault(fault, 1);
  const result = await makeSink(settings).send([sampleEntry()], never);
  logs().fault(null);
  return result;
}

const faultFor: Record<Misbehaviour, LogsFault> = {
  throttled: { status: 429, headers: { 'retry-after': '7' } },
  silent: 'hang',
  refused: { status: 403 },
  malformed: { refuseRows: () => true },
};

passesTheContract(
  'Log Analytics',
  (): SinkUnderTest => {
    const before = logs().rows().length;
    const arrived = () => logs().rows().slice(before);
    return {
      sink: makeSink(),
      arrived: () => arrived().map(({ RecordId }) => String(RecordId)),
      contents: () => arrived().map((row) => JSON.stringify(row)),
      misbehave: (how) => logs().fault(how && faultFor[how]),
      timeoutMs: 2000,
      tooMuch: Array.from({ length: 16 }, (_, index) =>
        sampleEntry({ sequence: index, description: 'x'.repeat(60_000) }),
      ),
    };
  },
  { throttling: true, malformed: true, tooLarge: true },
);

describe('answers of the Logs Ingestion API', () => {
  const answers: { fault: LogsFault; expected: Record<string, unknown> }[] = [
    { fault: { status: 400 }, expected: { kind: 'rejected', cause: 'poison', code: 'http-400' } },
    { fault: { status: 401 }, expected: { cause: 'configuration', code: 'http-401' } },
    { fault: { status: 403 }, expected: { cause: 'configuration', code: 'http-403' } },
    { fault: { status: 404 }, expected: { cause: 'configuration', code: 'http-404' } },
    { fault: { status: 408 }, expected: { cause: 'transient', code: 'http-408' } },
    { fault: { status: 413 }, expected: { kind: 'rejected', cause: 'too-large', code: 'http-413' } },
    { fault: { status: 429 }, expected: { cause: 'throttled', code: 'http-429' } },
    {
      fault: { status: 429, headers: { 'retry-after': '3600' } },
      expected: { cause: 'throttled', code: 'http-429', retryAfterMs: 3_600_000 },
    },
    { fault: { status: 500 }, expected: { cause: 'transient', code: 'http-500' } },
    {
      fault: { status: 503, headers: { 'retry-after': '20' } },
      expected: { cause: 'transient', code: 'http-503', retryAfterMs: 20_000 },
    },
    { fault: { status: 200 }, expected: { cause: 'configuration', code: 'http-200' } },
    { fault: { status: 302 }, expected: { cause: 'configuration', code: 'http-302' } },
    { fault: 'reset', expected: { cause: 'transient', code: 'connection-reset' } },
    { fault: 'accept-then-reset', expected: { cause: 'transient', code: 'connection-reset' } },
    { fault: 'hang', expected: { cause: 'transient', code: 'upload-timeout' } },
  ];
  for (const { fault, expected } of answers) {
    test(`${JSON.stringify(fault)} is taken for ${expected.cause} after a single request`, async () => {
      const before = logs().requests.length;
      expect(await during(fault)).toMatchObject(expected);
      expect(logs().requests.length - before).toBe(1);
    });
  }

  test('the service is quoted where it names a malformed column, and never the rows', async () => {
    const body = JSON.stringify({ error: { code: 'InvalidRecord', message: 'column Sequence is no int' } });
    const result = await during({ status: 400, body });
    const reason = 'reason' in result ? result.reason : '';
    expect(reason).toContain('column Sequence is no int');
    expect(JSON.stringify(result)).not.toContain('web_3');
  });

  test('a missing role is reported with the role, the rule and how long a grant takes', async () => {
    const result = await during({ status: 403 });
    expect('reason' in result && result.reason).toBe(
      `The identity of this VM may not send to the stream Custom-VmLifecycle_CL of the data collection rule ${logs().ruleId} (HTTP 403): grant the role 'Monitoring Metrics Publisher' on the data collection rule ${logs().ruleId} to the identity of this VM (takes effect within 30 min).`,
    );
  });

  const addresses: { name: string; settings: Partial<LogAnalyticsConfig>; code: string }[] = [
    { name: 'another rule', settings: { ruleId: 'dcr-11111111111111111111111111111111' }, code: 'http-404' },
    { name: 'a port without a server', settings: { endpoint: 'https://localhost:1' }, code: 'connection-refused' },
    { name: 'an endpoint without a name', settings: { endpoint: 'https://nowhere.invalid' }, code: 'name-not-found' },
  ];
  for (const { name, settings, code } of addresses) {
    test(`${name} is reported as ${code}, by send and by check`, async () => {
      const sink = makeSink(settings);
      expect(await sink.send([sampleEntry()], never)).toMatchObject({ kind: 'retry', code });
      expect(await sink.check(never)).toMatchObject({ ok: false, code });
    });
  }
});

describe('an empty request', () => {
  const body = (code: string, message: string): string => JSON.stringify({ error: { code, message } });
  const answers = [
    { name: 'it is accepted', status: 204, said: '', ok: true },
    { name: 'an empty list is refused', status: 400, said: body('InvalidFormat', 'the list is empty'), ok: true },
    { name: 'there is no such stream', status: 400, said: body('InvalidStream', 'x'), ok: false },
    { name: 'the stream is not configured', status: 400, said: body('x', 'Stream y was not configured.'), ok: false },
    {
      name: 'the role is missing',
      status: 403,
      said: body('OperationFailed', 'DcrArmId: /subscriptions/s'),
      ok: false,
    },
  ];
  for (const { name, status, said, ok } of answers) {
    test(`to the rule, ${name}: ${ok ? 'nothing against it' : 'a verdict, with the words of the service'}`, async () => {
      logs().fault({ status, body: said }, 1);
      const { detail, ...verdict } = await makeSink().check(never);
      expect(verdict).toEqual(ok ? { ok, code: 'ok' } : { ok, code: `http-${status}`, said });
      expect(detail).toContain('Custom-VmLifecycle_CL');
    });
  }
});

describe('rows in the table', () => {
  test('a record older than two days keeps its time of observation only in ObservedAt', async () => {
    const entry = sampleEntry({ observedAt: '2026-01-01T00:00:00.000Z' });
    await makeSink().send([entry], never);
    const row = logs().rows().at(-1);
    expect(row?.ObservedAt).toBe('2026-01-01T00:00:00.000Z');
    expect(row?.TimeGenerated).not.toBe('2026-01-01T00:00:00.000Z');
  });

  test('every column that is declared arrives as it is, and nothing is dropped', async () => {
    const entry = sampleEntry({ observedAt: new Date().toISOString() });
    await makeSink().send([entry], never);
    const row = logs().rows().at(-1);
    expect(row).toMatchObject({
      RecordId: entry.record.recordId,
      TimeGenerated: entry.record.observedAt,
      ObservedAt: entry.record.observedAt,
      DurationInSeconds: 5,
      AffectedResources: ['web_3', 'web_7'],
      RawEvent: entry.record.rawEvent,
    });
    expect(Object.keys(row ?? {}).length).toBe(Object.keys(entry.record).length + 1);
  });

  test('the largest batch that the sink offers to take goes in one request', async () => {
    const sink = makeSink();
    const entry = sampleEntry({ description: 'x'.repeat(80_000) });
    const count = Math.floor(sink.limits.bytes / entry.json.length);
    const before = logs().requests.length;
    expect(await sink.send(Array(count).fill(entry), never)).toEqual({ kind: 'delivered' });
    expect(logs().requests.length - before).toBe(1);
  });

  test('a thousand rows that are just within the bytes are not too many', async () => {
    const sink = makeSink();
    const small = sampleEntry({
      rawEvent: {},
      description: null,
      changes: [],
      scheduledEventResourceId: null,
      tags: {},
    });
    expect(small.json.length * sink.limits.records).toBeGreaterThan(sink.limits.bytes);
    const count = Math.floor(sink.limits.bytes / small.json.length);
    expect(await sink.send(Array(count).fill(small), never)).toEqual({ kind: 'delivered' });
  });

  test('more than a thousand rows are too many', async () => {
    const small = sampleEntry({ rawEvent: {} });
    expect(await makeSink().send(Array(1001).fill(small), never)).toMatchObject({ code: 'batch-too-large' });
  });
});

test('a token that never comes does not hold a send to Log Analytics', async () => {
  const credential = { getToken: () => new Promise<never>(() => {}) };
  const sink = createLogAnalyticsSink({
    config: local.logAnalytics(),
    credential,
    clock: systemClock,
    waits: { tokenMs: 100, uploadMs: 100 },
  });
  expect(await sink.send([sampleEntry()], never)).toMatchObject({ kind: 'retry', code: 'token-timeout' });
  expect(sink.deadlines.missed).toEqual({ token: 1 });
});
