import { runBridge } from '../../../src/bridge.ts';
import { systemClock } from '../../../src/clock.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { openLog } from '../../../src/process/open-log.ts';
import { dispenseWithOptimizer, setProcessWide } from '../../../src/process/process-wide.ts';
import { inThisProcess } from '../../../src/sender/senders.ts';

/** The bridge without sender processes: what it costs that an error in a library ends only the process of its sink. */
async function run(): Promise<void> {
  const { config } = loadConfig({ file: process.argv.at(-1), env: process.env });
  if (!config) throw new Error('the configuration is wrong');
  dispenseWithOptimizer();
  setProcessWide(config);
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  const log = await openLog(config.log.level);
  await runBridge({ config, clock: systemClock, log, stop: stop.signal, openSenders: inThisProcess });
  process.exit(0);
}

void run();
