import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Why a machine in namespaces of its own, on an overlay of its own, cannot be had here; empty where it can. A container may not have them. */
export function whyNoNamespaces(namespaces: readonly string[]): string {
  if (process.getuid?.() !== 0) return 'only root can start a machine';
  const folder = mkdtempSync(join(tmpdir(), 'machine-'));
  try {
    const [lower, upper, work, disk] = ['lower', 'upper', 'work', 'disk'].map((name) => join(folder, name));
    for (const made of [lower, upper, work, disk]) mkdirSync(String(made));
    const line = `mount -t proc proc /proc && mount -t overlay overlay -o volatile,lowerdir=${lower},upperdir=${upper},workdir=${work} ${disk}`;
    const { status, stderr } = spawnSync('unshare', [...namespaces, 'sh', '-c', line], { encoding: 'utf8' });
    return status === 0 ? '' : `there are no namespaces, or no overlay in ${tmpdir()}: ${stderr.trim()}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The reason as a part of the name of a test. */
export const because = (reason: string): string => (reason === '' ? '' : ` (skipped: ${reason})`);
