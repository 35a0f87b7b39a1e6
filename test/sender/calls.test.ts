import { expect, test } from 'vitest';
import { createCalls } from '../../src/sender/calls.ts';
import type { Port } from '../../src/sender/channel.ts';

type Doubling = { double(value: number): number };

/** Two ends of a channel in this process; `posted`: how many messages each end posted. */
function openChannel() {
  const listeners: ((message: unknown) => void)[] = [];
  const posted = [0, 0];
  const portOf = (here: 0 | 1): Port => ({
    post(message) {
      posted[here] = (posted[here] ?? 0) + 1;
      setImmediate(() => listeners[1 - here]?.(structuredClone(message)));
    },
    onMessage(listener) {
      listeners[here] = listener;
    },
  });
  return { ours: portOf(0), theirs: portOf(1), posted };
}

test('calls of one turn are one message, and so are their answers', async () => {
  const { ours, theirs, posted } = openChannel();
  const calls = createCalls<Doubling, Record<never, never>>(ours, {});
  createCalls<Record<never, never>, Doubling>(theirs, { double: async (value) => 2 * value });
  const answers = [1, 2, 3].map((value) => calls.call('double', value));
  expect(await Promise.all(answers)).toEqual([2, 4, 6]);
  expect(posted).toEqual([1, 1]);
  expect(await calls.call('double', 4)).toBe(8);
  expect(posted).toEqual([2, 2]);
});
