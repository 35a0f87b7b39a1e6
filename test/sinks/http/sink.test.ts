import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Certificate, makeCertificate } from '../../../src/azure-simulator/certificate.ts';
import { systemClock } from '../../../src/clock.ts';
import type { HttpConfig } from '../../../src/sinks/http/config.ts';
import { createHttpSink, type HttpSink } from '../../../src/sinks/http/sink.ts';
import type { SendResult } from '../../../src/sinks/sink.ts';
import { startConnectProxy } from '../../support/connect-proxy.ts';
import { sampleEntry } from '../../support/sample-record.ts';
import { type Misbehaviour, passesTheContract, type SinkUnderTest } from '../contract.ts';
import { type Behaviour, type Receiver, startReceiver, unusedPort } from './receiver.ts';

const never = new AbortController().signal;
const waits = { tokenMs: 1000, connectMs: 1000, sendMs: 500 };
const folder = mkdtempSync(join(tmpdir(), 'bridge-http-'));
let receiver: Receiver;
let secure: Receiver;
let certificate: Certificate;
const opened: HttpSink[] = [];

beforeAll(async () => {
  certificate = await makeCertificate();
  receiver = await startReceiver();
  secure = await startReceiver(certificate);
});
afterEach(async () => {
  receiver.behave(null);
  for (const sink of opened.splice(0)) await sink.close();
});
afterAll(async () => {
  await receiver.close();
  await secure.close();
  await certificate.remove();
  rmSync(folder, { recursive: true });
});

const noCredential = { getToken: async () => null };
function makeSink(
  settings: Partial<HttpConfig> = {},
  credential: Parameters<typeof createHttpSink>[0]['credential'] = noCredential,
): HttpSink {
  const config = {
    url: receiver.url,
    mode: 'structured',
    headerFile: null,
    tokenScope: null,
    allowInsecure: false,
    ...settings,
  } as const;
  const sink = createHttpSink({ config, credential, clock: systemClock, waits });
  opened.push(sink);
  return sink;
}
const sendOne = (sink: HttpSink): Promise<SendResult> => sink.send([sampleEntry()], never);
const headerFile = (text: string): string => {
  const path = join(folder, 'header');
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};

const behaviours: Record<Misbehaviour, Behaviour> = {
  throttled: { status: 429, headers: { 'retry-after': '7' } },
  silent: 'silent',
  refused: { status: 401 },
  malformed: { status: 400 },
};

for (const mode of ['structured', 'batch'] as const) {
  passesTheContract(
    `HTTP in ${mode} mode`,
    (): SinkUnderTest => {
      const before = receiver.events.length;
      const arrived = () => receiver.events.slice(before);
      return {
        sink: makeSink({ mode }),
        arrived: () => arrived().map(({ id }) => id),
        contents: () => arrived().map((event) => JSON.stringify(event)),
        misbehave: (how) => receiver.behave(how && behaviours[how]),
        timeoutMs: 2000,
        tooMuch: [sampleEntry({ description: 'x'.repeat(1_000_000) })],
      };
    },
    { throttling: true, malformed: true, tooLarge: true },
  );
}

describe('requests by HTTP', () => {
  test('is a CloudEvent 1.0 in the JSON format, one per request in structured mode', async () => {
    const [one, two] = [
      sampleEntry({ recordId: 'one', eventId: 'ABC', sequence: 3 }),
      sampleEntry({ recordId: 'two' }),
    ];
    const before = { requests: receiver.requests.length, events: receiver.events.length };
    expect(await makeSink().send([one, two], never)).toEqual({ kind: 'delivered' });
    expect(receiver.requests.slice(before.requests).map(({ headers }) => headers['content-type'])).toEqual(
      Array(2).fill('application/cloudevents+json; charset=utf-8'),
    );
    const [event] = receiver.events.slice(before.events);
    expect(event).toMatchObject({
      specversion: '1.0',
      id: 'one',
      source: one.record.resourceId,
      type: 'com.scheduledeventsbridge.scheduledevent.scheduled.v1',
      subject: 'ABC',
      datacontenttype: 'application/json',
      dataschema: 'urn:scheduled-events-bridge:lifecycle-record:v1',
      partitionkey: 'abc',
      sequence: '3',
      transitionid: one.record.transitionId,
      data: JSON.parse(one.json.toString()),
    });
    expect(new Date(event?.time ?? '').toISOString()).toBe(one.record.observedAt);
    // The record as it was stored, byte for byte.
    expect(receiver.requests[before.requests]?.body).toContain(`"data":${one.json.toString()}}`);
  });

  test('is one list of CloudEvents in batch mode, in the order of the batch', async () => {
    const before = { requests: receiver.requests.length, events: receiver.events.length };
    const batch = ['a', 'b', 'c'].map((recordId) => sampleEntry({ recordId, eventId: recordId }));
    expect(await makeSink({ mode: 'batch' }).send(batch, never)).toEqual({ kind: 'delivered' });
    const [request, ...more] = receiver.requests.slice(before.requests);
    expect(more).toEqual([]);
    expect(request?.headers['content-type']).toBe('application/cloudevents-batch+json; charset=utf-8');
    expect(receiver.events.slice(before.events).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });
});

describe('answers of an HTTP endpoint', () => {
  const answers: { behaviour: Behaviour; expected: Record<string, unknown> }[] = [
    ...[400, 415, 422].map((status) => ({
      behaviour: { status },
      expected: { kind: 'rejected', cause: 'poison', code: `http-${status}` },
    })),
    { behaviour: { status: 413 }, expected: { kind: 'rejected', cause: 'too-large', code: 'http-413' } },
    ...[301, 307, 401, 402, 403, 404, 405, 407, 410].map((status) => ({
      behaviour: { status, headers: { location: receiver?.url ?? '/' } },
      expected: { cause: 'configuration', code: `http-${status}` },
    })),
    {
      behaviour: { status: 429, headers: { 'retry-after': '3600' } },
      expected: { cause: 'throttled', code: 'http-429', retryAfterMs: 3_600_000 },
    },
    {
      behaviour: { status: 503, headers: { 'retry-after': '20' } },
      expected: { cause: 'throttled', code: 'http-503', retryAfterMs: 20_000 },
    },
    { behaviour: { status: 408 }, expected: { cause: 'transient', code: 'http-408' } },
    { behaviour: { status: 500 }, expected: { cause: 'transient', code: 'http-500' } },
    { behaviour: 'silent', expected: { cause: 'transient', code: 'send-timeout' } },
    { behaviour: 'trickle', expected: { cause: 'transient', code: 'send-timeout' } },
    { behaviour: 'endless', expected: { kind: 'rejected', cause: 'poison', code: 'http-400' } },
    { behaviour: 'reset', expected: { cause: 'transient', code: 'connection-reset' } },
  ];
  for (const { behaviour, expected } of answers) {
    test(`${JSON.stringify(behaviour)} is taken for ${expected.cause} after a single HTTP request`, async () => {
      const before = receiver.requests.length;
      receiver.behave(behaviour);
      expect(await sendOne(makeSink())).toMatchObject(expected);
      expect(receiver.requests.length - before).toBe(1);
    });
  }

  test('an answer without end does not take back that the event was accepted', async () => {
    receiver.behave({ status: 200, body: 'x'.repeat(10_000_000) });
    const sink = makeSink();
    expect(await sendOne(sink)).toEqual({ kind: 'delivered' });
    receiver.behave(null);
    expect(await sendOne(sink)).toEqual({ kind: 'delivered' });
  });

  test('a refused connection is reported for the configured host', async () => {
    const port = await unusedPort();
    expect(await sendOne(makeSink({ url: `http://127.0.0.1:${port}/` }))).toMatchObject({
      cause: 'transient',
      code: 'connection-refused',
      reason: expect.stringContaining(`127.0.0.1:${port}`),
    });
  });
});

describe('over TLS', () => {
  test('a certificate of an unknown authority is refused before any record is sent, one of a trusted authority is accepted', async () => {
    expect(await sendOne(makeSink({ url: secure.url }))).toMatchObject({
      cause: 'configuration',
      code: 'tls-untrusted',
    });
    expect(secure.requests).toEqual([]);
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, certificate.ca]);
    try {
      expect(await sendOne(makeSink({ url: secure.url }))).toEqual({ kind: 'delivered' });
    } finally {
      setDefaultCACertificates(before);
    }
    expect(secure.events.at(-1)?.id).toBe(sampleEntry().record.recordId);
  });

  test('requests go through the proxy of the process, and to a host of NO_PROXY past it', async () => {
    const proxy = await startConnectProxy();
    const kept = {
      HTTP_PROXY: process.env.HTTP_PROXY,
      HTTPS_PROXY: process.env.HTTPS_PROXY,
      NO_PROXY: process.env.NO_PROXY,
    };
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, certificate.ca]);
    Object.assign(process.env, { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, NO_PROXY: 'elsewhere.example' });
    try {
      expect(await sendOne(makeSink({ url: secure.url }))).toEqual({ kind: 'delivered' });
      expect(proxy.asked).toEqual([`localhost:${secure.port}`]);
      process.env.NO_PROXY = 'localhost';
      expect(await sendOne(makeSink({ url: secure.url }))).toEqual({ kind: 'delivered' });
      expect(proxy.asked).toHaveLength(1);
    } finally {
      setDefaultCACertificates(before);
      for (const [name, value] of Object.entries(kept)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
      await proxy.close();
    }
  });
});

describe('the credential of an HTTP endpoint', () => {
  test('is the header of the file as it is when a request is sent', async () => {
    const sink = makeSink({ headerFile: headerFile('aeg-sas-key: first==\n') });
    expect(await sendOne(sink)).toEqual({ kind: 'delivered' });
    headerFile('Authorization: Bearer second');
    expect(await sendOne(sink)).toEqual({ kind: 'delivered' });
    const [one, two] = receiver.requests.slice(-2);
    expect(one?.headers['aeg-sas-key']).toBe('first==');
    expect(two?.headers.authorization).toBe('Bearer second');
    expect(two?.headers['aeg-sas-key']).toBeUndefined();
  });

  test.for([
    { name: 'is empty', text: '' },
    { name: 'has no colon', text: 's3cretwithoutcolon' },
    { name: 'has two lines', text: 'Authorization: s3cret\nX-Other: 1' },
    { name: 'names a header of HTTP itself', text: 'Content-Type: s3cret' },
    { name: 'has bytes that are invalid in a header', text: 'Authorization: s3cret\u0007' },
    { name: 'is too long', text: `Authorization: ${'s3cret'.repeat(5000)}` },
  ])('is not sent from a file that $name, nor quoted', async ({ text }) => {
    const before = receiver.requests.length;
    const result = await sendOne(makeSink({ headerFile: headerFile(text) }));
    expect(result).toMatchObject({ cause: 'configuration', code: 'header-malformed' });
    expect(JSON.stringify(result)).not.toContain('s3cret');
    expect(receiver.requests.length).toBe(before);
  });

  test('in a missing file is a configuration problem', async () => {
    const result = await sendOne(makeSink({ headerFile: join(folder, 'none') }));
    expect(result).toMatchObject({
      cause: 'configuration',
      code: 'header-unreadable',
      reason: expect.stringContaining('ENOENT'),
    });
  });

  test('in a file that others can read is refused, and nothing is sent', async () => {
    const before = receiver.requests.length;
    const path = headerFile('Authorization: Bearer s3cret');
    chmodSync(path, 0o644);
    const result = await sendOne(makeSink({ headerFile: path }));
    chmodSync(path, 0o600);
    expect(result).toMatchObject({
      cause: 'configuration',
      code: 'header-exposed',
      reason: expect.stringContaining(`chmod o-rwx ${path}`),
    });
    expect(JSON.stringify(result)).not.toContain('s3cret');
    expect(receiver.requests.length).toBe(before);
  });

  test('is a token for the configured scope, replaced once where it is refused', async () => {
    const asked: string[] = [];
    const tokens = ['old', 'new'];
    const credential = {
      getToken: async (scopes: string | string[]) => {
        asked.push(String(scopes));
        return { token: tokens[0] ?? '', expiresOnTimestamp: Date.now() + 3_600_000 };
      },
      replace: async () => {
        tokens.shift();
        receiver.behave(null);
        return true;
      },
    };
    receiver.behave({ status: 401 });
    const scope = 'https://eventgrid.azure.net/.default';
    expect(await sendOne(makeSink({ tokenScope: scope }, credential))).toEqual({ kind: 'delivered' });
    expect(asked).toEqual([scope, scope]);
    expect(receiver.requests.slice(-2).map(({ headers }) => headers.authorization)).toEqual([
      'Bearer old',
      'Bearer new',
    ]);
  });

  test('and the query of the URL are in no result, even when the endpoint repeats them', async () => {
    const text = 'got sig=s3cret and Bearer s3cret-header';
    receiver.behave({ status: 400, body: text });
    const sink = makeSink({
      url: `${receiver.url}?sig=s3cret`,
      headerFile: headerFile('Authorization: Bearer s3cret-header'),
    });
    const results = [await sendOne(sink), await sink.check(never)];
    receiver.behave({ status: 404, body: text });
    results.push(await sendOne(sink), await sink.check(never));
    expect(JSON.stringify(results)).not.toContain('s3cret');
    expect(receiver.requests.at(-1)?.path).toBe('/events?sig=s3cret');
  });
});
