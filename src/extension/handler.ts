import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { ServiceAnswer } from '../health/status-client.ts';
import { version } from '../process/version.ts';
import type { CheckedContent } from '../service/configure.ts';
import type { Order } from '../service/install.ts';
import type { Machine } from '../service/machine.ts';
import { Refusal } from '../service/refusals.ts';
import { configurationIn } from './configuration.ts';
import { decrypt } from './decrypt.ts';
import { type HandlerEnvironment, readHandlerEnvironment } from './handler-environment.ts';
import type { HandlerLog } from './handler-log.ts';
import { isRemoved } from './removal-marker.ts';
import { type AppliedSequence, inFile, inRegistry, sequenceNumber } from './sequence-number.ts';
import { readSettings } from './settings.ts';

/** One command of the guest agent, with what it works on. */
export interface Handler {
  readonly machine: Machine;
  /** The folder of the extension: it holds the manifest, `bin` and `package`. */
  readonly folder: string;
  /** As the guest agent sets it. Its PATH leads to the programs of the system. */
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** Of the limits of the guest agent, which are in real time; pauses of the work take the machine's. */
  readonly clock: Clock;
  readonly log: HandlerLog;
  /** Asks the running service for its status. */
  readonly askService: () => Promise<ServiceAnswer>;
}

/** The version of the extension: as the guest agent says it, else as its folder is named. Two may have the same program. */
export const handlerVersion = ({ env, folder }: Pick<Handler, 'env' | 'folder'>): string =>
  env.AZURE_GUEST_AGENT_EXTENSION_VERSION || (/\d+(\.\d+){1,3}$/.exec(folder)?.[0] ?? version);

/** Where the zip of the handler has the package that it installs. */
export const packageIn = (folder: string): string => join(folder, 'package');

export const appliedSequence = ({
  platform,
  folder,
  env,
}: Pick<Handler, 'platform' | 'folder' | 'env'>): AppliedSequence =>
  platform === 'win32' ? inRegistry(folder, env) : inFile(folder);

/** The settings that a command is about. */
export interface Given {
  readonly environment: HandlerEnvironment;
  readonly number: number;
}

/** @throws Refusal where the guest agent's environment cannot be read. */
export async function givenIn(folder: string, { env, machine }: Pick<Handler, 'env' | 'machine'>): Promise<Given> {
  const environment = await readHandlerEnvironment(folder, machine.clock);
  return { environment, number: sequenceNumber(env, environment.configFolder) ?? 0 };
}

/** `absent`: there is no such file. `empty`: there are no settings. */
export type GivenConfiguration =
  | { readonly kind: 'absent' | 'empty' }
  | { readonly kind: 'given'; readonly configuration: CheckedContent };

/** Reads, decrypts, merges and checks settings. @throws Refusal with everything that is wrong with them. */
export async function readConfiguration(
  { environment, number }: Given,
  { folder, platform, machine, env }: Pick<Handler, 'folder' | 'platform' | 'machine' | 'env'>,
): Promise<GivenConfiguration> {
  const settings = await readSettings(environment.configFolder, number, machine.clock);
  if (settings === null) return { kind: 'absent' };
  const { publicSettings, protectedSettings: encrypted } = settings;
  const protectedSettings = encrypted === null ? null : await decrypt(encrypted, { folder, platform, env });
  const configuration = configurationIn({ publicSettings, protectedSettings }, { platform, env });
  return configuration === null ? { kind: 'empty' } : { kind: 'given', configuration };
}

/** What to have the installer do: the package of the handler in this folder with this configuration, started now and at every boot. */
export const orderOf = (folder: string, given: GivenConfiguration): Order => ({
  ...startOrder,
  from: packageIn(folder),
  configuration: given.kind === 'given' ? given.configuration : null,
  withdrawn: () => (isRemoved(folder) ? removed : null),
});

/** What to have it do with what is installed. */
export const startOrder: Order = { from: null, key: null, configuration: null, enable: 'always', start: true };

const removed = new Refusal(
  'notDone',
  'The extension was removed while this command waited for another one, so nothing is installed.',
);
