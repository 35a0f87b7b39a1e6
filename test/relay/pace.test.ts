import { describe, expect, test } from 'vitest';
import { afterFailure, afterSuccess, isNewFailure, type Pace, startingPace } from '../../src/relay/pace.ts';

const full = 100;
const sentAt = (pace: Pace, outOfTurn = false) => ({
  generation: pace.generation,
  concurrencyLimit: outOfTurn ? 1 : pace.concurrencyLimit,
  outOfTurn,
});

describe('the pace of a sink', () => {
  test('a healthy sink has no pause', () => {
    expect(startingPace(0, 0)).toMatchObject({ step: 0, concurrencyLimit: Number.POSITIVE_INFINITY });
  });

  test('a sink that was failing when the process ended starts half-open', () => {
    expect(startingPace(4, 5_000)).toMatchObject({ step: 4, concurrencyLimit: 1, pausedUntil: 5_000 });
  });

  test('after a failure a sink gets 1, then 2, 4, 8 … records, then all', () => {
    let pace = afterFailure(startingPace(0, 0), 1_000);
    const ramps = [pace.concurrencyLimit];
    for (let success = 0; success < 8; success += 1) {
      pace = afterSuccess(pace, sentAt(pace), full);
      ramps.push(pace.concurrencyLimit);
    }
    expect(ramps).toEqual([1, 2, 4, 8, 16, 32, 64, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
    expect(pace).toMatchObject({ step: 0, pausedUntil: Number.NEGATIVE_INFINITY });
  });

  test('batches that were sent together double the concurrencyLimit once', () => {
    const pace = { ...startingPace(0, 0), concurrencyLimit: 4 };
    const after = [1, 2, 3, 4].reduce((now) => afterSuccess(now, sentAt(pace), full), pace);
    expect(after.concurrencyLimit).toBe(8);
  });

  test('of simultaneous failures only the first counts', () => {
    const healthy = startingPace(0, 0);
    const sent = sentAt(healthy);
    expect(isNewFailure(healthy, sent)).toBe(true);
    expect(isNewFailure(afterFailure(healthy, 1_000), sent)).toBe(false);
  });

  test('a record sent before the failure and accepted after it does not end the pause', () => {
    const healthy = startingPace(0, 0);
    const failed = afterFailure(healthy, 1_000);
    expect(afterSuccess(failed, sentAt(healthy), full)).toEqual(failed);
  });

  test('an attempt out of turn counts when it succeeds, not when it fails', () => {
    const failed = afterFailure(startingPace(7, 0), 300_000);
    expect(isNewFailure(failed, sentAt(failed, true))).toBe(false);
    expect(afterSuccess(failed, sentAt(failed, true), full)).toMatchObject({ step: 0, concurrencyLimit: 2 });
  });

  test('a Retry-After of a failure that does not count prolongs the pause and never shortens it', () => {
    const failed = afterFailure(startingPace(0, 0), 10_000);
    expect(afterFailure(failed, 60_000, false)).toEqual({ ...failed, pausedUntil: 60_000 });
    expect(afterFailure(failed, 5_000, false)).toEqual(failed);
  });
});
