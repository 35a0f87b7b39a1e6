import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../src/log.ts';
import { createControlQueue, type Handlers } from '../../../src/outbox/control/queue.ts';
import type { FiledRequest } from '../../../src/outbox/outbox.ts';
import { createFakeClock, settled } from '../../support/fake-clock.ts';

/** A queue over requests that a test files, with what it answered. */
function openQueue(handlers: Handlers) {
  const clock = createFakeClock();
  const filed: FiledRequest[] = [];
  const answers = new Map<number, unknown>();
  const outbox = {
    requests: () => filed.filter(({ number }) => !answers.has(number)),
    answer: (number: number, answer: unknown) => void answers.set(number, answer),
  };
  const stop = new AbortController();
  let ended = false;
  const running = createControlQueue({ outbox, handlers, clock, log: silentLog })
    .run(stop.signal)
    .then(() => {
      ended = true;
    });
  return {
    clock,
    answers,
    file: (verb: string, argument: unknown = null, requestedAt = clock.now().toISOString()) =>
      void filed.push({ number: filed.length + 1, verb, argument, requestedAt }),
    isEnded: () => ended,
    running,
    stop: () => stop.abort(),
  };
}

describe('the control queue', () => {
  test('reads requests once a second and answers with the result of the handler', async () => {
    const queue = openQueue({ double: (argument) => ({ ok: true, message: `${Number(argument) * 2}` }) });
    queue.file('double', 21);
    await queue.clock.advance(5_000);
    // With `says`, which a command of 0.1.0 reads.
    expect([...queue.answers]).toEqual([[1, { ok: true, message: '42', says: '42' }]]);
    queue.file('double', 1);
    expect(queue.answers.size).toBe(1);
    await queue.clock.advance(5_000);
    expect(queue.answers.get(2)).toMatchObject({ ok: true, message: '2' });
  });

  test.each([-6 * 60_000, 6 * 60_000])('does not execute a request whose time is %i ms off', async (ms) => {
    const queue = openQueue({ wish: () => ({ ok: true, message: 'done' }) });
    queue.file('wish', null, new Date(queue.clock.now().getTime() + ms).toISOString());
    await queue.clock.advance(5_000);
    expect(queue.answers.get(1)).toMatchObject({ ok: false, message: expect.stringContaining('send it again') });
  });

  const refusals = [
    { what: 'a verb that it does not know', verb: 'dance', message: /does not know "dance".*another version/ },
    { what: 'the name of something every object has', verb: 'toString', message: /does not know "toString"/ },
    {
      what: 'a verb whose handler throws',
      verb: 'fail',
      message: /failed: the hub is gone\. See its log/,
    },
    { what: 'a verb whose handler rejects', verb: 'reject', message: /failed: too late/ },
  ];
  test.for(refusals)('refuses $what with a sentence, and continues', async ({ verb, message }) => {
    const queue = openQueue({
      fail() {
        throw new Error('the hub is gone');
      },
      reject: () => Promise.reject(new Error('too late')),
      fine: () => 'fine',
    });
    queue.file(verb);
    queue.file('fine');
    await queue.clock.advance(5_000);
    expect(queue.answers.get(1)).toMatchObject({ ok: false, message: expect.stringMatching(message) });
    expect(queue.answers.get(2)).toBe('fine');
  });

  test('executes a request once, however long it takes, and others at the same time', async () => {
    const asked: unknown[] = [];
    const slow = Promise.withResolvers<string>();
    const queue = openQueue({
      slow(argument) {
        asked.push(argument);
        return slow.promise;
      },
      fast: () => 'at once',
    });
    queue.file('slow', 'a');
    await queue.clock.advance(15_000);
    queue.file('fast');
    await queue.clock.advance(5_000);
    expect(queue.answers.get(2)).toBe('at once');
    slow.resolve('at last');
    await queue.clock.advance(5_000);
    expect(queue.answers.get(1)).toBe('at last');
    expect(asked).toEqual(['a']);
  });

  test('does not execute a request made before the service was down', async () => {
    const asked: unknown[] = [];
    const queue = openQueue({ purge: (argument) => asked.push(argument) });
    queue.file('purge', 'all', '2025-12-31T23:54:59.000Z');
    await queue.clock.advance(5_000);
    expect(queue.answers.get(1)).toMatchObject({ ok: false, message: expect.stringContaining('was not executed') });
    expect(asked).toEqual([]);
  });

  test('ends when it is stopped, after what is under way, and waits two seconds at most for that', async () => {
    const slow = Promise.withResolvers<string>();
    const queue = openQueue({ slow: () => slow.promise });
    queue.file('slow');
    await queue.clock.advance(5_000);
    queue.stop();
    await settled();
    expect(queue.isEnded()).toBe(false);
    slow.resolve('done');
    await queue.running;
    expect(queue.answers.get(1)).toBe('done');

    const stuck = openQueue({ never: () => new Promise(() => {}) });
    stuck.file('never');
    await stuck.clock.advance(5_000);
    stuck.stop();
    await stuck.clock.advance(2_000);
    expect(stuck.isEnded()).toBe(true);
  });
});
