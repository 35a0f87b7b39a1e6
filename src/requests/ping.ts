import type { Clock } from '../clock.ts';
import type { RuntimeStats } from '../health/runtime-stats.ts';
import type { Reach } from '../service/machine.ts';

/**
 * The verb of the request with which the installer checks the running service. The answer goes through the outbox, which proves that it is
 * writable. The value stays: services of earlier versions know no other.
 */
export const pingRequest = 'greet';

/** While the metadata service is updated nothing listens there for about 70 s. */
const updateMs = 90_000;

/** Codes that mean that no connection was established; slow, invalid or missing answers are not among them. */
const noConnection: readonly string[] = ['connection-refused', 'no-route', 'connect-timeout', 'unreachable'];

/** Answers the installer, in the service. */
export const createPing =
  ({ counts }: Pick<RuntimeStats, 'counts'>, clock: Clock) =>
  (): { readonly ok: true; readonly message: string; readonly reach: Reach } => ({
    ok: true,
    message: 'The service is running.',
    reach: reachOf(counts(), clock.monotonicMs()),
  });

function reachOf({ failing, lastDocument }: ReturnType<RuntimeStats['counts']>, nowMs: number): Reach {
  if (failing === null) return { kind: lastDocument === null ? 'waiting' : 'connected' };
  const isShort = lastDocument !== null && nowMs - lastDocument.monotonicMs <= updateMs;
  if (isShort || !noConnection.includes(failing.code)) return { kind: 'connected' };
  return { kind: 'no-connection', reason: failing.reason };
}

/** The answer of a service of any version. */
export function reachIn(answer: unknown): Reach {
  const { reach } = (answer ?? {}) as { readonly reach?: Partial<Record<'kind' | 'reason', unknown>> };
  const { kind, reason } = reach ?? {};
  if (kind === 'no-connection') return { kind, reason: String(reason) };
  return { kind: kind === 'connected' || kind === 'waiting' ? kind : 'unreported' };
}
