import { notProven, ok, problem, warning } from '../../check/finding.ts';
import { formatDuration } from '../../clock.ts';
import type { CheckContext } from './context.ts';
import type { Finding } from './finding.ts';

/** Beyond this, times in records are visibly wrong. */
const noticeableSeconds = 2;
/** Beyond this, Azure refuses tokens. https://learn.microsoft.com/entra/identity-platform/access-tokens#validate-tokens */
const refusedSeconds = 300;

export async function checkClock(context: CheckContext): Promise<readonly Finding[]> {
  const seen = await context.document();
  return [clockFinding(seen.kind === 'unavailable' ? null : seen.clockOffsetSeconds, context.platform)];
}

/** @param offset Azure's clock minus ours, in seconds; null when no answer had a date. */
export function clockFinding(offset: number | null, platform: NodeJS.Platform): Finding {
  const what = 'clock.offset';
  if (offset === null) return notProven(what, 'The response of the metadata service had no date.');
  const seconds = Math.abs(offset);
  const off = `The clock of this VM is ${formatDuration(seconds)} ${offset > 0 ? 'behind' : 'ahead of'} that of Azure`;
  if (seconds <= noticeableSeconds) return ok(what, "The VM clock is within 2 s of Azure's.");
  if (seconds <= refusedSeconds) {
    return warning(what, `${off}: times in records are wrong by that much.`, setClock(platform));
  }
  return problem(
    what,
    `${off}: tokens and certificates seem expired or not yet valid, and are refused.`,
    setClock(platform),
  );
}

/** Sets the clock by what the hypervisor or the time service says. */
export const setClock = (platform: NodeJS.Platform): string =>
  platform === 'win32' ? 'w32tm /resync /force' : 'sudo chronyc makestep || sudo systemctl restart systemd-timesyncd';
