import { notProven, ok, problem, warning } from '../../check/finding.ts';
import { formatDuration } from '../../clock.ts';
import type { OperatingSystem } from '../../operating-system.ts';
import type { CheckContext } from './context.ts';
import type { Finding } from './finding.ts';

/** Beyond this, times in records are visibly wrong. */
const noticeableSeconds = 2;
/** Beyond this, Azure refuses tokens. https://learn.microsoft.com/entra/identity-platform/access-tokens#validate-tokens */
const refusedSeconds = 300;

export async function checkClock(context: CheckContext): Promise<readonly Finding[]> {
  const seen = await context.document();
  return [clockFinding(seen.kind === 'unavailable' ? null : seen.clockOffsetSeconds, context.system)];
}

/** @param offset Azure's clock minus ours, in seconds; null when no answer had a date. */
export function clockFinding(offset: number | null, { setClock }: Pick<OperatingSystem, 'setClock'>): Finding {
  const what = 'clock.offset';
  if (offset === null) return notProven(what, 'The response of the metadata service had no date.');
  const seconds = Math.abs(offset);
  const off = `The clock of this VM is ${formatDuration(seconds)} ${offset > 0 ? 'behind' : 'ahead of'} that of Azure`;
  if (seconds <= noticeableSeconds) return ok(what, "The VM clock is within 2 s of Azure's.");
  if (seconds <= refusedSeconds) {
    return warning(what, `${off}: times in records are wrong by that much.`, setClock);
  }
  return problem(what, `${off}: tokens and certificates seem expired or not yet valid, and are refused.`, setClock);
}
