import { existsSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { messageOf } from '../../log.ts';
import { serviceName, staging } from '../names.ts';
import { manifestName } from '../package.ts';
import { Refusal } from '../refusals.ts';
import { isEmpty, removeEmpty } from '../remove-empty.ts';
import type { Kept } from '../system.ts';
import type { Uninstalled } from '../uninstall.ts';
import type { LinuxMachine } from './apply.ts';
import type { Facts } from './facts.ts';
import { inspect } from './inspect.ts';
import type { Places } from './places.ts';
import { removeFile, removeUnfinished } from './replace-file.ts';
import type { Systemd } from './systemd.ts';
import { removeUnit, unitPath } from './unit-file.ts';
import { accountIn, removeAccount } from './user.ts';

interface Installed extends LinuxMachine {
  readonly facts: Facts;
}

/** Stops the service and removes everything that was installed, except what is to be kept and the account that owns it. */
export async function remove(machine: Installed, { keepState, keepConfiguration }: Kept): Promise<Uninstalled> {
  const { places, env, facts, systemd } = machine;
  const { isUnitEdited, folders: installed } = inspect(places, null);
  const wasThere = [places.home, places.unit, places.settings].some((place) => existsSync(place));
  const [hadState, hadConfiguration] = [places.state, places.configuration].map((place) => existsSync(place));
  await endService(machine);
  removeUnit(places, installed);
  if (facts.isLive) await systemd.reload();
  if (inspect(places, null).command === 'ours') rmSync(places.command);
  removeFile(places.keptConfiguration);
  if (keepConfiguration) removeUnfinished(places.configuration);
  else removeFile(places.configuration);
  const emptied = [places.cache, ...(keepState ? [] : [places.state])].filter((folder) => !removeTree(folder));
  const isOwner = (keepState && hadState) || (keepConfiguration && hadConfiguration);
  const problems = isOwner ? [] : await removeAccount(places, env);
  removeVersions(places);
  for (const file of [places.current, places.record, places.remover]) removeFile(file);
  const settings = keepConfiguration && hadConfiguration ? [] : [places.settings];
  const folders = [places.dropIns, ...settings, places.versions, places.home];
  const kept = folders.map((folder) => ({ folder, why: removeEmpty(folder) }));
  const left = kept
    .filter(({ folder, why }) => why === 'filled' && !holdsSampleOnly(folder, places))
    .map(({ folder }) => folder);
  if (isUnitEdited) left.push(places.administratorUnit);
  emptied.push(...kept.filter(({ why }) => why === 'mounted').map(({ folder }) => folder));
  return {
    wasThere,
    left,
    state: !hadState ? 'absent' : keepState ? 'kept' : 'removed',
    configuration: !hadConfiguration ? 'absent' : keepConfiguration ? 'kept' : 'removed',
    hasAccount: accountIn(places) !== null,
    problems: [
      ...problems,
      ...emptied.map(
        (folder) =>
          `${folder} is empty and stays, since a file system is mounted there: unmount it, and remove the folder.`,
      ),
    ],
  };
}

/** The service sends what is pending before it ends. */
async function endService({ places, systemd, facts: { isLive, programs } }: Installed): Promise<void> {
  if (!programs.includes('systemctl')) return;
  if (isLive && (await isUp(systemd))) await systemd.stop();
  if (unitPath(places) !== null) await systemd.disable();
  if (isLive) await systemd.forget();
}

async function isUp(systemd: Systemd): Promise<boolean> {
  const { active } = await systemd.unit();
  return active !== 'inactive' && active !== 'failed';
}

/** The package manager removes it. */
const holdsSampleOnly = (folder: string, { settings, sample }: Places): boolean =>
  folder === settings && readdirSync(folder).join() === basename(sample);

/** The one that runs here goes last, and at once: `remove.sh` then knows that nothing but crumbs is left. */
function removeVersions(places: Places): void {
  const { current, folders } = inspect(places, null);
  const isOurs = (folder: string): boolean =>
    lstatSync(join(places.versions, folder, manifestName), { throwIfNoEntry: false }) !== undefined;
  const beside = join(places.versions, staging);
  rmSync(beside, { recursive: true, force: true });
  const ours = folders.filter((folder) => folder !== staging && isOurs(folder));
  for (const folder of ours.toSorted((a, b) => Number(a === current) - Number(b === current))) {
    removeVersion(join(places.versions, folder), beside);
  }
}

/**
 * In one step, by its name. A folder of a lower layer of overlayfs cannot be renamed (EXDEV); then its command goes first and its
 * manifest last, so that `remove.sh` takes up a removal that was cut off. https://docs.kernel.org/filesystems/overlayfs.html#renaming-directories
 */
function removeVersion(folder: string, beside: string): void {
  try {
    renameSync(folder, beside);
    rmSync(beside, { recursive: true, force: true });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
    rmSync(join(folder, serviceName), { force: true });
    for (const name of readdirSync(folder).filter((one) => one !== manifestName))
      rmSync(join(folder, name), { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * With all that is in it; links in it are removed, not followed: some of it belonged to the service. @returns false where a file
 * system is mounted there, which was emptied.
 */
function removeTree(folder: string): boolean {
  try {
    rmSync(folder, { recursive: true, force: true });
    return true;
  } catch (error) {
    if (!isEmpty(folder)) {
      const why = messageOf(error);
      throw new Refusal('notDone', `${folder} cannot be removed: ${why}.`);
    }
  }
  // Problems of the folder itself have a code only here.
  return removeEmpty(folder) === null;
}
