/** The first heartbeat comes within this time after the bridge is ready, evenly spread. */
export const firstWithinMs = 60_000;

/**
 * When the heartbeats come, in milliseconds after the bridge was ready, without end: the first within a minute, the second at
 * any moment of one whole period after it, and from then on one every period. So a fleet that was started at once is spread over
 * the whole hour, and still no two of one VM are more than a period apart: silence is noticed by that.
 * `random` gives [0, 1).
 */
export function* timetable(everyMs: number, random: () => number): Generator<number, never> {
  let at = random() * firstWithinMs;
  yield at;
  for (at += random() * everyMs; ; at += everyMs) yield at;
}
