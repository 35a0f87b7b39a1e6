import { expect, test } from 'vitest';
import { readTime } from '../../../src/cli/outbox/filter.ts';

const now = new Date('2026-03-14T12:00:00.000Z');

test.for([
  { text: '90m', moment: '2026-03-14T10:30:00.000Z' },
  { text: '12h', moment: '2026-03-14T00:00:00.000Z' },
  { text: '7d', moment: '2026-03-07T12:00:00.000Z' },
  { text: '2026-03-14', moment: '2026-03-14T00:00:00.000Z' },
  { text: '2026-03-14T09:26', moment: '2026-03-14T09:26:00.000Z' },
  { text: '2026-03-14T09:26:53.123Z', moment: '2026-03-14T09:26:53.123Z' },
  { text: '2026-03-14T09:26+01:00', moment: '2026-03-14T08:26:00.000Z' },
])('$text is $moment', ({ text, moment }) => {
  expect(readTime(text, now).toISOString()).toBe(moment);
});

test.for(['', '90', '2 h', '14.03.2026', '2026-13-01', '2026-03-14 09:26'])('"%s" is no time', (text) => {
  expect(() => readTime(text, now)).toThrow(/expected a time like/);
});
