import { setTimeout as sleep } from 'node:timers/promises';
import type { StepContext } from '../step.ts';

/** Between two attempts: in Azure every attempt is a request that takes seconds. */
const everyMs = { azure: 20_000, simulator: 250 } as const;

/**
 * Repeats an attempt until it returns something other than null. Rejects at the end of the time, with the last error of the attempts if there
 * was one.
 *
 * @param what ends the sentence "… did not happen within … minutes"
 * @param minutes in Azure; at another pace at most its own
 */
export async function waitFor<T>(
  { signal, target }: Pick<StepContext, 'signal' | 'target'>,
  { what, minutes }: { readonly what: string; readonly minutes: number },
  attempt: () => Promise<T | null>,
): Promise<T> {
  const limit = Math.min(minutes, target.pace.mostMinutes);
  const deadline = performance.now() + limit * 60_000;
  for (;;) {
    let failure: unknown = null;
    try {
      const found = await attempt();
      if (found !== null) return found;
    } catch (error) {
      failure = error;
    }
    signal.throwIfAborted();
    if (performance.now() > deadline) {
      const because = failure instanceof Error ? `: ${failure.message}` : '';
      throw new Error(`${what} did not happen within ${limit} minutes${because}`, { cause: failure });
    }
    await sleep(everyMs[target.pace.like], undefined, { signal });
  }
}
