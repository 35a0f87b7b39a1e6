import { expect, test } from 'vitest';
import { type Attempt, type BatchDecision, settle } from '../../src/relay/settle.ts';
import type { SendResult } from '../../src/sinks/sink.ts';

const one: Attempt = { records: 1, canShorten: true, refusedBefore: false, isHopeless: false };
const why = { code: 'http-400', reason: 'the row does not fit the table' };
const delivered: SendResult = { kind: 'delivered' };
const poison: SendResult = { kind: 'rejected', cause: 'poison', ...why };
const tooLarge: SendResult = { kind: 'rejected', cause: 'too-large', ...why };
const transient: SendResult = { kind: 'retry', cause: 'transient', ...why };
const throttled: SendResult = { kind: 'retry', cause: 'throttled', ...why, retryAfterMs: 5_000 };
const configuration: SendResult = { kind: 'retry', cause: 'configuration', ...why };

const cases: readonly { name: string; attempt?: Partial<Attempt>; result: SendResult; means: BatchDecision }[] = [
  { name: 'an accepted record is delivered', result: delivered, means: { kind: 'delivered' } },
  {
    name: 'a record accepted after failures is delivered',
    attempt: { refusedBefore: true },
    result: delivered,
    means: { kind: 'delivered' },
  },
  {
    name: 'a fault that passes loses nothing',
    result: transient,
    means: { kind: 'retry', cause: 'transient', ...why },
  },
  {
    name: 'throttling loses nothing and keeps its Retry-After',
    result: throttled,
    means: { kind: 'retry', cause: 'throttled', ...why, retryAfterMs: 5_000 },
  },
  {
    name: 'a wrong role loses nothing',
    result: configuration,
    means: { kind: 'retry', cause: 'configuration', ...why },
  },
  { name: 'a batch with a bad record is halved', attempt: { records: 2 }, result: poison, means: { kind: 'halved' } },
  {
    name: 'a batch that is too large is halved',
    attempt: { records: 1_000 },
    result: tooLarge,
    means: { kind: 'halved' },
  },
  { name: 'one record that is too large is shortened', result: tooLarge, means: { kind: 'shortened' } },
  {
    name: 'one record that is too large and cannot be shortened is only suspected: a proxy may refuse every size',
    attempt: { canShorten: false },
    result: tooLarge,
    means: { kind: 'suspected', ...why },
  },
  {
    name: 'one record that is too large, cannot be shortened and was refused before becomes a dead letter',
    attempt: { canShorten: false, refusedBefore: true },
    result: tooLarge,
    means: { kind: 'dead', ...why },
  },
  {
    name: 'one record refused for the first time is only suspected',
    result: poison,
    means: { kind: 'suspected', ...why },
  },
  {
    name: 'one record refused again, after another got through, becomes a dead letter',
    attempt: { refusedBefore: true },
    result: poison,
    means: { kind: 'dead', ...why },
  },
];

test.each(cases)('$name', ({ attempt, result, means }) => {
  expect(settle({ ...one, ...attempt }, result)).toEqual(means);
});
