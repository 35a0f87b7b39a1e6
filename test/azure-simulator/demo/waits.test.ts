import { expect, test } from 'vitest';
import { createWaits } from '../../../src/azure-simulator/demo/perform.ts';
import { Failure } from '../../../src/cli/exit-codes.ts';

const never = new AbortController().signal;
const neverResolves = async (promise: Promise<void>): Promise<string> =>
  Promise.race([promise.then(() => 'resolved'), new Promise<string>((resolve) => setImmediate(resolve, 'waits'))]);

test('a need that is not met in time ends the show with a sentence', async () => {
  const waits = createWaits(never, 1);
  const waiting = waits.need('a sign', () => false);
  await expect(waits.over()).rejects.toThrow('The demo waited 0.001 s for a sign, which did not happen.');
  expect(await neverResolves(waiting)).toBe('waits');
});

test('a wait ends as soon as its condition holds', async () => {
  const waits = createWaits(never, 20_000);
  let polls = 0;
  await waits.need('the third poll', () => ++polls >= 3);
  expect(await waits.until(() => true)).toBe(true);
  expect([polls, waits.signal.aborted]).toEqual([3, false]);
});

test('until resolves with false after its time without ending the show', async () => {
  const waits = createWaits(never, 1);
  expect(await waits.until(() => false)).toBe(false);
  expect(waits.signal.aborted).toBe(false);
});

test('no pause resolves after the show has ended', async () => {
  const waits = createWaits(never, 20_000);
  const pausing = waits.pause(60_000);
  waits.end();
  await waits.over();
  expect(await neverResolves(pausing)).toBe('waits');
});

test('a show that is stopped with a failure rejects with it', async () => {
  const stop = new AbortController();
  const waits = createWaits(stop.signal, 20_000);
  const over = waits.over();
  stop.abort(new Failure('unexpected', 'the bridge ended'));
  await expect(over).rejects.toThrow('the bridge ended');
  await expect(waits.over()).rejects.toThrow(Failure);
});
