import { expect, test } from 'vitest';
import { formatQuery, parseQuery, windowOf } from '../../src/fleet-page/query.ts';
import { clockOf, countdownOf, durationOf, momentOf } from '../../src/fleet-page/time.ts';

const parse = (search: string) => parseQuery(new URLSearchParams(search));

test.for([
  '',
  '?type=Reboot',
  '?set=shop-web%2Fweb&tag=owner%3Aweb-team&vm=web_1&window=24h',
  '?event=602d9444-d2cd-49c7-8624-8643e7171297&window=14d&until=2026-11-20T04%3A02%3A00.000Z',
])('the link %s leads to what was seen', (link) => {
  const query = parse(link);
  expect(parse(formatQuery(query))).toEqual(query);
  expect([...new URLSearchParams(formatQuery(query))].sort()).toEqual([...new URLSearchParams(link)].sort());
});

test('a link that cannot be read shows the defaults', () => {
  expect(parse('?window=__proto__&until=soon')).toEqual(parse(''));
  expect(parse(`?vm=${'x'.repeat(5000)}`).vm).toHaveLength(200);
});

test('a window that follows the present has a sixth of it in the future', () => {
  const now = Date.UTC(2026, 10, 20, 12);
  expect(windowOf(parse(''), now)).toEqual({ from: Date.UTC(2026, 10, 20, 7), to: Date.UTC(2026, 10, 20, 13) });
  expect(windowOf(parse('?until=2026-11-19T00:00:00Z&window=24h'), now)).toEqual({
    from: Date.UTC(2026, 10, 18),
    to: Date.UTC(2026, 10, 19),
  });
});

test('times are UTC, with the day where it is another one', () => {
  const now = Date.UTC(2026, 10, 20, 12, 3, 4);
  expect(clockOf(now)).toBe('12:03:04');
  expect(momentOf(Date.UTC(2026, 10, 20, 1), now)).toBe('01:00:00');
  expect(momentOf(Date.UTC(2026, 10, 21, 1), now)).toBe('11-21 01:00:00');
});

test.for([
  [0.44, '0.4 s'],
  [42.9, '42 s'],
  [725, '12 min 05 s'],
  [11_400, '3 h 10 min'],
  [187_200, '2 d 04 h'],
] as const)('%d seconds are written as %s', ([seconds, text]) => {
  expect(durationOf(seconds)).toBe(text);
});

test.for([
  [725, 'in 12:05'],
  [0, 'in 00:00'],
  [-65, '01:05 ago'],
  [11_400, 'in 3 h 10 min'],
] as const)('%d seconds from now are counted as %s', ([seconds, text]) => {
  expect(countdownOf(1000 * seconds, 0)).toBe(text);
});
