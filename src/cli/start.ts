import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { openLog } from '../process/open-log.ts';
import { setProcessWide, UnusableSetting } from '../process/process-wide.ts';
import { describeProblems } from '../service/configure.ts';
import type { CommandContext } from './command-context.ts';
import { Failure } from './exit-codes.ts';

/**
 * The first steps of every command that works with a configuration and the metadata service: read it, refuse an invalid one,
 * set what is process-wide, open the log and say there what of that was odd.
 */
export async function start(
  options: { readonly config?: string | undefined },
  { env }: CommandContext,
): Promise<{ readonly config: Config; readonly log: Log }> {
  const loaded = loadConfig({ file: options.config, env });
  if (!loaded.config) throw new Failure('configuration', describeProblems(loaded.problems));
  const { config, sourceOf } = loaded;
  // The metadata service is reached by HTTP, and senders open the TLS connections.
  const warnings = applySettings(config, env, sourceOf, 'this VM', false);
  const log = await openLog(config.log.level);
  for (const warning of warnings) log.warn({ part: 'configuration' }, warning);
  return { config, log };
}

/** @throws Failure if a setting is unusable. */
export function applySettings(...settings: Parameters<typeof setProcessWide>): string[] {
  try {
    return setProcessWide(...settings);
  } catch (error) {
    if (error instanceof UnusableSetting) throw new Failure('configuration', error.message);
    throw error;
  }
}
