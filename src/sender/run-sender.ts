import { writeFileSync } from 'node:fs';
import { version } from '../process/version.ts';
import { parentPort, senderVerb } from './channel.ts';
import { otherVersion } from './gone.ts';
import { type SenderRole, tokensRole } from './protocol.ts';

/** Whether a bridge started this process to send for it. No command for operators. */
export const isSender = ([, , verb]: readonly string[]): boolean => verb === senderVerb && process.connected;

/**
 * Sends until the bridge that started it closes the channel or ends.
 * @returns why it refuses to send; null after a normal end.
 */
export async function runSender([, , , role, bridgeVersion = '']: readonly string[]): Promise<string | null> {
  const port = parentPort();
  if (port === null) return null;
  // The file was replaced while that bridge runs: the two versions may be incompatible.
  if (bridgeVersion !== version) return otherVersion(version, bridgeVersion);
  preferForOomKill();
  const [{ serveSender }, { setProcessWide }] = await Promise.all([
    import('./serve.ts'),
    import('../process/process-wide.ts'),
  ]);
  await new Promise<void>((resolve) => {
    process.once('disconnect', resolve);
    // Tokens come from the metadata service, by HTTP.
    serveSender(role as SenderRole, port, (config) =>
      setProcessWide(config, process.env, undefined, undefined, role !== tokensRole),
    );
  });
  return null;
}

/** Where memory is short the kernel ends this process before the one that polls. Raising one's own score takes no privilege. */
function preferForOomKill(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '500');
  } catch {
    // Another platform, or a sandbox without it.
  }
}
