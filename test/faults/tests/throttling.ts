import type { FaultTest } from '../fault-test.ts';
import { playStorms, type Storm } from '../virtual/storm.ts';

const quarterHour = 15 * 60;
/** The longest pause of our own, and a poll. */
const ownPause = 5 * 60 + 6;

/** How a table says for how long it wants to be left alone; with what our own pause is the longest that may follow. */
const ways: readonly (readonly [name: string, header: (now: Date) => string | null, mostPause: number])[] = [
  ['no Retry-After', () => null, ownPause],
  ['Retry-After: 1', () => '1', ownPause],
  ['Retry-After: 3600', () => '3600', quarterHour + 6],
  ['a date in an hour', (now) => new Date(now.getTime() + 3_600_000).toUTCString(), quarterHour + 6],
  ['a date last year', () => 'Wed, 01 Jan 2025 00:00:00 GMT', ownPause],
  ['nonsense', () => 'soon, or -1; 1e9', ownPause],
];

const stormOf = ([name, header, mostHealSeconds]: (typeof ways)[number], minutes: number): Storm => ({
  name,
  sinks: ['log-analytics'],
  code: /^http-429$/,
  minutes,
  mostHealSeconds,
  begin({ logAnalytics }, now) {
    const value = header(now);
    logAnalytics.fault({ status: 429, ...(value !== null && { headers: { 'retry-after': value } }) });
  },
  end: ({ logAnalytics }) => logAnalytics.fault(null),
  refusals: ({ logAnalytics }) => logAnalytics.requests.filter(({ status }) => status === 429).length,
  // With a mean pause of two and a half minutes, the shorter ones at the beginning, attempts out of turn, and one after a date has passed.
  mostRefusals: mostHealSeconds > ownPause ? 4 + Math.ceil(minutes / 15) : 12 + Math.ceil(minutes / 1.5),
});

/** A table that throttles for an hour, with every kind of Retry-After. */
export const throttling: FaultTest = {
  id: 'throttling',
  title: 'storms of 429 with missing, short, long, dated and malformed Retry-After',
  kind: 'one process',
  // Minutes of each storm.
  cases: { quick: 10, full: 60 },
  load: { seconds: 25, processors: 0.4 },
  run: (context) =>
    playStorms(
      ways.map((way) => stormOf(way, context.cases)),
      context,
    ),
};
