import { writeFileSync } from 'node:fs';
import { version } from '../process/version.ts';
import { parentPort, senderVerb } from './channel.ts';
import { otherVersion } from './gone.ts';
import type { SenderRole } from './protocol.ts';

/** Whether this process was started by a bridge to send for it. For people there is no such command. */
export const isSender = ([, , verb]: readonly string[]): boolean => verb === senderVerb && process.connected;

/**
 * Sends until the bridge that started it closes the channel or ends.
 * @returns why it refuses to send; null when it has ended as it should.
 */
export async function runSender([, , , role, bridgeVersion = '']: readonly string[]): Promise<string | null> {
  const port = parentPort();
  if (port === null) return null;
  // Its file was overwritten while that bridge runs: the two might not understand each other.
  if (bridgeVersion !== version) return otherVersion(version, bridgeVersion);
  beFirstToGo();
  const [{ serveSender }, { setProcessWide }] = await Promise.all([
    import('./serve.ts'),
    import('../process/process-wide.ts'),
  ]);
  await new Promise<void>((resolve) => {
    process.once('disconnect', resolve);
    serveSender(role as SenderRole, port, setProcessWide);
  });
  return null;
}

/** Where memory is short the kernel ends this process before the one that polls. Raising one's own score takes no privilege. */
function beFirstToGo(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '500');
  } catch {
    // Another platform, or a sandbox without it.
  }
}
