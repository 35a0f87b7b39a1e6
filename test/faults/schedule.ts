/** What a quick run of a test takes on two idle processors: `processors` is how many of them are busy with it on average. */
export interface Load {
  readonly seconds: number;
  readonly processors: number;
}

interface Loaded {
  readonly load: Load;
}

const busy = (running: readonly Loaded[]): number => running.reduce((sum, { load }) => sum + load.processors, 0);

/**
 * Which of the tests begins now, beside those that run: the longest one for which enough of the processors are free; null if none. Most tests
 * mostly wait, so several share a processor. One test always runs, whatever it takes.
 */
export function nextToStart<T extends Loaded>(
  waiting: readonly T[],
  running: readonly Loaded[],
  processors: number,
): T | null {
  // Sums of tenths are not exact.
  const fits = ({ load }: T): boolean => busy(running) + load.processors <= processors + 1e-9;
  const [longest = null] = waiting
    .filter((one) => running.length === 0 || fits(one))
    .toSorted((a, b) => b.load.seconds - a.load.seconds);
  return longest;
}

/** How long a run takes by the loads of its tests. */
export function estimatedSeconds(tests: readonly Loaded[], processors: number): number {
  const waiting = [...tests];
  let running: { readonly load: Load; readonly endsAt: number }[] = [];
  let now = 0;
  for (;;) {
    for (let next = nextToStart(waiting, running, processors); next; ) {
      waiting.splice(waiting.indexOf(next), 1);
      running.push({ load: next.load, endsAt: now + next.load.seconds });
      next = nextToStart(waiting, running, processors);
    }
    if (running.length === 0) return now;
    now = Math.min(...running.map(({ endsAt }) => endsAt));
    running = running.filter(({ endsAt }) => endsAt > now);
  }
}
