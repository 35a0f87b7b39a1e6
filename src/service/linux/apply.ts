import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { serviceName, staging } from '../names.ts';
import { faultsIn, isSameBuild, manifestName, type Package, sha256Of } from '../package.ts';
import type { InstallationRecord, Step } from '../plan.ts';
import { Refusal } from '../refusals.ts';
import { removeEmpty } from '../remove-empty.ts';
import type { Material } from '../system.ts';
import { tryOut } from '../try-out.ts';
import { configurationRights, inspect } from './inspect.ts';
import { commandTarget, fromRoot, type Places } from './places.ts';
import { removerScript } from './remover.ts';
import { makeFolder, replaceFile, replaceLink, sync } from './replace-file.ts';
import type { Systemd } from './systemd.ts';
import { placeUnit } from './unit-file.ts';
import { accountIn, makeAccount, ownUid } from './user.ts';

/** A machine with Linux, as the steps need it. */
export interface LinuxMachine {
  readonly places: Places;
  /** `systemctl`, `useradd` and the others are searched in its PATH. */
  readonly env: NodeJS.ProcessEnv;
  readonly systemd: Systemd;
}

/** @throws Refusal where the step is impossible. */
export async function perform(step: Step, machine: LinuxMachine, material: Material): Promise<void> {
  const { places, env, systemd } = machine;
  switch (step.do) {
    case 'make-account':
      return makeAccount(places, env);
    case 'place':
      return place(step.folder, machine, material);
    case 'keep-configuration':
      return writeConfiguration(places, places.keptConfiguration, readFileSync(places.configuration));
    case 'write-configuration':
      return writeConfiguration(places, places.configuration, material.configuration);
    case 'restore-configuration':
      return writeConfiguration(places, places.configuration, readFileSync(places.keptConfiguration));
    case 'forget-configuration':
      return rmSync(places.keptConfiguration, { force: true });
    case 'write-unit':
      return placeUnit(places, step.folder, inspect(places, null).folders);
    case 'switch':
      return replaceLink(places.current, join(basename(places.versions), step.folder));
    case 'write-remover':
      return replaceFile(places.remover, removerScript(places), { mode: 0o755 });
    case 'link-command':
      makeFolder(dirname(places.command));
      return replaceLink(places.command, commandTarget(places));
    case 'reload':
      return systemd.reload();
    case 'enable':
      await systemd.enable();
      // systemctl does not: after a power cut the service would not start at boot.
      if (existsSync(places.desired)) sync(dirname(places.desired));
      return;
    case 'restart':
      await systemd.forget();
      return systemd.restart();
    case 'record':
      return writeLedger(places, step.record);
    case 'prune':
      for (const folder of step.folders) rmSync(join(places.versions, folder), { recursive: true, force: true });
  }
}

/** For the service, which reports a refused version, and no other reader: a hash of the configuration lets a weak password be guessed. */
function writeLedger(places: Places, record: InstallationRecord): void {
  const gid = accountIn(places)?.gid;
  const owner = gid === undefined ? {} : { uid: ownUid(), gid };
  replaceFile(places.record, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o640, ...owner });
}

/** Root's, and to be read by the service: it may hold secrets. */
function writeConfiguration(places: Places, path: string, content: Buffer | null): void {
  const account = accountIn(places);
  if (account === null || content === null)
    throw new Refusal('notDone', `${path} cannot be written: the account ${serviceName} is missing.`);
  const owner = { uid: ownUid(), gid: account.gid };
  makeFolder(places.settings);
  chownSync(places.settings, owner.uid, owner.gid);
  chmodSync(places.settings, configurationRights.folder);
  replaceFile(path, content, { mode: configurationRights.file, ...owner });
}

/** Beside the other versions, verified and tried; then it gets its name. */
async function place(folder: string, machine: LinuxMachine, { package: desired }: Material): Promise<void> {
  if (desired === null)
    throw new Refusal('missing', `${folder} no longer exists: name the folder of its package with --from.`);
  const { places, env } = machine;
  for (const path of [places.home, places.versions]) makeOwnFolder(path);
  const beside = join(places.versions, staging);
  rmSync(beside, { recursive: true, force: true });
  try {
    copyPackage(desired, beside, [
      ...(desired.from === places.packaged ? [places.packaged] : []),
      ...inspect(places, null).folders.map((one) => join(places.versions, one)),
    ]);
    const [fault] = faultsIn(beside, desired);
    if (fault !== undefined) {
      throw new Refusal('missing', `The package in ${desired.from} is damaged: ${fault}. Fetch it again.`);
    }
    await tryOut(beside, desired, env, noexec(fromRoot(places, places.home)));
    renameSync(beside, join(places.versions, folder));
    sync(places.versions);
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    for (const path of [places.versions, places.home]) removeEmpty(path);
    throw error instanceof Error && 'code' in error && error.code === 'ENOSPC'
      ? new Refusal(
          'missing',
          `There is no space left in ${fromRoot(places, places.home)}: free ${Math.ceil(desired.bytes / 2 ** 20)} MB.`,
        )
      : error;
  }
}

const noexec = (home: string): Refusal =>
  new Refusal(
    'missing',
    `Nothing can be executed in ${home}: its file system is mounted with noexec, or a security module forbids it. Mount it with exec.`,
  );

/** What runs as a service must be writable by root only, and readable by its account. */
function makeOwnFolder(path: string): void {
  // A link to nowhere is there, and no folder.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) makeFolder(path);
  const folder = lstatSync(path);
  if (!folder.isDirectory() || folder.uid !== ownUid() || (folder.mode & 0o022) !== 0) {
    throw new Refusal(
      'notDone',
      `${path} is not a folder that only root can write: find out who created it, move it away, and try again.`,
    );
  }
  chmodSync(path, 0o755);
}

/**
 * `alike`: folders whose files are never modified. Where one of them has the same file, one copy on the disk does: the runtime is most
 * of a version, and mostly that of the version before.
 */
function copyPackage({ from, files, manifest }: Package, to: string, alike: readonly string[]): void {
  makeFolder(to);
  for (const { path, isExecutable, bytes, sha256 } of files) {
    const [source, target] = [join(from, path), join(to, path)];
    const mode = isExecutable ? versionRights.program : versionRights.file;
    const file = lstatSync(source, { throwIfNoEntry: false });
    if (!file?.isFile())
      throw new Refusal(
        'missing',
        `The package in ${from} is damaged: ${path} ${file ? 'is no file' : 'is missing'}. Fetch it again.`,
      );
    makeFolder(dirname(target));
    const isSame = (one: string): boolean => {
      const observed = lstatSync(one, { throwIfNoEntry: false });
      if (!observed?.isFile() || observed.uid !== 0 || (observed.mode & 0o7777) !== mode || observed.size !== bytes)
        return false;
      return sha256Of(one) === sha256;
    };
    // A damaged package is refused, also where another version has what it should hold.
    const isWhole = alike.length > 0 && file.size === bytes && sha256Of(source) === sha256;
    const linked =
      isWhole && alike.map((folder) => join(folder, path)).find((one) => isSame(one) && tryLink(one, target));
    if (!linked) {
      copyFileSync(source, target);
      chmodSync(target, mode);
      sync(target);
    }
  }
  // Syncs the folder as well.
  replaceFile(join(to, manifestName), manifest, { mode: 0o644 });
}

function tryLink(source: string, target: string): boolean {
  try {
    linkSync(source, target);
    return true;
  } catch {
    return false;
  }
}

/** What a version's files and folders may be: readable by all, writable by root only. */
const versionRights = { folder: 0o755, program: 0o755, file: 0o644 } as const;

/** A folder in `versions/` that holds exactly this build, and that the account of the service can run. */
export function isPlaced(folder: string, desired: Package): boolean {
  const has = (path: string, rights: number): boolean => (lstatSync(path).mode & 0o7777) === rights;
  return (
    isSameBuild(folder, desired) &&
    has(folder, versionRights.folder) &&
    desired.files.every(({ path, isExecutable }) =>
      has(join(folder, path), isExecutable ? versionRights.program : versionRights.file),
    )
  );
}
