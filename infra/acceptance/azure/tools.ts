import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { PlatformName } from '../../package/platforms.ts';
import type { StepContext } from '../step.ts';

/** What these steps use of the machine on which they run, beside the Azure CLI. */
export interface AzureTools {
  /** Rejects when the signal is aborted. */
  sleep(seconds: number, signal: AbortSignal): Promise<void>;
  /** Builds packages into a folder; resolves with what the build printed. */
  buildPackages(folder: string, platforms: readonly PlatformName[], signal: AbortSignal): Promise<string>;
}

/** Root of the repository. */
export const root = join(import.meta.dirname, '../../..');

export const toolsHere: AzureTools = {
  sleep: (seconds, signal) => setTimeout(seconds * 1000, undefined, { signal }),
  buildPackages: (folder, platforms, signal) =>
    new Promise((resolve, reject) => {
      const args = [join(root, 'infra/package/main.ts'), '--platform', platforms.join(','), '--out', folder];
      const child = spawn(process.execPath, args, { cwd: root, signal, stdio: ['ignore', 'pipe', 'pipe'] });
      let printed = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          printed += text;
        });
      }
      child.on('error', reject);
      child.on('close', (code) => {
        if (code === 0) resolve(printed);
        else reject(new Error(`The packages could not be built: ${printed.trim().split('\n').at(-1)}`));
      });
    }),
};

interface Patience {
  /** Completes "waiting for …". */
  readonly what: string;
  readonly everySeconds: number;
  readonly limitMinutes: number;
}

/**
 * Repeats an attempt until it does not fail, or fails otherwise than expected. Azure needs up to 30 minutes until a new role assignment is
 * known everywhere (https://learn.microsoft.com/azure/role-based-access-control/troubleshooting#symptom---role-assignment-changes-are-not-being-detected).
 */
export async function retry<T>(
  { say, signal }: Pick<StepContext, 'say' | 'signal'>,
  { sleep }: Pick<AzureTools, 'sleep'>,
  { what, everySeconds, limitMinutes }: Patience,
  attempt: () => Promise<T>,
  isExpected: (error: unknown) => boolean,
): Promise<T> {
  const attempts = Math.max(1, Math.ceil((limitMinutes * 60) / everySeconds));
  for (let number = 1; ; number += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || !isExpected(error) || number > attempts) throw error;
      if (number === 1) say(`waiting for ${what}, up to ${limitMinutes} minutes`);
    }
    await sleep(everySeconds, signal);
  }
}
