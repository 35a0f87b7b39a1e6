import { existsSync, lstatSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { alone } from './installer-lock.ts';
import { lookAround } from './look.ts';
import type { Facts, Machine } from './machine.ts';
import { manifestName } from './package.ts';
import { fromRoot, type Places, serviceName, staging } from './places.ts';
import { Refusal } from './refusals.ts';
import { removeFile } from './replace-file.ts';
import { createSystemd, type Systemd } from './systemd.ts';
import { forbids } from './unfit.ts';
import { removeAccount } from './user.ts';

/** What was found and what was left. */
export interface Uninstalled {
  /** There was something to remove. */
  readonly wasThere: boolean;
  /** Of the state directory; `absent`: there was none. */
  readonly state: 'kept' | 'removed' | 'absent';
  /** Places that hold what the installer has not put there. */
  readonly left: readonly string[];
  /** What could not be removed, each a sentence. */
  readonly troubles: readonly string[];
}

const lockPatienceMs = 120_000;

/**
 * Stops the service and removes everything that was installed; on request all but the state and the account that it belongs to.
 * What somebody else has put into the folders stays. Cut off anywhere, it may be done again.
 */
export async function uninstall(
  machine: Machine,
  { keepState }: { readonly keepState: boolean },
): Promise<Uninstalled> {
  const { places, clock, env } = machine;
  const facts = machine.facts();
  const forbidden = forbids(facts);
  if (forbidden !== null) throw forbidden;
  return alone(places.lock, { clock, patienceMs: lockPatienceMs }, async () => {
    const wasThere = [places.home, places.unit, places.settings].some((place) => existsSync(place));
    const hadState = existsSync(places.state);
    const troubles: string[] = [];
    await endService(machine, facts);
    removeUnit(places);
    if (facts.isLive) await createSystemd(env).reload();
    if (lookAround(places, null).command === 'ours') rmSync(places.command);
    for (const file of [places.configuration, places.keptConfiguration]) removeFile(file);
    rmSync(places.cache, { recursive: true, force: true });
    if (!keepState) troubles.push(...(await purge(machine)));
    removeVersions(places);
    for (const file of [places.current, places.ledger, places.remover]) removeFile(file);
    const left = [places.settings, places.versions, places.home].filter((folder) => !removeEmpty(folder));
    return { wasThere, troubles, left, state: !hadState ? 'absent' : keepState ? 'kept' : 'removed' };
  });
}

/** The service sends what is pending before it ends. */
async function endService({ places, env }: Machine, { isLive, programs }: Facts): Promise<void> {
  if (!programs.includes('systemctl')) return;
  const systemd = createSystemd(env);
  if (isLive && (await isUp(systemd))) await systemd.stop();
  if (existsSync(places.unit)) await systemd.disable();
  if (isLive) await systemd.forget();
}

async function isUp(systemd: Systemd): Promise<boolean> {
  const { active } = await systemd.unit();
  return active !== 'inactive' && active !== 'failed';
}

function removeUnit(places: Places): void {
  removeFile(places.wanted);
  removeFile(places.unit);
}

async function purge({ places, env }: Machine): Promise<string[]> {
  try {
    // Links in it are removed, not followed: it belonged to the service.
    rmSync(places.state, { recursive: true, force: true });
  } catch (error) {
    throw new Refusal(
      'notDone',
      `The state in ${fromRoot(places, places.state)} cannot be removed: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
  const why = await removeAccount(places, env);
  return why === null ? [] : [`The account ${serviceName} could not be removed (${why}): userdel ${serviceName}`];
}

/** The one that runs here goes last, and at once: `remove.sh` then knows that nothing but crumbs is left. */
function removeVersions(places: Places): void {
  const { current, folders } = lookAround(places, null);
  const isOurs = (folder: string): boolean =>
    lstatSync(join(places.versions, folder, manifestName), { throwIfNoEntry: false }) !== undefined;
  const beside = join(places.versions, staging);
  rmSync(beside, { recursive: true, force: true });
  const ours = folders.filter((folder) => folder !== staging && isOurs(folder));
  for (const folder of ours.toSorted((a, b) => Number(a === current) - Number(b === current))) {
    renameSync(join(places.versions, folder), beside);
    rmSync(beside, { recursive: true, force: true });
  }
}

/** False: there is something in it. */
function removeEmpty(folder: string): boolean {
  if (!existsSync(folder)) return true;
  if (readdirSync(folder).length > 0) return false;
  rmdirSync(folder);
  return true;
}
