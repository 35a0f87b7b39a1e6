import { gzipSync } from 'node:zlib';
import { ManagedIdentityCredential } from '@azure/identity';
import { type AggregateLogsUploadError, LogsIngestionClient } from '@azure/monitor-ingestion';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type AzureSimulator, type LogsFault, startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import { useSimulator } from '../sdk-clients.ts';

let azure: AzureSimulator;
const credential = new ManagedIdentityCredential();
beforeAll(async () => {
  azure = await startAzureSimulator({
    streams: { 'Custom-A_CL': null, 'Custom-B_CL': [{ name: 'Number', type: 'int' }] },
  });
  useSimulator(azure);
});
afterEach(() => azure.logAnalytics.fault(null));
afterAll(async () => {
  await azure.close();
  expect(azure.errors).toEqual([]);
});

/** What the SDK makes of one upload: 204, the status of the refusal, or what else happened. */
async function upload(
  rows: Record<string, unknown>[],
  { stream = 'Custom-A_CL', rule = azure.logAnalytics.ruleId, timeoutMs = 2_000, as = credential } = {},
): Promise<string> {
  const client = new LogsIngestionClient(azure.logAnalytics.endpoint, as, { retryOptions: { maxRetries: 0 } });
  try {
    await client.upload(rule, stream, rows, { maxConcurrency: 1, abortSignal: AbortSignal.timeout(timeoutMs) });
    return '204';
  } catch (error) {
    const [failure] = (error as AggregateLogsUploadError).errors;
    const cause = failure?.cause as Error & { statusCode?: number };
    return String(cause.statusCode ?? cause.name);
  }
}

const path = '/dataCollectionRules/dcr-00000000000000000000000000000000/streams/Custom-A_CL?api%2Dversion=2023-01-01';

async function posting({
  headers = {},
  body = '[]' as string | Uint8Array<ArrayBuffer>,
  method = 'POST',
} = {}): Promise<RequestInit> {
  const { token } = await credential.getToken('https://monitor.azure.com/.default');
  const authorization = `Bearer ${token}`;
  return {
    method,
    headers: { authorization, 'content-type': 'application/json', ...headers },
    ...(method === 'GET' ? {} : { body }),
  };
}

async function post(where: string, init = {}): Promise<number> {
  const answer = await fetch(`${azure.logAnalytics.endpoint}${where}`, await posting(init));
  await answer.arrayBuffer();
  return answer.status;
}

describe('the simulated Logs Ingestion API and the real SDK', () => {
  test('rows that were uploaded can be read back', async () => {
    expect(await upload([{ A: 1, Text: 'ä' }, { A: 2 }])).toBe('204');
    expect(azure.logAnalytics.rows()).toEqual([{ A: 1, Text: 'ä' }, { A: 2 }]);
    expect(azure.logAnalytics.requests.at(-1)).toMatchObject({ status: 204, rows: 2 });
  });

  test('each row has the time at which it arrived', async () => {
    const before = Date.now();
    const rows = azure.logAnalytics.rows().length;
    await upload([{ Name: 'first' }, { Name: 'second' }]);
    await upload([{ Name: 'third' }]);
    const arrivals = azure.logAnalytics.arrivals().slice(rows).map(Number);
    expect(arrivals).toHaveLength(3);
    expect(arrivals[0]).toBeGreaterThanOrEqual(before);
    expect(arrivals[1]).toBe(arrivals[0]);
    expect(arrivals[2]).toBeGreaterThanOrEqual(Number(arrivals[1]));
  });

  test('declared columns are stored, others dropped, and a wrong type refuses the entire call', async () => {
    const stream = 'Custom-B_CL';
    expect(await upload([{ Number: 7, Other: 1 }], { stream })).toBe('204');
    expect(azure.logAnalytics.rows(stream)).toEqual([{ Number: 7, TimeGenerated: expect.any(String) }]);
    expect(await upload([{ Number: 8 }, { Number: 'nine' }], { stream })).toBe('400');
    expect(azure.logAnalytics.rows(stream)).toHaveLength(1);
    azure.logAnalytics.declare('Custom-C_CL', null);
    expect(await upload([{ Any: 'thing' }], { stream: 'Custom-C_CL' })).toBe('204');
  });

  test('an unknown rule is not found, an unknown stream is a bad request', async () => {
    expect(await upload([{ A: 1 }], { rule: 'dcr-other' })).toBe('404');
    expect(await upload([{ A: 1 }], { stream: 'Custom-Other_CL' })).toBe('400');
  });

  test('a call over 1 MB is too large, however small it is compressed', async () => {
    expect(await upload([{ Text: 'x'.repeat(1_100_000) }])).toBe('413');
    expect(await upload([{ Text: 'x'.repeat(900_000) }])).toBe('204');
  });
});

describe('a raw call to the simulated Logs Ingestion API', () => {
  const compressed = { 'content-encoding': 'gzip' };

  test.each([
    ['compressed', path, { headers: compressed, body: new Uint8Array(gzipSync('[]')) }, 204],
    ['in the clear', path, {}, 204],
    ['without a token', path, { headers: { authorization: '' } }, 401],
    ['with an invalid token', path, { headers: { authorization: 'Bearer x.y.z' } }, 401],
    ['without api-version', path.replace(/\?.*/, ''), {}, 400],
    ['somewhere else', '/metrics', {}, 404],
    ['by GET', path, { method: 'GET' }, 405],
    ['that is no JSON', path, { body: '[{' }, 400],
    ['that is no array', path, { body: '{}' }, 400],
    ['of things that are no objects', path, { body: '[1]' }, 400],
    ['that only claims to be compressed', path, { headers: compressed }, 400],
    ['compressed in another way', path, { headers: { 'content-encoding': 'br' } }, 400],
    ['that is no UTF-8', path, { body: Uint8Array.from(Buffer.from('[{"A":"\xe4"}]', 'latin1')) }, 400],
    ['of another type', path, { headers: { 'content-type': 'text/plain' } }, 415],
  ])('%s: %s', async (_, where, init, status) => {
    expect(await post(where, init)).toBe(status);
  });

  test('with a token for another audience is refused', async () => {
    const { token } = await credential.getToken('https://eventhubs.azure.net/.default');
    expect(await post(path, { headers: { authorization: `Bearer ${token}` } })).toBe(401);
  });
});

test('an identity without the role Monitoring Metrics Publisher is forbidden to ingest', async () => {
  const [one, other] = ['0B7E6C0E-52D1-4F0C-93B1-6AB1A7B1D0A4', '02aab8a4-74ef-476e-8182-f6d2ba4166a6'].map(
    (clientId) => new ManagedIdentityCredential({ clientId }),
  );
  azure.logAnalytics.authorize(['0b7e6c0e-52d1-4f0c-93b1-6ab1a7b1d0a4']);
  expect([await upload([{}], { as: one }), await upload([{}], { as: other })]).toEqual(['204', '403']);
  azure.logAnalytics.authorize([]);
  expect([await upload([{}], { as: one }), await upload([{}])]).toEqual(['403', '403']);
  azure.logAnalytics.authorize(null);
  expect([await upload([{}], { as: other }), await upload([{}])]).toEqual(['204', '204']);
});

test('a rule over its limit answers 429 with Retry-After and stores nothing', async () => {
  const { logAnalytics } = azure;
  logAnalytics.limit({ requestsPerMinute: 1 });
  const before = logAnalytics.rows().length;
  expect([await upload([{ A: 1 }]), await upload([{ A: 2 }])]).toEqual(['204', '429']);
  const answer = await fetch(`${logAnalytics.endpoint}${path}`, await posting());
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await answer.json()).toMatchObject({ error: { code: 'TooManyRequests' } });
  logAnalytics.limit(null);
  expect(await upload([{ A: 3 }])).toBe('204');
  expect(logAnalytics.rows().slice(before)).toEqual([{ A: 1 }, { A: 3 }]);
});

describe('a fault of the simulated Logs Ingestion API', () => {
  const cases: [fault: LogsFault, outcome: string, stored: number][] = [
    [{ status: 429, headers: { 'retry-after': '3' } }, '429', 0],
    [{ status: 403, body: '{"error":{"code":"OperationFailed"}}' }, '403', 0],
    [{ delayMs: 50 }, '204', 1],
    [{ refuseRows: (row) => row.Poison === true }, '400', 0],
    ['hang', 'AbortError', 0],
    ['reset', 'RestError', 0],
    ['accept-then-reset', 'RestError', 1],
  ];
  test.each(cases)(
    '%j means to the ingestion client: %s, with %i rows stored; then all is well again',
    async (fault, meaning, stored) => {
      const before = azure.logAnalytics.rows().length;
      azure.logAnalytics.fault(fault, 1);
      expect(await upload([{ Poison: true }], { timeoutMs: 500 })).toBe(meaning);
      expect(azure.logAnalytics.rows().length - before).toBe(stored);
      expect(await upload([{ Poison: true }])).toBe('204');
    },
  );

  test('a refusal of certain rows is not used up by calls without them', async () => {
    azure.logAnalytics.fault({ refuseRows: (row) => row.Poison === true }, 1);
    expect(await upload([{ Poison: false }])).toBe('204');
    expect(await upload([{ Poison: true }])).toBe('400');
  });
});
