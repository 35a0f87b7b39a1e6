import type { Machine } from './machine.ts';

/** A metadata service that is just updated may be unreachable for 70 s, without any firewall. */
const timeoutMs = 75_000;
/** An attempt to connect ends after 10 s; a longer wait is for an answer. */
const firstProbeMs = 15_000;
const askAgainMs = 5_000;

/**
 * Why the service that runs gets no connection to the metadata service, one sentence; null when it has one, whatever the answer on
 * it: a slow or bad answer is not a problem of the machine. No reason for a rollback: it keeps polling, and another version would not
 * get through either.
 */
export async function whyUnreached(
  { clock, ping }: Pick<Machine, 'clock' | 'ping'>,
  stateDirectory: string,
): Promise<string | null> {
  const began = clock.monotonicMs();
  for (;;) {
    const answer = await ping(stateDirectory);
    const reach = answer.ok ? answer.reach : ({ kind: 'waiting' } as const);
    if (reach.kind === 'connected' || reach.kind === 'unreported') return null;
    const askedMs = clock.monotonicMs() - began;
    if (reach.kind === 'waiting' && askedMs >= firstProbeMs) return null;
    if (reach.kind === 'no-connection' && askedMs >= timeoutMs) return reach.reason;
    await clock.sleep(askAgainMs);
  }
}
