import { expect, test } from 'vitest';
import { type Attempt, type Consequence, settle } from '../../src/relay/settle.ts';
import type { Delivery } from '../../src/sinks/sink.ts';

const one: Attempt = { records: 1, canShorten: true, refusedBefore: false, isHopeless: false };
const why = { code: 'http-400', reason: 'the row does not fit the table' };
const delivered: Delivery = { kind: 'delivered' };
const poison: Delivery = { kind: 'rejected', cause: 'poison', ...why };
const tooLarge: Delivery = { kind: 'rejected', cause: 'too-large', ...why };
const transient: Delivery = { kind: 'retry', cause: 'transient', ...why };
const throttled: Delivery = { kind: 'retry', cause: 'throttled', ...why, retryAfterMs: 5_000 };
const configuration: Delivery = { kind: 'retry', cause: 'configuration', ...why };

const cases: readonly { name: string; attempt?: Partial<Attempt>; delivery: Delivery; means: Consequence }[] = [
  { name: 'what arrived is done', delivery: delivered, means: { kind: 'delivered' } },
  {
    name: 'what arrived at last is done',
    attempt: { refusedBefore: true },
    delivery: delivered,
    means: { kind: 'delivered' },
  },
  {
    name: 'a fault that passes loses nothing',
    delivery: transient,
    means: { kind: 'kept', cause: 'transient', ...why },
  },
  {
    name: 'throttling loses nothing and says how long',
    delivery: throttled,
    means: { kind: 'kept', cause: 'throttled', ...why, retryAfterMs: 5_000 },
  },
  {
    name: 'a wrong role loses nothing',
    delivery: configuration,
    means: { kind: 'kept', cause: 'configuration', ...why },
  },
  { name: 'a batch with a bad record is halved', attempt: { records: 2 }, delivery: poison, means: { kind: 'halved' } },
  {
    name: 'a batch that is too large is halved',
    attempt: { records: 1_000 },
    delivery: tooLarge,
    means: { kind: 'halved' },
  },
  { name: 'one record that is too large is shortened', delivery: tooLarge, means: { kind: 'shortened' } },
  {
    name: 'one record that is too large and cannot be shortened is only suspected: a proxy may refuse every size',
    attempt: { canShorten: false },
    delivery: tooLarge,
    means: { kind: 'suspected', ...why },
  },
  {
    name: 'one record that is too large, cannot be shortened and was refused before is put aside',
    attempt: { canShorten: false, refusedBefore: true },
    delivery: tooLarge,
    means: { kind: 'dead', ...why },
  },
  {
    name: 'one record refused for the first time is only suspected',
    delivery: poison,
    means: { kind: 'suspected', ...why },
  },
  {
    name: 'one record refused again, after another got through, is put aside',
    attempt: { refusedBefore: true },
    delivery: poison,
    means: { kind: 'dead', ...why },
  },
];

test.each(cases)('$name', ({ attempt, delivery, means }) => {
  expect(settle({ ...one, ...attempt }, delivery)).toEqual(means);
});
