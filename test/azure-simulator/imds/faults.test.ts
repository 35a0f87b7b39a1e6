import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createErrorLog } from '../../../src/azure-simulator/errors.ts';
import type { Fault } from '../../../src/azure-simulator/imds/faults.ts';
import { type ImdsSimulator, startImds } from '../../../src/azure-simulator/imds/server.ts';
import { createTokenIssuer } from '../../../src/azure-simulator/token-issuer.ts';

const log = createErrorLog();
let imds: ImdsSimulator;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ imds, close } = await startImds({ issuer: await createTokenIssuer(), log }));
  imds.schedule({ eventType: 'Freeze', resources: ['web_0'] });
});
afterEach(() => imds.fault('scheduledevents', null));
afterAll(async () => {
  await close();
  expect(log.errors).toEqual([]);
});

/** What a plain client makes of one answer. */
async function poll(timeoutMs = 400): Promise<string> {
  try {
    const answer = await fetch(`${imds.url}/metadata/scheduledevents?api-version=2020-07-01`, {
      headers: { Metadata: 'true' },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await answer.text();
    return answer.status === 200 ? describeBody(text) : `${answer.status} ${text}`.trim();
  } catch (error) {
    return (error as Error).name === 'TimeoutError' ? 'timeout' : 'broken connection';
  }
}

function describeBody(text: string): string {
  if (text === '') return 'empty';
  if (text.length > 10 * 1024 * 1024) return 'over 10 MB';
  try {
    const value = JSON.parse(text) as object | null;
    return value === null ? 'null' : Object.keys(value).join();
  } catch {
    return 'no JSON';
  }
}

const good = 'DocumentIncarnation,Events';
const cases: [fault: Fault, result: string][] = [
  [{ status: 429, headers: { 'retry-after': '7' }, body: 'too many' }, '429 too many'],
  [{ status: 500 }, '500'],
  [{ delayMs: 50 }, good],
  ['hang', 'timeout'],
  ['slow', 'timeout'],
  ['reset', 'broken connection'],
  ['cut-off', 'broken connection'],
  ['empty', 'empty'],
  ['truncated', 'no JSON'],
  ['not-json', 'no JSON'],
  ['huge', 'over 10 MB'],
  ['redirect', '302'],
  ['no-events', 'DocumentIncarnation'],
  ['no-incarnation', 'Events'],
  ['null', 'null'],
];

describe('a fault of the simulated metadata service', () => {
  test.each(cases)('%j appears to a client as: %s; and ends after one request', async (fault, result) => {
    imds.fault('scheduledevents', fault, 1);
    expect(await poll(fault === 'huge' ? 5_000 : 400)).toBe(result);
    expect(await poll(5_000)).toBe(good);
  });

  test('lasts until it is cleared and does not affect the other targets', async () => {
    imds.fault('instance', { status: 503 });
    expect(await poll()).toBe(good);
    imds.fault('scheduledevents', { status: 503 });
    expect([await poll(), await poll()]).toEqual(['503', '503']);
    imds.fault('scheduledevents', null);
    expect(await poll()).toBe(good);
  });
});
