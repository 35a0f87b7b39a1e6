import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { askService } from '../../../src/outbox/control/client.ts';
import { isServiceRunning } from '../../../src/outbox/store/lock.ts';
import { until } from '../../support/until.ts';
import { keepFileBusy } from '../busy-file.ts';
import { appendRecords, createHarness } from '../harness.ts';

const never = new AbortController().signal;
const patient = { timeoutMs: 10_000, signal: never, clock: systemClock };

describe('a request of a command to the service', () => {
  test('is answered no-outbox without an outbox, and creates nothing', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'ask-'));
    expect(await askService(directory, 'retry', {}, patient)).toEqual({ answered: false, why: 'no-outbox' });
    expect(readdirSync(directory)).toEqual([]);
    rmSync(directory, { recursive: true });
  });

  test('is answered no-service when none runs, and files nothing', async () => {
    using harness = createHarness();
    harness.open().close();
    expect(await askService(harness.directory, 'retry', {}, patient)).toEqual({ answered: false, why: 'no-service' });
    expect(harness.open().requests()).toEqual([]);
  });

  test('gets the answer of the service, which then has no open request', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    const asking = askService(harness.directory, 'retry', { sink: 'hub' }, patient);
    const [request] = await until(() => (outbox.requests().length > 0 ? outbox.requests() : null));
    expect(request).toMatchObject({ number: 1, verb: 'retry', argument: { sink: 'hub' } });
    outbox.answer(1, { ok: true, message: 'done' });
    expect(outbox.requests()).toEqual([]);
    expect(await asking).toEqual({ answered: true, answer: { ok: true, message: 'done' } });
  });

  test('reads the answer of a service of 0.1.0, which has its message in `says`', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    const asking = askService(harness.directory, 'retry', {}, patient);
    await until(() => outbox.requests().length > 0);
    outbox.answer(1, { ok: true, says: 'done' });
    expect(await asking).toMatchObject({ answered: true, answer: { ok: true, message: 'done' } });
  });

  test('withdraws the request without an answer in time or when it is aborted', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    const stop = new AbortController();
    const asking = askService(harness.directory, 'retry', {}, { ...patient, signal: stop.signal });
    await until(() => outbox.requests().length === 1);
    stop.abort();
    expect(await asking).toEqual({ answered: false, why: 'no-answer' });
    expect(await askService(harness.directory, 'retry', {}, { ...patient, timeoutMs: 1 })).toMatchObject({
      why: 'no-answer',
    });
    expect(outbox.requests()).toEqual([]);
  });

  test('is answered no-service when the service ends before it answers', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    const asking = askService(harness.directory, 'retry', {}, patient);
    await until(() => outbox.requests().length === 1);
    outbox.close();
    expect(await asking).toEqual({ answered: false, why: 'no-service' });
    expect(harness.open().requests()).toEqual([]);
  });

  test('files its request although other processes write to the outbox all the time', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    const script = `const { workerData } = require('node:worker_threads');
      const { DatabaseSync } = require('node:sqlite');
      const db = new DatabaseSync(workerData + '/outbox.sqlite', { timeout: 10000 });
      for (let n = 0; n < 50; n += 1) db.prepare(
        "INSERT INTO requests (verb, argument, requestedAt) VALUES ('retry', ?, '2026-01-01T00:00:00.000Z')").run(String(n));
      db.close();`;
    const workers = [1, 2, 3].map(() => new Worker(script, { eval: true, workerData: harness.directory }));
    const answered = new Set<number>();
    const ended = workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    const asking = askService(harness.directory, 'purge', { state: 'dead' }, patient);
    await until(() => {
      appendRecords(outbox);
      for (const { number } of outbox.requests()) {
        outbox.answer(number, number);
        answered.add(number);
      }
      return answered.size === 151 && outbox.requests().length === 0;
    });
    await Promise.all(ended);
    expect((await asking).answered).toBe(true);
  });

  test('waits while the file is busy, as during a large append', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    const script = `const { workerData, parentPort } = require('node:worker_threads');
      const { DatabaseSync } = require('node:sqlite');
      const db = new DatabaseSync(workerData + '/outbox.sqlite');
      db.exec('BEGIN IMMEDIATE');
      parentPort.postMessage('held');
      setTimeout(() => { db.exec('COMMIT'); db.close(); }, 800);`;
    const worker = new Worker(script, { eval: true, workerData: harness.directory });
    await new Promise((resolve) => worker.once('message', resolve));
    const asking = askService(harness.directory, 'retry', {}, patient);
    outbox.answer(1, 'done');
    expect(await asking).toEqual({ answered: true, answer: 'done' });
  });

  test('is refused an outbox of a newer major untouched', async () => {
    using harness = createHarness();
    harness.open();
    const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
    db.exec('PRAGMA user_version = 2000');
    db.close();
    await expect(askService(harness.directory, 'retry', {}, patient)).rejects.toThrow(/has format 2/);
  });
});

describe('requests', () => {
  test('that are not JSON are returned as undefined, and unknown columns of an answer are ignored', () => {
    using harness = createHarness();
    const outbox = harness.open();
    const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
    db.exec("INSERT INTO requests (verb, argument, requestedAt) VALUES ('retry', '{', '2026-01-01T00:00:00.000Z')");
    db.close();
    expect(outbox.requests()).toMatchObject([{ verb: 'retry', argument: undefined }]);
    outbox.answer(1, undefined);
    expect(outbox.requests()).toEqual([]);
  });

  test('are answered once although the disk takes no writes, and the answer is written later', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
    db.exec("INSERT INTO requests (verb, argument, requestedAt) VALUES ('retry', '{}', '2026-01-01T00:00:00.000Z')");
    const other = keepFileBusy(harness.directory);
    expect(outbox.requests()).toHaveLength(1);
    outbox.answer(1, { ok: true });
    expect(outbox.requests()).toEqual([]);
    expect(db.prepare('SELECT answer FROM requests').get()).toEqual({ answer: null });
    other.letGo();
    await harness.clock.advance(1_000);
    outbox.retry();
    expect(db.prepare('SELECT answer FROM requests').get()).toEqual({ answer: '{"ok":true}' });
    db.close();
  });

  test('keep one answer each until the disk accepts them', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
    const put = db.prepare(`INSERT INTO requests (verb, argument, requestedAt) VALUES ('retry', '{}', ?)`);
    for (const _request of [1, 2]) put.run('2026-01-01T00:00:00.000Z');
    const other = keepFileBusy(harness.directory);
    for (const { number } of outbox.requests()) outbox.answer(number, `answer ${number}`);
    other.letGo();
    await harness.clock.advance(1_000);
    outbox.retry();
    expect(db.prepare('SELECT answer FROM requests').all()).toEqual([
      { answer: '"answer 1"' },
      { answer: '"answer 2"' },
    ]);
    db.close();
  });

  test('with an answer are deleted after an hour, and all but the newest thousand at once', async () => {
    using harness = createHarness();
    const outbox = harness.open();
    const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
    const file = (count: number): void => {
      for (let n = 0; n < count; n += 1) {
        db.exec(
          "INSERT INTO requests (verb, argument, requestedAt) VALUES ('retry', '{}', '2026-01-01T00:00:00.000Z')",
        );
      }
    };
    const kept = () => db.prepare('SELECT count(*) AS n FROM requests').get()?.n;
    file(2);
    outbox.answer(1, {});
    await harness.clock.advance(3_599_000);
    outbox.maintain();
    expect(kept()).toBe(2);
    await harness.clock.advance(2_000);
    outbox.maintain();
    expect(kept()).toBe(1);
    file(1_200);
    outbox.maintain();
    expect(kept()).toBe(1_000);
    db.close();
  });
});

describe('whether a service runs', () => {
  test('is read from its lock, which is neither created nor taken', () => {
    using harness = createHarness();
    expect(isServiceRunning(harness.directory)).toBe(false);
    expect(existsSync(join(harness.directory, 'lock.sqlite'))).toBe(false);
    const outbox = harness.open();
    expect(isServiceRunning(harness.directory)).toBe(true);
    outbox.close();
    expect(isServiceRunning(harness.directory)).toBe(false);
    expect(isServiceRunning(join(harness.directory, 'nowhere'))).toBe(false);
  });
});
