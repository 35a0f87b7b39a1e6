import type { Clock } from '../clock.ts';
import type { RuntimeStats } from '../health/runtime-stats.ts';
import type { Reach } from '../service/machine.ts';

/** What the installer asks the service that runs; the answer goes through the outbox, so that it proves that one can be written. */
export const pingRequest = 'greet';

/** While the metadata service is updated nothing listens there for about 70 s. */
const updateMs = 90_000;

/** A connection did not come about at all. What a slow, bad or missing answer is called is not here. */
const noConnection: readonly string[] = ['connection-refused', 'no-route', 'connect-timeout', 'unreachable'];

/** Answers the installer, in the service. */
export const createPing =
  ({ counts }: Pick<RuntimeStats, 'counts'>, clock: Clock) =>
  (): { readonly ok: true; readonly message: string; readonly reach: Reach } => ({
    ok: true,
    message: 'I am here.',
    reach: reachOf(counts(), clock.monotonicMs()),
  });

function reachOf({ failing, lastDocument }: ReturnType<RuntimeStats['counts']>, nowMs: number): Reach {
  if (failing === null) return { kind: lastDocument === null ? 'waiting' : 'connected' };
  const isShort = lastDocument !== null && nowMs - lastDocument.monotonicMs <= updateMs;
  if (isShort || !noConnection.includes(failing.code)) return { kind: 'connected' };
  return { kind: 'no-connection', reason: failing.reason };
}

/** What a service of whatever version answered. */
export function reachIn(answer: unknown): Reach {
  const { reach } = (answer ?? {}) as { readonly reach?: Partial<Record<'kind' | 'reason', unknown>> };
  const { kind, reason } = reach ?? {};
  if (kind === 'no-connection') return { kind, reason: String(reason) };
  return { kind: kind === 'connected' || kind === 'waiting' ? kind : 'untold' };
}
