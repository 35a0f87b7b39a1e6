import { describe, expect, test } from 'vitest';
import { createNotifier } from '../../src/relay/notifier.ts';
import { createFakeClock, settled } from '../support/fake-clock.ts';

function waiter(promise: Promise<void>): { done: boolean } {
  const state = { done: false };
  void promise.then(() => {
    state.done = true;
  });
  return state;
}

describe('a wait for pending records', () => {
  test('ends with a notification, for all waiting', async () => {
    const notifier = createNotifier(createFakeClock());
    const waiters = [waiter(notifier.wait(1_000)), waiter(notifier.wait(Number.POSITIVE_INFINITY))];
    await settled();
    expect(waiters.map(({ done }) => done)).toEqual([false, false]);
    notifier.notify();
    await settled();
    expect(waiters.map(({ done }) => done)).toEqual([true, true]);
  });

  test('does not start after an earlier notification, and one counts once', async () => {
    const notifier = createNotifier(createFakeClock());
    notifier.notify();
    notifier.notify();
    await notifier.wait(Number.POSITIVE_INFINITY);
    const second = waiter(notifier.wait(Number.POSITIVE_INFINITY));
    await settled();
    expect(second.done).toBe(false);
  });

  test('ends at its time-out, and otherwise leaves no timer behind', async () => {
    const clock = createFakeClock();
    const notifier = createNotifier(clock);
    const first = waiter(notifier.wait(1_000));
    await clock.advance(999);
    expect(first.done).toBe(false);
    await clock.advance(1);
    expect(first.done).toBe(true);
    void notifier.wait(60_000);
    notifier.notify();
    await settled();
    expect(clock.sleepers()).toBe(0);
  });

  test('of no time ends at once', async () => {
    const none = waiter(createNotifier(createFakeClock()).wait(0));
    await settled();
    expect(none.done).toBe(true);
  });

  test('ends with an abort, before and during the wait', async () => {
    const notifier = createNotifier(createFakeClock());
    const stop = new AbortController();
    const waiting = waiter(notifier.wait(Number.POSITIVE_INFINITY, stop.signal));
    stop.abort();
    await settled();
    expect(waiting.done).toBe(true);
    await notifier.wait(Number.POSITIVE_INFINITY, stop.signal);
  });
});
