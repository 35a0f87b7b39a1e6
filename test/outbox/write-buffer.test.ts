import { expect, test } from 'vitest';
import { observerRow, WriteBuffer } from '../../src/outbox/write-buffer.ts';

test('a thousand rows are held for a disk that takes none, and of more the oldest are dropped, but never the observer', () => {
  const buffer = new WriteBuffer(['hub']);
  const nothing = (): void => {};
  buffer.writeLater(observerRow, nothing);
  for (let n = 1; n <= 1_200; n += 1) buffer.writeLater(`answer ${n}`, nothing);
  const held = [...buffer.rows.keys()];
  expect(held).toHaveLength(1_000);
  expect(held[0]).toBe(observerRow);
  expect(held.at(1)).toBe('answer 202');
  expect(held.at(-1)).toBe('answer 1200');
});
