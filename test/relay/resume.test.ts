import { expect, onTestFinished, test } from 'vitest';
import { settled } from '../support/fake-clock.ts';
import { openRig, type Rig, seconds } from './rig.ts';
import { delivered } from './scripted-sink.ts';

const minute = 60_000;
const isToken = (code: string): boolean => code.startsWith('token-');

/** A sink that is left alone for fifteen minutes, for what the token endpoint asked for. */
async function pausedFor(code: string): Promise<Rig> {
  const rig = openRig();
  onTestFinished(() => rig.close());
  rig.sink.does(() => ({ kind: 'retry', cause: 'throttled', code, reason: 'later', retryAfterMs: 60 * minute }));
  rig.append('a', 'b');
  void rig.relay.run(rig.stop.signal);
  await settled();
  await rig.clock.advance(minute);
  expect(seconds(rig)).toEqual([0]);
  rig.sink.does(() => delivered);
  return rig;
}

test('a sink that failed for lack of a token is asked at once when there is one again, and gets its whole backlog', async () => {
  const rig = await pausedFor('token-throttled');
  rig.relay.resume(isToken);
  await settled();
  await rig.clock.advance(1000);
  expect(seconds(rig)[1]).toBe(60);
  expect(rig.counters()).toMatchObject({ pending: 0, delivered: 2 });
});

test('a sink that failed for something else is left alone all the same when tokens come again', async () => {
  const rig = await pausedFor('http-429');
  rig.relay.resume(isToken);
  await settled();
  await rig.clock.advance(minute);
  expect(seconds(rig)).toEqual([0]);
});

test('a sink that is well is not disturbed when tokens come again', async () => {
  const rig = openRig();
  onTestFinished(() => rig.close());
  void rig.relay.run(rig.stop.signal);
  rig.relay.resume(isToken);
  await settled();
  expect(rig.relay.health()).toMatchObject({ state: 'idle', step: 0 });
});
