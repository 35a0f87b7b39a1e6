import { describe, expect, test } from 'vitest';
import {
  afterRefusal,
  afterRetry,
  isHopeless,
  isIsolated,
  released,
  wasRefused,
} from '../../src/relay/event-backoff.ts';

const random = (): number => 1;

describe('the failures of an event', () => {
  test('in an outage no event is at fault: failures count only when another record was accepted in between', () => {
    let backoff = afterRetry(undefined, { at: 0, delivered: 5, random });
    for (const at of [10, 20, 30]) backoff = afterRetry(backoff, { at, delivered: 5, random });
    expect(backoff).toMatchObject({ failures: 1, heldUntil: 30 });
    expect(isIsolated(backoff)).toBe(false);
  });

  test('an event that fails again while others are accepted is isolated and paused longer each time', () => {
    const waits: number[] = [];
    let backoff = afterRetry(undefined, { at: 0, delivered: 0, random });
    for (const delivered of [1, 2, 3, 4]) {
      waits.push(backoff.heldUntil);
      backoff = afterRetry(backoff, { at: 0, delivered, random });
      expect(isIsolated(backoff)).toBe(true);
    }
    expect(waits).toEqual([0, 4_000, 8_000, 16_000]);
  });

  test('a record refused alone is retried slowly, until another one was accepted', () => {
    const first = afterRefusal(undefined, 7, { at: 1_000, delivered: 3, random });
    expect(first).toMatchObject({ suspect: 7, heldUntil: 61_000 });
    expect(isIsolated(first)).toBe(true);
    expect(released(first).heldUntil).toBe(Number.NEGATIVE_INFINITY);
  });

  test('a success of others does not shorten the pause after a transient failure', () => {
    const backoff = afterRetry(undefined, { at: 0, delivered: 0, random });
    expect(released(backoff)).toEqual(backoff);
  });

  test.each([
    { name: 'no other record was accepted since', position: 7, delivered: 3, refused: false },
    { name: 'another one has got through since', position: 7, delivered: 4, refused: true },
    { name: 'another record was refused', position: 8, delivered: 4, refused: false },
  ])('proof of a refusal: $name', ({ position, delivered, refused }) => {
    const backoff = afterRefusal(undefined, 7, { at: 0, delivered: 3, random });
    expect(wasRefused(backoff, position, delivered)).toBe(refused);
    expect(wasRefused(undefined, position, delivered)).toBe(false);
  });

  test('a suspicion lasts through a transient failure', () => {
    const suspected = afterRefusal(undefined, 7, { at: 0, delivered: 3, random });
    expect(afterRetry(suspected, { at: 0, delivered: 4, random }).suspect).toBe(7);
  });

  const day = 24 * 3_600_000;
  test.each([
    { name: 'after a day and ten refusals', refusals: 10, ageMs: day, suspects: 1, hopeless: true },
    { name: 'not after nine', refusals: 9, ageMs: day, suspects: 1, hopeless: false },
    { name: 'not before a day has passed', refusals: 100, ageMs: day - 1, suspects: 1, hopeless: false },
    { name: 'not while another event is refused too', refusals: 100, ageMs: 7 * day, suspects: 2, hopeless: false },
  ])('a record without proof of its refusal becomes a dead letter $name', ({ refusals, hopeless, ...given }) => {
    let backoff = afterRefusal(undefined, 7, { at: 0, delivered: 0, random });
    for (let n = 1; n < refusals; n += 1) backoff = afterRefusal(backoff, 7, { at: 0, delivered: 0, random });
    expect(isHopeless(backoff, { position: 7, ...given })).toBe(hopeless);
    expect(isHopeless(backoff, { position: 8, ...given })).toBe(false);
  });
});
