import { readFileSync } from 'node:fs';
import { runBridge } from '../../bridge.ts';
import type { CommandContext } from '../../cli/command-context.ts';
import { systemClock } from '../../clock.ts';
import { readConfig } from '../../config/read-config.ts';
import type { Config } from '../../config.ts';
import { openLog } from '../../process/open-log.ts';
import { setProcessWide } from '../../process/process-wide.ts';
import { inThisProcess } from '../../sender/senders.ts';

/** Between the starts of two bridges, so that starting one does not delay the polls of all others. */
const startIntervalMs = 15;

/** Runs the bridges of many VMs in this process. `file`: a list of their configurations. */
export async function runPart(file: string, { env, stop }: Pick<CommandContext, 'env' | 'stop'>): Promise<void> {
  const configs = (JSON.parse(readFileSync(file, 'utf8')) as unknown[]).map((value) => checked(value, file));
  const [first] = configs;
  if (!first) return;
  // Tokens come from the endpoint of the first: one process has one token host.
  setProcessWide(first, env);
  const log = await openLog('warn');
  const running: Promise<void>[] = [];
  for (const config of configs) {
    running.push(
      runBridge({
        config,
        clock: systemClock,
        log: log.child({ stateDirectory: config.stateDirectory }),
        stop,
        openSenders: inThisProcess,
      }),
    );
    await systemClock.sleep(startIntervalMs, stop);
  }
  await Promise.all(running);
}

function checked(value: unknown, source: string): Config {
  const documents = [{ value, source, keepsSecrets: true }];
  const { config, problems } = readConfig({ documents, env: {}, defaultStateDirectory: '' });
  if (!config) throw new Error(problems.join(' '));
  return config;
}
