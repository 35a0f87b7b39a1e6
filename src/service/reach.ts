import type { Machine } from './machine.ts';

/** A network that is not up yet, a metadata service that is just updated: neither is a firewall. */
const patienceMs = 45_000;
/** A connection that does not come about has been given up by then; whoever still waits waits for an answer. */
const firstLookMs = 15_000;
const askAgainMs = 3_000;

/**
 * Why the service that runs gets no connection to the metadata service, one sentence; null where it has one, whatever comes over
 * it: a slow or bad answer is no matter of the machine. Not a reason to go back: it goes on asking, and another version would not
 * get through either.
 */
export async function whyUnreached(
  { clock, greet }: Pick<Machine, 'clock' | 'greet'>,
  stateDirectory: string,
): Promise<string | null> {
  const began = clock.monotonicMs();
  for (;;) {
    const greeting = await greet(stateDirectory);
    const reach = greeting.ok ? greeting.reach : ({ kind: 'waiting' } as const);
    if (reach.kind === 'connected' || reach.kind === 'untold') return null;
    const askedMs = clock.monotonicMs() - began;
    if (reach.kind === 'waiting' && askedMs >= firstLookMs) return null;
    if (reach.kind === 'no-connection' && askedMs >= patienceMs) return reach.reason;
    await clock.sleep(askAgainMs);
  }
}
