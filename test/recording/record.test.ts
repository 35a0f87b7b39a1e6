import { expect, test } from 'vitest';
import { readRecording } from '../../src/azure-simulator/recording/read-recording.ts';
import type { Endpoint } from '../../src/recording/endpoint.ts';
import { isSame, type RecordedAnswer } from '../../src/recording/format.ts';
import { record } from '../../src/recording/record.ts';

const document = (incarnation: number): RecordedAnswer => ({
  document: { DocumentIncarnation: incarnation, Events: [] },
});
const answer = (status: number, body = ''): RecordedAnswer => ({ answer: { status, headers: {}, body } });
const failure = (kind: 'no-answer' | 'broken', reason = ''): RecordedAnswer => ({ failure: { kind, reason } });

/** Records these poll results, one after the other. */
async function recorded(...polls: readonly RecordedAnswer[]) {
  const over = new AbortController();
  const left = [...polls];
  const deadlines: number[] = [];
  const endpoint: Endpoint = {
    async poll(deadlineMs) {
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
    intervalMs: 1,
    write(line) {
      content += line;
    },
  });
  const read = readRecording('r.jsonl', content);
  expect(read.header.vm).toEqual({ name: 'web_0' });
  expect(changes).toBe(read.changes.length);
  return { seen: read.changes.map(({ seen }) => seen), deadlines };
}

test('only changes are written down', async () => {
  const polls = [document(1), document(1), answer(503, 'at noon'), answer(503, 'later'), document(1), document(2)];
  expect((await recorded(...polls)).seen).toEqual([document(1), answer(503, 'at noon'), document(1), document(2)]);
});

test('the first answer may take two minutes, and a failure is no answer', async () => {
  const { deadlines } = await recorded(failure('broken'), failure('no-answer'), answer(503), document(1));
  expect(deadlines).toEqual([130_000, 130_000, 130_000, 10_000, 10_000]);
});

const pairs: readonly { one: RecordedAnswer; other: RecordedAnswer; same: boolean }[] = [
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
