import { existsSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { messageOf } from '../log.ts';
import { alone, lockTimeoutMs } from './installer-lock.ts';
import { inspect } from './linux/inspect.ts';
import { type Places, serviceName, staging } from './linux/places.ts';
import { forbids } from './linux/preflight.ts';
import { removeFile, removeUnfinished } from './linux/replace-file.ts';
import { createSystemd, type Systemd } from './linux/systemd.ts';
import { removeUnit, unitPath } from './linux/unit-file.ts';
import { accountIn, removeAccount } from './linux/user.ts';
import type { Facts, Machine } from './machine.ts';
import { manifestName } from './package.ts';
import { Refusal } from './refusals.ts';
import { isEmpty, removeEmpty } from './remove-empty.ts';

/** What was found and what was left. */
export interface Uninstalled {
  /** There was something to remove. */
  readonly wasThere: boolean;
  /** Of the state directory; `absent`: there was none. */
  readonly state: 'kept' | 'removed' | 'absent';
  readonly configuration: 'kept' | 'removed' | 'absent';
  /** The account is there still. */
  readonly hasAccount: boolean;
  /** Places that hold what the installer has not put there. */
  readonly left: readonly string[];
  /** What could not be removed, each a sentence. */
  readonly problems: readonly string[];
}

/**
 * Stops the service and removes everything that was installed, except what is to be kept and the account that owns it. What
 * others have put into the folders stays. If interrupted, it can be repeated.
 */
export async function uninstall(
  machine: Machine,
  { keepState, keepConfiguration }: { readonly keepState: boolean; readonly keepConfiguration: boolean },
): Promise<Uninstalled> {
  const { places, clock, env } = machine;
  const facts = machine.facts();
  const forbidden = forbids(facts);
  if (forbidden !== null) throw forbidden;
  return alone(places.lock, { clock, timeoutMs: lockTimeoutMs }, async () => {
    const { isUnitEdited, folders: installed } = inspect(places, null);
    const wasThere = [places.home, places.unit, places.settings].some((place) => existsSync(place));
    const [hadState, hadConfiguration] = [places.state, places.configuration].map((place) => existsSync(place));
    await endService(machine, facts);
    removeUnit(places, installed);
    if (facts.isLive) await createSystemd(env).reload();
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
  });
}

/** The service sends what is pending before it ends. */
async function endService({ places, env }: Machine, { isLive, programs }: Facts): Promise<void> {
  if (!programs.includes('systemctl')) return;
  const systemd = createSystemd(env);
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
