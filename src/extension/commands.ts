import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../log.ts';
import { disable } from '../service/disable.ts';
import { install } from '../service/install.ts';
import { faultsIn, readPackage } from '../service/package.ts';
import { Refusal } from '../service/refusals.ts';
import { doneSentences, uninstalledSentences } from '../service/sentences.ts';
import { serviceStatus } from '../service/status.ts';
import { uninstall } from '../service/uninstall.ts';
import type { FailureOf } from './enable.ts';
import {
  appliedSequence,
  type Given,
  givenIn,
  type Handler,
  handlerVersion,
  orderOf,
  packageIn,
  readConfiguration,
  startOrder,
} from './handler.ts';
import { forgetRemoval, markRemoved } from './removal-marker.ts';
import { unlessImpossible, writeStatus } from './status-file.ts';
import { forgetUpdate, markUpdated, type Owner, updatedTo } from './update-marker.ts';

/** What a command did, for its output: some sentences. */
type Sentences = string;

/**
 * Checks whether the package is whole and can run on this machine, and changes nothing: `enable` installs, since it has the settings.
 * After an update the version runs already.
 * @throws Refusal where it cannot be installed here.
 */
export async function installHandler(handler: Handler): Promise<Sentences> {
  const { machine, folder } = handler;
  const { places } = machine.system;
  if (updatedTo(places, machine.clock.now()) === handlerVersion(handler)) {
    return 'The update has installed this version already.';
  }
  const brought = readPackage(packageIn(folder));
  const isPlaced = existsSync(join(places.versions, brought.version));
  const need = { platform: brought.platform, bytes: isPlaced ? 0 : brought.bytes, starts: true };
  const { unfitFor } = await machine.system.conditions();
  const refusal = unfitFor(need);
  if (refusal !== null) throw refusal;
  const [fault] = faultsIn(brought.from, brought);
  if (fault !== undefined) {
    throw new Refusal('missing', `The package in ${brought.from} is damaged: ${fault}. Deploy the extension again.`);
  }
  return `Version ${brought.version} can be installed on this machine; enable installs it.`;
}

/** Stops the service until it is enabled again. Needs no settings: during an update the old handler does not have the new ones. */
export async function disableHandler({ machine }: Handler): Promise<Sentences> {
  const { installed } = await serviceStatus(machine);
  if (!installed) return 'The service is not installed, so there is nothing to disable.';
  await disable(machine);
  return 'The service is stopped, and does not start at boot. No events are observed until it is enabled again.';
}

/**
 * Brings the service to the version of another handler, with the settings of that one, and hands it over: all of an update that can
 * fail is done here, where the old handler still exists. On failure the version before runs again, and the status file has the reason.
 * @throws Refusal where the update failed.
 */
export async function updateHandler(handler: Handler, failureOf: FailureOf): Promise<Sentences> {
  const { machine } = handler;
  const { clock, system } = machine;
  const { places } = system;
  forgetUpdate(places);
  const target = targetOf(handler);
  if (!existsSync(packageIn(target.folder))) {
    markUpdated(places, target, clock.now());
    return `The handler of version ${target.version} installs itself.`;
  }
  const began = clock.now();
  let given: Given | null = null;
  try {
    given = await givenIn(target.folder, handler);
    forgetRemoval(target.folder);
    const configuration = await readConfiguration(given, { ...handler, folder: target.folder });
    const done = await install(machine, orderOf(target.folder, configuration));
    markUpdated(places, target, clock.now());
    return doneSentences(done, machine.system).join(' ');
  } catch (error) {
    await runAgain(handler);
    if (given !== null) {
      // Without it the guest agent reports the settings as being applied.
      const failed = { status: 'error', ...failureOf(error), substatuses: [] } as const;
      const { environment, number } = given;
      const about = { operation: 'Update', now: clock.now(), began } as const;
      unlessImpossible(handler.log, () => writeStatus(environment.statusFolder, number, failed, about));
    }
    throw error;
  }
}

// assumption: windows-extension-environment
/**
 * The handler that the service is to belong to. In a downgrade the guest agent runs the `update` of the newer handler, and VERSION
 * names the older one, whose folder is there already.
 */
function targetOf(handler: Handler): Owner {
  const { folder, env } = handler;
  const own = handlerVersion(handler);
  const version = env.VERSION || own;
  const name = basename(folder);
  if (version === own || !name.endsWith(own)) return { version, folder };
  return { version, folder: join(dirname(folder), `${name.slice(0, -own.length)}${version}`) };
}

/** `disable` has stopped the version before. */
async function runAgain({ machine, log }: Handler): Promise<void> {
  try {
    const { installed } = await serviceStatus(machine);
    if (!installed) return;
    const done = await install(machine, startOrder);
    log.write(doneSentences(done, machine.system).join(' '));
  } catch (error) {
    log.write(`The version before was not started again: ${messageOf(error)}`);
  }
}

/**
 * Removes the service with its state and configuration: who removes an extension expects it gone. The service sends what is pending
 * before it stops. After an update the service belongs to another handler, and everything is kept. Needs no settings.
 */
export async function uninstallHandler(handler: Handler): Promise<Sentences> {
  const { machine } = handler;
  const { clock, system } = machine;
  const { places } = system;
  const owner = updatedTo(places, clock.now());
  markRemoved(handler.folder);
  // The registry of Windows keeps it when the folder of the handler is removed, and the next installation has to begin as the first.
  await appliedSequence(handler).forget();
  if (owner !== null && owner !== handlerVersion(handler)) {
    return `Everything is kept: the service belongs to version ${owner} of the extension.`;
  }
  forgetUpdate(places);
  const gone = await uninstall(machine, { keepState: false, keepConfiguration: false });
  return uninstalledSentences(gone, system, clock.now()).join(' ');
}
