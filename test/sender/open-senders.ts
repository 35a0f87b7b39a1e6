import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import { systemClock } from '../../src/clock.ts';
import { readConfig } from '../../src/config/read-config.ts';
import type { Config } from '../../src/config.ts';
import { silentLog } from '../../src/log.ts';
import { version } from '../../src/process/version.ts';
import { inProcesses, type Senders } from '../../src/sender/senders.ts';
import { configurationFor } from '../support/bridge-process.ts';
import { mainFile } from '../support/program.ts';

/** A line of the log, and what it is about. */
export interface Said {
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** Senders in processes of the program, pointed at the simulator, and what they log. */
export async function openTestSenders(
  azure: AzureSimulator,
  {
    startDue = () => false,
    more = {},
  }: { readonly startDue?: () => boolean; readonly more?: Record<string, unknown> } = {},
): Promise<Senders & { readonly config: Config; readonly said: readonly Said[] }> {
  const documents = [
    { value: configurationFor(azure, 'web_0', '/nowhere', more), source: 'the test', keepsSecrets: true },
  ];
  const { config, problems } = readConfig({ documents, env: {}, defaultStateDirectory: '' });
  if (!config) throw new Error(problems.join(' '));
  const said: Said[] = [];
  const log = {
    ...silentLog,
    warn: (fields: object, message: string) => void said.push({ fields: { ...fields }, message }),
  };
  const open = inProcesses(mainFile, version);
  return { ...(await open({ config, clock: systemClock, log, near: () => false, startDue })), config, said };
}
