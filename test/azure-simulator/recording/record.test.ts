import { expect, test } from 'vitest';
import type { Endpoint } from '../../../src/azure-simulator/recording/endpoint.ts';
import { readRecording, type Seen } from '../../../src/azure-simulator/recording/format.ts';
import { isSame, record } from '../../../src/azure-simulator/recording/record.ts';

const document = (incarnation: number): Seen => ({ document: { DocumentIncarnation: incarnation, Events: [] } });
const answer = (status: number, body = ''): Seen => ({ answer: { status, headers: {}, body } });
const failure = (kind: 'no-answer' | 'broken', reason = ''): Seen => ({ failure: { kind, reason } });

/** Records what such an endpoint shows, look by look, until nothing is left. */
async function recorded(...looks: readonly Seen[]) {
  const over = new AbortController();
  const left = [...looks];
  const deadlines: number[] = [];
  const endpoint: Endpoint = {
    async look(deadlineMs) {
      deadlines.push(deadlineMs);
      const seen = left.shift();
      if (seen) return seen;
      over.abort();
      return failure('broken', 'aborted');
    },
    vm: async () => ({ name: 'web_0' }),
    close: async () => {},
  };
  let content = '';
  const changes = await record({
    endpoint,
    url: 'http://169.254.169.254',
    signal: over.signal,
    everyMs: 1,
    write(line) {
      content += line;
    },
  });
  const read = readRecording('r.jsonl', content);
  expect(read.beginning.vm).toEqual({ name: 'web_0' });
  expect(changes).toBe(read.changes.length);
  return { seen: read.changes.map(({ seen }) => seen), deadlines };
}

test('only changes are written down', async () => {
  const looks = [document(1), document(1), answer(503, 'at noon'), answer(503, 'later'), document(1), document(2)];
  expect((await recorded(...looks)).seen).toEqual([document(1), answer(503, 'at noon'), document(1), document(2)]);
});

test('the first answer may take two minutes, and a failure is no answer', async () => {
  const { deadlines } = await recorded(failure('broken'), failure('no-answer'), answer(503), document(1));
  expect(deadlines).toEqual([130_000, 130_000, 130_000, 10_000, 10_000]);
});

const pairs: readonly { one: Seen; other: Seen; same: boolean }[] = [
  { one: document(1), other: document(1), same: true },
  { one: document(1), other: document(2), same: false },
  { one: document(1), other: answer(200), same: false },
  { one: answer(503, 'a'), other: answer(503, 'b'), same: true },
  { one: answer(503), other: answer(429), same: false },
  { one: failure('broken', 'a'), other: failure('broken', 'b'), same: true },
  { one: failure('broken'), other: failure('no-answer'), same: false },
  { one: failure('broken'), other: answer(503), same: false },
];

test.for(pairs)('$one after $other is nothing new: $same', ({ one, other, same }) => {
  expect(isSame(one, other)).toBe(same);
});
