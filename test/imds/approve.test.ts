import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { ApprovalAnswer } from '../../src/imds/approve.ts';
import { createImds, type Imds } from '../../src/imds/client.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { bytes, http, type RawAnswer, startRawServer } from './raw-server.ts';

const never = new AbortController().signal;

const imdsAt = (url: string, clock: Clock = systemClock): Imds =>
  createImds({
    endpoint: url,
    apiVersion: '2020-07-01',
    timeoutMs: 2000,
    firstTimeoutMs: 2000,
    warm: () => true,
    clock,
  });

describe('approving at the metadata service', () => {
  let azure: AzureSimulator;
  beforeAll(async () => {
    azure = await startAzureSimulator();
  });
  afterAll(() => azure.close());

  test('starts the event, and is accepted once more when it is repeated', async () => {
    const notBefore = new Date(Date.now() + 900_000);
    const eventId = azure.imds.schedule({ eventType: 'Reboot', resources: ['web_0'], notBefore, eventSource: 'User' });
    const imds = imdsAt(azure.imds.vmUrl('web_0'));
    expect(await imds.observe(never)).toMatchObject({ kind: 'document' });
    expect(await imds.approve([eventId], never)).toEqual({ outcome: 'accepted', reason: null });
    expect(await imds.approve([eventId], never)).toEqual({ outcome: 'accepted', reason: null });
    expect(azure.imds.approvals).toMatchObject([
      { vm: 'web_0', eventId },
      { vm: 'web_0', eventId },
    ]);
    expect(await imds.observe(never)).toMatchObject({ document: { events: [{ eventStatus: 'Started' }] } });
    azure.imds.remove(eventId);
    await imds.close();
  });

  test('an id that is not valid is refused, in the words of the service', async () => {
    const imds = imdsAt(azure.imds.vmUrl('web_0'));
    expect(await imds.approve(['who-knows'], never)).toEqual({
      outcome: 'refused',
      reason: 'The metadata service refused it (HTTP 400: "Bad request. EventId who-knows is not valid").',
    });
    await imds.close();
  });
});

describe('the request of an approval', () => {
  test('is a POST with the header that the service demands, and never goes through a proxy', async () => {
    await using server = await startRawServer();
    server.answer(http(200));
    const before = { ...process.env };
    Object.assign(process.env, { HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9', NO_PROXY: '' });
    const imds = imdsAt(`${server.url}/vm/web_3/`);
    const answer = await imds.approve(['A', 'B'], never);
    process.env = before;
    expect(answer.outcome).toBe('accepted');
    expect(server.requests[0]?.line).toBe('POST /vm/web_3/metadata/scheduledevents?api-version=2020-07-01 HTTP/1.1');
    const body = '{"StartRequests":[{"EventId":"A"},{"EventId":"B"}]}';
    expect(server.requests[0]?.headers).toMatchObject({
      metadata: 'true',
      'content-type': 'application/json',
      'content-length': String(body.length),
    });
    expect(server.requests[0]?.headers).not.toHaveProperty('x-forwarded-for');
    await imds.close();
  });

  test('uses its own connection, closed afterwards, so polling does not wait', async () => {
    await using server = await startRawServer();
    server.answer(http(200, '{"DocumentIncarnation":1,"Events":[]}'));
    const imds = imdsAt(server.url);
    await imds.observe(never);
    await imds.approve(['A'], never);
    expect(server.connections()).toBe(2);
    await until(() => server.open() === 1, { what: 'the end of the connection' });
    await imds.close();
  });
});

describe('an answer that is neither yes nor no', () => {
  const when = async (answer: RawAnswer | null, clock?: Clock): Promise<ApprovalAnswer> => {
    await using server = await startRawServer();
    server.answer(answer);
    const imds = imdsAt(server.url, clock);
    const result = await imds.approve(['A'], never);
    await imds.close();
    return result;
  };

  test.each<[string, RawAnswer, string]>([
    ['busy', http(503, '{"error":"busy"}'), '(HTTP 503: "busy")'],
    ['a page', http(502, '<h1>Bad\n gateway</h1>'), '(HTTP 502: "<h1>Bad gateway</h1>")'],
    ['another success', http(202), '(HTTP 202)'],
    ['a redirection', http(302, '', { location: 'http://127.0.0.1:9/' }), '(HTTP 302)'],
    ['an id that is not known', http(404, '{"error":"Not found"}'), '(HTTP 404: "Not found")'],
    ['too many requests, until after the deadline', http(429, '', { 'retry-after': '3600' }), '(HTTP 429)'],
    ['a mistake of theirs', http(500), '(HTTP 500)'],
    ['a yes that breaks off', bytes('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n'), 'not known'],
    ['forbidden', http(403), 'Metadata Security Protocol'],
    ['no HTTP', bytes('SSH-2.0-OpenSSH\r\n\r\n'), 'not known'],
    ['the end of the connection', (socket) => socket.destroy(), 'not known'],
  ])('%s has the outcome outcome-unknown', async (_, answer, result) => {
    const { outcome, reason } = await when(answer);
    expect({ outcome, reason }).toEqual({ outcome: 'outcome-unknown', reason: expect.stringContaining(result) });
  });

  test('a refusal that is not JSON is reported', async () => {
    expect(await when(http(400, 'Bad request'))).toEqual({
      outcome: 'refused',
      reason: 'The metadata service refused it (HTTP 400: "Bad request").',
    });
  });

  test('no listener has the outcome outcome-unknown', async () => {
    const server = await startRawServer();
    const { url } = server;
    await server[Symbol.asyncDispose]();
    const imds = imdsAt(url);
    expect((await imds.approve(['A'], never)).outcome).toBe('outcome-unknown');
    await imds.close();
  });

  test('a throttled request is repeated after its Retry-After', async () => {
    await using server = await startRawServer();
    const clock = createFakeClock();
    const imds = imdsAt(server.url, clock);
    server.answer(http(429, '', { 'retry-after': '3' }));
    const approving = imds.approve(['A'], never);
    await until(() => clock.sleepers() === 1 && server.requests.length === 1, { what: 'the wait' });
    await clock.advance(2_999);
    expect(server.requests).toHaveLength(1);
    server.answer(http(200));
    await clock.advance(1);
    expect(await approving).toEqual({ outcome: 'accepted', reason: null });
    expect(server.requests).toHaveLength(2);
    await imds.close();
  });

  test('a service that throttles for longer than the deadline is abandoned within it', async () => {
    await using server = await startRawServer();
    const clock = createFakeClock();
    const imds = imdsAt(server.url, clock);
    server.answer(http(429));
    let answer: ApprovalAnswer | null = null;
    void imds.approve(['A'], never).then((came) => {
      answer = came;
    });
    for (let second = 0; second < 10 && answer === null; second += 1) {
      const asked = server.requests.length;
      await until(() => answer !== null || (clock.sleepers() === 1 && server.requests.length > asked - 1));
      await clock.advance(1_000);
    }
    expect(await until(() => answer)).toMatchObject({ outcome: 'outcome-unknown' });
    expect(server.requests.length).toBeLessThanOrEqual(10);
    await imds.close();
  });

  test('silence for 10 s has the outcome outcome-unknown', async () => {
    await using server = await startRawServer();
    const clock = createFakeClock();
    const imds = imdsAt(server.url, clock);
    const approving = imds.approve(['A'], never);
    await until(() => server.requests.length === 1, { what: 'the request' });
    await clock.advance(10_000);
    expect(await approving).toMatchObject({
      outcome: 'outcome-unknown',
      reason: expect.stringContaining('did not answer within 10 s'),
    });
    await imds.close();
  });

  test('an aborted request has the outcome outcome-unknown', async () => {
    await using server = await startRawServer();
    const stop = new AbortController();
    const imds = imdsAt(server.url);
    const approving = imds.approve(['A'], stop.signal);
    await until(() => server.requests.length === 1, { what: 'the request' });
    stop.abort();
    expect((await approving).outcome).toBe('outcome-unknown');
    await imds.close();
  });
});
