import { expect, test } from 'vitest';
import { createWaits } from '../../../src/azure-simulator/demo/waits.ts';
import { Failure } from '../../../src/cli/exit-codes.ts';

const never = new AbortController().signal;
const neverResolves = async (promise: Promise<void>): Promise<string> =>
  Promise.race([promise.then(() => 'resolved'), new Promise<string>((resolve) => setImmediate(resolve, 'waits'))]);

test('what is waited for in vain ends the show with a sentence', async () => {
  const waits = createWaits(never, 1);
  const waiting = waits.until('a sign', () => false);
  await expect(waits.over()).rejects.toThrow('The demo waited in vain for a sign.');
  expect(await neverResolves(waiting)).toBe('waits');
});

test('what comes is waited for no longer', async () => {
  const waits = createWaits(never);
  let looks = 0;
  await waits.until('the third look', () => ++looks >= 3);
  expect(await waits.patiently(() => true)).toBe(true);
  expect([looks, waits.signal.aborted]).toEqual([3, false]);
});

test('patience comes to an end without ending the show', async () => {
  const waits = createWaits(never, 1);
  expect(await waits.patiently(() => false)).toBe(false);
  expect(waits.signal.aborted).toBe(false);
});

test('when the show is over nobody goes on', async () => {
  const waits = createWaits(never);
  const pausing = waits.pause(60_000);
  waits.end();
  await waits.over();
  expect(await neverResolves(pausing)).toBe('waits');
});

test('a show that is stopped with a failure is over with it', async () => {
  const stop = new AbortController();
  const waits = createWaits(stop.signal);
  const over = waits.over();
  stop.abort(new Failure('unexpected', 'the bridge ended'));
  await expect(over).rejects.toThrow('the bridge ended');
  await expect(waits.over()).rejects.toThrow(Failure);
});
