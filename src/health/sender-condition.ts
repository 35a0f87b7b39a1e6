import { type OperatingSystem, thisSystem } from '../operating-system.ts';
import type { SenderFacts } from '../sender/sender-process.ts';

/** The facts by which a sender process is judged. */
export type SenderFigures = Pick<SenderFacts, 'role' | 'recentDeaths' | 'lastDeath'>;

/** A single exit costs one attempt; three within ten minutes have a lasting cause. */
const tooManyDeaths = 3;

const keepsDying = ({ recentDeaths }: SenderFigures): boolean => recentDeaths >= tooManyDeaths;

/** For `status` and `check`: what is wrong with a sender process and what to do, also where its destination is up to date. */
export function senderProblem(sender: SenderFigures, system: OperatingSystem = thisSystem): string | null {
  if (!keepsDying(sender) || sender.lastDeath === null) return null;
  return `A sender process failed ${sender.recentDeaths} times in the last 10 min: ${sender.lastDeath.reason} Check the log of the service (${system.showServiceLog}) and the free memory of the VM.`;
}

/** The same for `/healthz` and `systemctl status`: one clause. */
export function senderClause(sender: SenderFigures): string | null {
  if (!keepsDying(sender)) return null;
  return `the sender process ${sender.role} failed ${sender.recentDeaths} times in the last 10 min (${sender.lastDeath?.code ?? 'unknown'})`;
}
