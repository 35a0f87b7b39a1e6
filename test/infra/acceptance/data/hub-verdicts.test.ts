import { expect, test } from 'vitest';
import {
  verdictOnName,
  verdictOnReaders,
  verdictOnThrottling,
} from '../../../../infra/acceptance/data/hub-verdicts.ts';

const failure = (cause: string, code: string) => ({ cause, code });

test.for([
  { refusal: failure('configuration', 'not-found'), verdict: 'proven' },
  { refusal: failure('configuration', 'name-not-found'), verdict: 'refuted' },
  // Azure may look for the right before it looks for the hub.
  { refusal: failure('configuration', 'unauthorized'), verdict: null },
  { refusal: null, verdict: 'refuted' },
  // From a machine behind a firewall, for instance.
  { refusal: failure('transient', 'amqp-timeout'), verdict: null },
])('an unknown hub: $refusal.code', ({ refusal, verdict }) => {
  expect(verdictOnName(refusal)).toBe(verdict);
});

test.for([
  { refused: ['6 too-many-readers'], verdict: 'proven' },
  { refused: [], verdict: 'refuted' },
  { refused: ['1 too-many-readers'], verdict: 'refuted' },
  { refused: ['6 too-many-readers', '2 too-many-readers'], verdict: 'refuted' },
  { refused: ['3 amqp-timeout'], verdict: null },
  { refused: ['6 too-many-readers', '2 link-detached'], verdict: null },
])('six readers: $refused', ({ refused, verdict }) => {
  expect(verdictOnReaders(refused, 6)).toBe(verdict);
});

test.for([
  { refusal: failure('throttled', 'server-busy'), seconds: 4, verdict: 'proven' },
  { refusal: failure('throttled', 'server-busy'), seconds: 31, verdict: 'refuted' },
  { refusal: failure('poison', 'too-large'), seconds: 1, verdict: 'refuted' },
  // 1 MB in 20 s is more than a slow line takes.
  { refusal: failure('transient', 'amqp-timeout'), seconds: 1, verdict: null },
])('a namespace under load: $refusal.code after $seconds s', ({ refusal, seconds, verdict }) => {
  expect(verdictOnThrottling(refusal, seconds)).toBe(verdict);
});
