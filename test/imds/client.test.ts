import { describe, expect, test } from 'vitest';
import type { ImdsOptions } from '../../src/imds/client.ts';
import type { PollResult } from '../../src/lifecycle/scheduled-event.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { fixture } from './fixture.ts';
import { imdsAt } from './imds-at.ts';
import { bytes, http, type RawAnswer, raw, startRawServer } from './raw-server.ts';

const never = new AbortController().signal;
const scheduled = fixture('live-migration-2-scheduled');

async function seenWhen(answer: RawAnswer | null, options: Partial<ImdsOptions> = {}): Promise<PollResult> {
  await using server = await startRawServer();
  server.answer(answer);
  const imds = imdsAt(server, options);
  const seen = await imds.observe(never);
  await imds.close();
  return seen;
}

describe('a good answer', () => {
  test('is a document, with the time of Azure', async () => {
    const clock = createFakeClock('2026-03-01T12:00:00.400Z');
    const seen = await seenWhen(http(200, scheduled, { Date: 'Sun, 01 Mar 2026 12:00:30 GMT' }), { clock });
    expect(seen).toMatchObject({
      kind: 'document',
      document: { incarnation: 2, unreadable: 0, events: [{ eventStatus: 'Scheduled' }] },
      imdsApiVersion: '2020-07-01',
      azureTime: new Date('2026-03-01T12:00:30Z'),
      clockOffsetSeconds: 30,
    });
  });

  test('without a date has no time of Azure', async () => {
    expect(await seenWhen(http(200, scheduled))).toMatchObject({ azureTime: null, clockOffsetSeconds: null });
  });

  test('may come in chunks, and after an informational one', async () => {
    const chunks = [scheduled.slice(0, 90), scheduled.slice(90)];
    const body = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
    const seen = await seenWhen(
      bytes(`HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`),
    );
    expect(seen.kind).toBe('document');
  });

  test('may end with the connection instead of a length', async () => {
    expect((await seenWhen(bytes(`HTTP/1.0 200 OK\r\n\r\n${scheduled}`))).kind).toBe('document');
  });
});

describe('the request', () => {
  test('the path below the prefix of the endpoint, the version, and the header that the service demands', async () => {
    await using server = await startRawServer();
    server.answer(http(200, scheduled));
    const imds = imdsAt({ url: `${server.url}/vm/web_3/` }, { apiVersion: '2019-08-01' });
    await imds.observe(never);
    expect(server.requests[0]?.line).toBe('GET /vm/web_3/metadata/scheduledevents?api-version=2019-08-01 HTTP/1.1');
    expect(server.requests[0]?.headers).toMatchObject({ metadata: 'true' });
    expect(server.requests[0]?.headers).not.toHaveProperty('x-forwarded-for');
    await imds.close();
  });

  test('no variable of the environment puts a proxy in between', async () => {
    const before = { ...process.env };
    Object.assign(process.env, { HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9', NO_PROXY: '' });
    try {
      expect((await seenWhen(http(200, scheduled))).kind).toBe('document');
    } finally {
      process.env = before;
    }
  });
});

describe('entity tags', () => {
  const history = {};

  test('one that the server offers is sent back; 304 is the document of before', async () => {
    await using server = await startRawServer();
    const imds = imdsAt(server);
    server.answer(http(200, scheduled, { ETag: 'W/"2"' }));
    await imds.observe(never, history);
    server.answer(http(304, '', { Date: new Date().toUTCString() }));
    expect(await imds.observe(never, history)).toMatchObject({ kind: 'unchanged', azureTime: expect.any(Date) });
    expect(await imds.observe(never, history)).toMatchObject({ kind: 'unchanged' });
    expect(server.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, 'W/"2"', 'W/"2"']);
    await imds.close();
  });

  test('none is sent without an offer, and an unexpected 304 is no observation', async () => {
    await using server = await startRawServer();
    const imds = imdsAt(server);
    server.answer(http(304));
    expect(await imds.observe(never, history)).toMatchObject({ kind: 'unavailable', code: 'http-304' });
    server.answer(http(200, scheduled));
    await imds.observe(never, history);
    await imds.observe(never, history);
    expect(server.requests.every(({ headers }) => headers['if-none-match'] === undefined)).toBe(true);
    await imds.close();
  });

  test('that of a body that is not fully readable is not sent back', async () => {
    await using server = await startRawServer();
    const imds = imdsAt(server);
    server.answer(http(200, '{"error":"busy"}', { ETag: '"broken"' }));
    await imds.observe(never, history);
    server.answer(http(200, fixture('odd-one-bad-entry'), { ETag: '"partly"' }));
    await imds.observe(never, history);
    server.answer(http(200, scheduled, { ETag: '"good"' }));
    await imds.observe(never, history);
    server.answer(http(503, '', { ETag: '"error"' }));
    await imds.observe(never, history);
    await imds.observe(never, history);
    const sent = server.requests.map(({ headers }) => headers['if-none-match']);
    expect(sent).toEqual([undefined, undefined, undefined, '"good"', '"good"']);
    await imds.close();
  });

  test('that of one history is not sent for another, nor for none', async () => {
    await using server = await startRawServer();
    const imds = imdsAt(server);
    server.answer(http(200, scheduled, { ETag: '"2"' }));
    for (const asking of [history, history, {}, undefined, history, history]) await imds.observe(never, asking);
    const sent = server.requests.map(({ headers }) => headers['if-none-match']);
    expect(sent).toEqual([undefined, '"2"', undefined, undefined, undefined, '"2"']);
    await imds.close();
  });
});

describe('faults', () => {
  const huge = `{"DocumentIncarnation":1,"Events":[],"Padding":"${'x'.repeat(2 * 1024 * 1024)}"}`;
  const lengthOf = (more: number): string => `HTTP/1.1 200 OK\r\nContent-Length: ${scheduled.length + more}\r\n\r\n`;

  const faults: readonly { fault: string; answer: RawAnswer; code: string; message: RegExp; retryAfterMs?: number }[] =
    [
      { fault: '400', answer: http(400, '{"error":"Bad request"}'), code: 'http-400', message: /"Bad request"/ },
      { fault: '404', answer: http(404), code: 'http-404', message: /imds\.endpoint/ },
      { fault: '405', answer: http(405), code: 'http-405', message: /GET/ },
      { fault: '410', answer: http(410), code: 'http-410', message: /70 s/ },
      {
        fault: '429 with seconds',
        answer: http(429, '', { 'Retry-After': '3' }),
        code: 'http-429',
        message: /five requests/,
        retryAfterMs: 3000,
      },
      {
        fault: '503 with a date',
        answer: http(503, '', {
          Date: 'Sun, 01 Mar 2026 12:00:00 GMT',
          'Retry-After': 'Sun, 01 Mar 2026 13:00:00 GMT',
        }),
        code: 'http-503',
        message: /retrying/,
        retryAfterMs: 3_600_000,
      },
      {
        fault: '500',
        answer: http(500, '{"DocumentIncarnation":1,"Events":[]}'),
        code: 'http-500',
        message: /retrying/,
      },
      { fault: '200 without a body', answer: http(200), code: 'empty-body', message: /ignored/ },
      { fault: '204', answer: http(204), code: 'http-204', message: /ignored/ },
      {
        fault: 'half the JSON',
        answer: http(200, scheduled.slice(0, 99)),
        code: 'truncated',
        message: /99 characters/,
      },
      { fault: 'a page', answer: http(200, '<html>Sign in</html>'), code: 'not-json', message: /<html>/ },
      {
        fault: 'JSON without Events',
        answer: http(200, '{"DocumentIncarnation":1}'),
        code: 'no-events',
        message: /Events/,
      },
      {
        fault: 'JSON without DocumentIncarnation',
        answer: http(200, '{"Events":[]}'),
        code: 'no-incarnation',
        message: /DocumentIncarnation/,
      },
      { fault: 'null', answer: http(200, 'null'), code: 'not-an-object', message: /ignored/ },
      {
        fault: 'a document in Latin-1',
        answer: raw(Buffer.from(scheduled.replace('"Platform"', '"Plattf\u00f6rm"'), 'latin1')),
        code: 'not-utf8',
        message: /not valid UTF-8/,
      },
      {
        fault: 'an empty document with a byte that is none',
        answer: raw(Buffer.from('{"DocumentIncarnation":9,"Events":[],"\u00ff":1}', 'latin1')),
        code: 'not-utf8',
        message: /ignored/,
      },
      {
        fault: 'a redirect',
        answer: http(302, '', { Location: 'http://login.invalid/' }),
        code: 'http-302',
        message: /login\.invalid/,
      },
      { fault: 'a body of 2 MB', answer: http(200, huge), code: 'too-large', message: /1 MB/ },
      {
        fault: 'a body of 2 MB that names no length',
        answer: bytes(`HTTP/1.1 200 OK\r\n\r\n${huge}`),
        code: 'too-large',
        message: /1 MB/,
      },
      { fault: 'a reset', answer: bytes('', 'reset'), code: 'connection-reset', message: /without an answer/ },
      { fault: 'an end without an answer', answer: bytes(''), code: 'connection-reset', message: /without an answer/ },
      {
        fault: 'an end in the middle of the headers',
        answer: bytes('HTTP/1.1 200 OK\r\nContent-Le'),
        code: 'connection-reset',
        message: /without an answer/,
      },
      {
        fault: 'an end in the middle of the body',
        answer: bytes(lengthOf(100) + scheduled),
        code: 'cut-off',
        message: /middle of the answer/,
      },
      {
        fault: 'a reset in the middle of the body',
        answer: bytes(lengthOf(100) + scheduled, 'reset'),
        code: 'cut-off',
        message: /middle of the answer/,
      },
      {
        fault: 'chunks that end in the middle',
        answer: bytes(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n${scheduled}`),
        code: 'cut-off',
        message: /middle of the answer/,
      },
      {
        fault: 'another protocol',
        answer: bytes('SSH-2.0-OpenSSH_9.6\r\n\r\n'),
        code: 'not-http',
        message: /not valid HTTP/,
      },
      {
        fault: 'endless headers',
        answer: bytes(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(200_000)}\r\n\r\n`),
        code: 'not-http',
        message: /not valid HTTP/,
      },
    ];

  test.each(faults)('$fault is no observation, and the next good answer is understood', async (given) => {
    await using server = await startRawServer();
    const imds = imdsAt(server);
    server.answer(http(200, scheduled));
    expect((await imds.observe(never)).kind).toBe('document');
    server.answer(given.answer);
    expect(await imds.observe(never)).toEqual({
      kind: 'unavailable',
      code: given.code,
      reason: expect.stringMatching(given.message),
      retryAfterMs: given.retryAfterMs ?? null,
    });
    server.answer(http(200, fixture('live-migration-3-started')));
    expect(await imds.observe(never)).toMatchObject({ kind: 'document', document: { incarnation: 3 } });
    await imds.close();
  });

  test('nothing listens', async () => {
    const server = await startRawServer();
    await server[Symbol.asyncDispose]();
    const imds = imdsAt(server);
    expect(await imds.observe(never)).toMatchObject({
      kind: 'unavailable',
      code: 'connection-refused',
      reason: expect.stringContaining('imds.endpoint'),
    });
    await imds.close();
  });

  test('a name that does not exist', async () => {
    const imds = imdsAt({ url: 'http://imds.invalid' });
    expect(await imds.observe(never)).toMatchObject({ kind: 'unavailable', code: 'name-not-found' });
    await imds.close();
  });
});

test('the first answer may take longer, as long as no document was seen for a day', async () => {
  await using server = await startRawServer();
  const clock = createFakeClock();
  const state = { isWarm: false };
  const imds = imdsAt(server, { clock, timeoutMs: 10_000, firstTimeoutMs: 130_000, warm: () => state.isWarm });
  const first = imds.observe(never);
  await until(() => server.requests.length === 1);
  await clock.advance(129_000);
  expect(clock.sleepers()).toBe(1);
  await clock.advance(1_001);
  expect(await first).toMatchObject({ code: 'timeout', reason: expect.stringContaining('130 s') });
  state.isWarm = true;
  const second = imds.observe(never);
  await until(() => server.requests.length === 2);
  await clock.advance(10_001);
  expect(await second).toMatchObject({ code: 'timeout', reason: expect.stringContaining('10 s') });
  await imds.close();
});

test('nothing is requested after a stop or an abort', async () => {
  await using server = await startRawServer();
  server.answer(http(200, scheduled));
  const imds = imdsAt(server);
  expect(await imds.observe(AbortSignal.abort())).toMatchObject({ code: 'aborted' });
  await imds.observe(never);
  await imds.close();
  expect(await imds.observe(never)).toMatchObject({ code: 'aborted' });
  expect(server.requests).toHaveLength(1);
});

describe('an endpoint that has to be found first', () => {
  test('is no observation until it is found', async () => {
    await using server = await startRawServer();
    server.answer(http(200, scheduled));
    const finds = [{ kind: 'not-found', reason: 'No address answers.' } as const];
    const imds = imdsAt(server, {
      endpoint: async () => finds.shift() ?? { kind: 'found', endpoint: server.url },
    });
    expect(await imds.observe(never)).toMatchObject({ code: 'unreachable', reason: 'No address answers.' });
    expect((await imds.observe(never)).kind).toBe('document');
    await imds.close();
  });
});
