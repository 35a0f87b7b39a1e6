import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { type HttpConnection, longestBodyBytes, openConnection } from '../../src/imds/exchange.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { bytes, http, type RawAnswer, startRawServer } from './raw-server.ts';

const never = new AbortController().signal;

/** Asks for `/` with a deadline of ten seconds. */
const ask = (connection: HttpConnection, signal = never) =>
  connection.exchange({ path: '/', headers: { Metadata: 'true' }, deadlineMs: 10_000 }, signal);

describe('a connection', () => {
  test('is kept for the next request', async () => {
    await using server = await startRawServer();
    server.answer(http(200, 'good'));
    const connection = openConnection(server.url, { clock: systemClock, connectTimeoutMs: 5000 });
    for (let turn = 0; turn < 5; turn += 1) expect(await ask(connection)).toMatchObject({ status: 200, body: 'good' });
    expect(server.requests).toHaveLength(5);
    expect(server.connections()).toBe(1);
    await connection.close();
    await until(() => server.open() === 0, { what: 'the connection to be closed' });
  });

  test('is opened again when the server closed the previous one', async () => {
    await using server = await startRawServer();
    server.answer(bytes('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\ngood'));
    const connection = openConnection(server.url, { clock: systemClock, connectTimeoutMs: 5000 });
    for (let turn = 0; turn < 3; turn += 1) expect(await ask(connection)).toMatchObject({ body: 'good' });
    expect(server.connections()).toBe(3);
    await connection.close();
  });

  test.each([
    { pause: 'a second', pass: { ms: 1000, stepMs: 0 }, connections: 1 },
    { pause: 'three seconds', pass: { ms: 3000, stepMs: 0 }, connections: 2 },
    { pause: 'three seconds that only the wall clock shows', pass: { ms: 1000, stepMs: 2000 }, connections: 2 },
    { pause: 'a step of the clock backwards', pass: { ms: 1000, stepMs: -9000 }, connections: 1 },
  ])('after $pause: connections made are $connections', async ({ pass, connections }) => {
    await using server = await startRawServer();
    server.answer(http(200, 'good'));
    const clock = createFakeClock();
    const connection = openConnection(server.url, { clock, connectTimeoutMs: 5000 });
    await ask(connection);
    clock.stepWall(pass.stepMs);
    await clock.advance(pass.ms);
    expect(await ask(connection)).toMatchObject({ body: 'good' });
    expect(server.connections()).toBe(connections);
    await connection.close();
  });
});

describe('an answer', () => {
  test('has status, headers, and duration', async () => {
    await using server = await startRawServer();
    const clock = createFakeClock('2026-03-01T12:00:00.000Z');
    const connection = openConnection(server.url, { clock, connectTimeoutMs: 5000 });
    server.answer((socket, request) => {
      void clock.advance(250).then(() => http(410, 'gone', { 'X-Twice': 'one\r\nx-twice: two' })(socket, request));
    });
    const answer = await ask(connection);
    expect(answer).toMatchObject({ kind: 'answer', status: 410, body: 'gone', roundTripMs: 250 });
    if (answer.kind !== 'answer') return;
    expect(answer.arrivedAt.toISOString()).toBe('2026-03-01T12:00:00.250Z');
    expect(answer.header('x-twice')).toBe('one');
    expect(answer.header('x-never')).toBeNull();
    expect(clock.sleepers()).toBe(0);
    await connection.close();
  });

  test.each([
    { long: 'just as long as allowed', more: 0, kind: 'answer' },
    { long: 'one byte longer', more: 1, kind: 'failure' },
  ])('$long is of kind $kind', async ({ more, kind }) => {
    await using server = await startRawServer();
    server.answer(http(200, 'x'.repeat(longestBodyBytes + more)));
    const connection = openConnection(server.url, { clock: systemClock, connectTimeoutMs: 5000 });
    expect((await ask(connection)).kind).toBe(kind);
    await connection.close();
  });
});

describe('a deadline', () => {
  const unending: RawAnswer = bytes('HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nhalf', 'nothing');

  test.each<{ what: string; answer: RawAnswer | null; message: RegExp }>([
    { what: 'silence', answer: null, message: /did not answer within 10 s/ },
    { what: 'a body that does not end', answer: unending, message: /did not finish within 10 s/ },
  ])('ends $what; the connection is not used again', async ({ answer, message }) => {
    await using server = await startRawServer();
    const clock = createFakeClock();
    const asked = { time: 0 };
    const counting = {
      ...clock,
      now: () => {
        asked.time += 1;
        return clock.now();
      },
    };
    const connection = openConnection(server.url, { clock: counting, connectTimeoutMs: 60_000 });
    const begin = Promise.withResolvers<void>();
    server.answer((socket, request) => void begin.promise.then(() => answer?.(socket, request)));
    let isOver = false;
    const asking = ask(connection).finally(() => {
      isOver = true;
    });
    await until(() => server.requests.length === 1);
    const before = asked.time;
    begin.resolve();
    if (answer !== null) await until(() => asked.time > before, { what: 'the headers to arrive, which are dated' });
    await clock.advance(9_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await asking).toMatchObject({ kind: 'failure', code: 'timeout', reason: expect.stringMatching(message) });
    await until(() => server.open() === 0, { what: 'the connection to be thrown away' });
    server.answer(http(200, 'good'));
    expect(await ask(connection)).toMatchObject({ body: 'good' });
    expect(server.connections()).toBe(2);
    await connection.close();
  });
});

describe('giving up', () => {
  test('during the exchange ends the wait at once and closes the connection', async () => {
    await using server = await startRawServer();
    const clock = createFakeClock();
    const connection = openConnection(server.url, { clock, connectTimeoutMs: 5000 });
    const stop = new AbortController();
    const asking = ask(connection, stop.signal);
    await until(() => server.requests.length === 1);
    stop.abort();
    expect(await asking).toMatchObject({ kind: 'failure', code: 'aborted' });
    expect(clock.sleepers()).toBe(0);
    await until(() => server.open() === 0);
    await connection.close();
  });

  test('before the connection came about leaves none behind', async () => {
    await using server = await startRawServer();
    const connection = openConnection(server.url, { clock: systemClock, connectTimeoutMs: 5000 });
    const stop = new AbortController();
    const asking = ask(connection, stop.signal);
    stop.abort();
    expect(await asking).toMatchObject({ kind: 'failure', code: 'aborted' });
    await until(() => server.open() === 0);
    expect(server.requests).toHaveLength(0);
    await connection.close();
  });

  test('a header that cannot be sent is a failure, not an exception', async () => {
    await using server = await startRawServer();
    const connection = openConnection(server.url, { clock: systemClock, connectTimeoutMs: 5000 });
    const answer = await connection.exchange({ path: '/', headers: { 'X-Bad': 'a\nb' }, deadlineMs: 5000 }, never);
    expect(answer).toMatchObject({ kind: 'failure', code: 'network-error' });
    await connection.close();
  });
});
