import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { fixture } from './fixture.ts';
import { imdsAt } from './imds-at.ts';
import { bytes, http, type RawAnswer, startRawServer } from './raw-server.ts';

const never = new AbortController().signal;
const scheduled = fixture('live-migration-2-scheduled');

describe('instance metadata', () => {
  const metadata = { compute: { name: 'web_0', vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6' } };
  const refusal = (...known: readonly string[]): string =>
    JSON.stringify({ error: 'Bad request. api-version is invalid.', 'newest-versions': known });
  const knowing =
    (...known: readonly string[]): RawAnswer =>
    (socket, request) => {
      const asked = /api-version=([\d-]+)/.exec(request.line)?.[1] ?? '';
      (known.includes(asked) ? http(200, JSON.stringify(metadata)) : http(400, refusal(...known)))(socket, request);
    };

  test('is requested with the newest version that has every field', async () => {
    await using server = await startRawServer();
    server.answer(knowing('2023-11-15'));
    const imds = imdsAt({ url: `${server.url}/vm/web_0` });
    expect(await imds.instance(never)).toEqual({ kind: 'metadata', metadata, apiVersion: '2023-11-15' });
    expect(server.requests[0]?.line).toBe('GET /vm/web_0/metadata/instance?api-version=2023-11-15 HTTP/1.1');
    expect(server.requests[0]?.headers.metadata).toBe('true');
    await until(() => server.open() === 0);
    await imds.close();
  });

  test('is requested from an older host with the newest version that it lists', async () => {
    await using server = await startRawServer();
    server.answer(knowing('2020-12-01', '2021-02-01', '2021-05-01'));
    const imds = imdsAt(server);
    expect(await imds.instance(never)).toEqual({ kind: 'metadata', metadata, apiVersion: '2021-05-01' });
    expect(server.requests).toHaveLength(2);
    await imds.close();
  });

  test.each<{ what: string; answer: RawAnswer; code: string }>([
    { what: 'a host that is too old', answer: knowing('2020-12-01'), code: 'http-400' },
    { what: 'an error', answer: http(500), code: 'http-500' },
    { what: 'no JSON', answer: http(200, 'web_0'), code: 'not-json' },
    { what: 'an empty answer', answer: http(200), code: 'not-json' },
    { what: 'a broken connection', answer: bytes('', 'reset'), code: 'connection-reset' },
  ])('$what is an answer without metadata', async ({ answer, code }) => {
    await using server = await startRawServer();
    server.answer(answer);
    const imds = imdsAt(server);
    expect(await imds.instance(never)).toMatchObject({ kind: 'unavailable', code });
    await imds.close();
  });

  test('does not hold up a poll while it waits', async () => {
    await using server = await startRawServer();
    server.answer((socket, request) => {
      if (request.line.includes('scheduledevents')) http(200, scheduled)(socket, request);
    });
    const imds = imdsAt(server);
    const stop = new AbortController();
    const asking = imds.instance(stop.signal);
    await until(() => server.requests.length === 1);
    expect((await imds.observe(never)).kind).toBe('document');
    stop.abort();
    expect(await asking).toMatchObject({ code: 'aborted' });
    await imds.close();
  });
});
