import { copyFileSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { serviceName, staging } from '../names.ts';
import { faultsIn, manifestName, type Package } from '../package.ts';
import type { Step } from '../plan.ts';
import { Refusal } from '../refusals.ts';
import { removeEmpty } from '../remove-empty.ts';
import type { Material } from '../system.ts';
import { tryOut } from '../try-out.ts';
import { alsoFor, onlyFor, takeOver } from './acl.ts';
import { eventSourceCalls, readDefinition, scCalls } from './definition.ts';
import { refuseIntrusion } from './facts.ts';
import { flush, patiently, removeRenamed, removeTree, replaceFile } from './files.ts';
import { sid, type WindowsMachine } from './inspect.ts';
import { definitionName, hostName } from './places.ts';
import { commandScript, removerScript } from './scripts.ts';
import { folderIn } from './service-state.ts';

/** A machine that is to be changed. */
export interface ChangingMachine extends WindowsMachine {
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** @throws Refusal where the step is impossible. */
export async function perform(step: Step, machine: ChangingMachine, material: Material): Promise<void> {
  const { places, manager, clock } = machine;
  switch (step.do) {
    case 'make-account':
      return makeData(machine);
    case 'place':
      return place(step.folder, machine, material);
    case 'keep-configuration':
      return writeForService(machine, places.keptConfiguration, readFileSync(places.configuration));
    case 'write-configuration':
      if (material.configuration === null)
        throw new Refusal('notDone', `There is no content for ${places.configuration}.`);
      return writeForService(machine, places.configuration, material.configuration);
    case 'restore-configuration':
      return writeForService(machine, places.configuration, readFileSync(places.keptConfiguration));
    case 'forget-configuration':
      return patiently(clock, () => rmSync(places.keptConfiguration, { force: true }));
    case 'write-unit':
      return define(step.folder, machine);
    case 'switch':
      return switchTo(step.folder, machine);
    case 'write-remover':
      return replaceFile(clock, places.remover, removerScript());
    case 'link-command':
      return linkCommand(machine);
    case 'reload':
      // Windows reads nothing from disk that it would have to read again.
      return;
    case 'enable':
      return manager.enable();
    case 'restart':
      return manager.restart();
    case 'record':
      return writeForService(machine, places.record, `${JSON.stringify(step.record, null, 2)}\n`);
    case 'prune':
      // What is in use stays until the next installation: an old version that is not complete is never started.
      for (const folder of step.folders) await removeTree(clock, join(places.versions, folder), places.removed);
      removeRenamed(places.removed);
  }
}

// assumption: windows-installer-foreign-folder, windows-installer-permissions
/** The virtual account of the service exists with the service. What it needs are folders of its own. */
async function makeData({ places, tools }: ChangingMachine): Promise<void> {
  const { data, state, cache, logs } = places;
  mkdirSync(data, { recursive: true });
  // Until it has its permissions, any user can create folders in it, and would own them.
  await tools.call('icacls', onlyFor('folder', data, sid, null));
  await refuseIntrusion(places, tools);
  for (const folder of [state, cache, logs]) mkdirSync(folder, { recursive: true });
  for (const args of takeOver(data)) await tools.call('icacls', args);
  await tools.call('icacls', onlyFor('folder', data, sid, null));
  await refuseIntrusion(places, tools);
  for (const folder of [state, cache, logs]) await tools.call('icacls', alsoFor(folder, sid, 'write'));
  // What is checked is given last.
  await tools.call('icacls', onlyFor('folder', data, sid, 'enter'));
}

/** Readable by the service, administrators and the system only: it may hold secrets, or a hash of one. */
async function writeForService(
  { places, tools, clock }: ChangingMachine,
  path: string,
  content: string | Buffer,
): Promise<void> {
  if (path !== places.record && !existsSync(places.data))
    throw new Refusal('notDone', `${path} cannot be written: its folder is missing.`);
  await replaceFile(clock, path, content, async (beside) => {
    await tools.call('icacls', onlyFor('file', beside, sid, 'read'));
  });
}

/** Beside the other versions, verified and tried; then it gets its name. */
async function place(folder: string, machine: ChangingMachine, { package: desired }: Material): Promise<void> {
  if (desired === null)
    throw new Refusal('missing', `${folder} no longer exists: name the folder of its package with --from.`);
  const { places, env, clock } = machine;
  mkdirSync(places.versions, { recursive: true });
  const beside = join(places.versions, staging);
  removeRenamed(places.removed);
  await removeTree(clock, beside, places.removed);
  try {
    await copyPackage(desired, beside, clock);
    const [fault] = faultsIn(beside, desired);
    if (fault !== undefined) {
      throw new Refusal('missing', `The package in ${desired.from} is damaged: ${fault}. Fetch it again.`);
    }
    await tryOut(beside, desired, env, blocked(beside));
    await patiently(clock, () => renameSync(beside, join(places.versions, folder)));
  } catch (error) {
    await removeTree(clock, beside, places.removed);
    for (const path of [places.versions, places.home]) removeEmpty(path);
    throw error instanceof Error && 'code' in error && error.code === 'ENOSPC'
      ? new Refusal(
          'missing',
          `There is no space left in ${places.home}: free ${Math.ceil(desired.bytes / 2 ** 20)} MB.`,
        )
      : error;
  }
}

const blocked = (folder: string): Refusal =>
  new Refusal(
    'missing',
    `Windows does not start ${join(folder, 'node.exe')}: allow it where AppLocker, App Control or a virus scanner blocks it. It is signed by the OpenJS Foundation.`,
  );

/** No file is shared with another version: Windows cannot delete any name of a program that runs. */
async function copyPackage({ from, files, manifest }: Package, to: string, clock: Pick<Clock, 'sleep'>): Promise<void> {
  for (const { path } of files) {
    const [source, target] = [join(from, path), join(to, path)];
    const file = lstatSync(source, { throwIfNoEntry: false });
    if (!file?.isFile())
      throw new Refusal(
        'missing',
        `The package in ${from} is damaged: ${path} ${file ? 'is no file' : 'is missing'}. Fetch it again.`,
      );
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(source, target);
    await patiently(clock, () => flush(target));
  }
  await replaceFile(clock, join(to, manifestName), manifest);
}

/** ERROR_SERVICE_MARKED_FOR_DELETE */
const markedForDeletion = {
  1072: `Windows has not deleted the earlier service yet, because a program still uses it: close Services (services.msc), Task Manager and Event Viewer on this machine, then try again.`,
};

/** Creates the service, or changes it to what this version defines. The copy of the definition comes last: without it, it is done again. */
async function define(folder: string, machine: ChangingMachine): Promise<void> {
  const { places, tools, manager, clock } = machine;
  const file = join(places.versions, folder, definitionName);
  const text = readFileSync(file, 'utf8');
  const definition = readDefinition(text, file);
  const host = join(places.versions, folder, hostName);
  if ((await manager.query()).state === 'missing') {
    await registerEvents(host, machine);
    await tools.call('sc', scCalls.create(definition, host), markedForDeletion);
  } else {
    await tools.call('sc', scCalls.change(definition), markedForDeletion);
  }
  for (const args of scCalls.describe(definition)) await tools.call('sc', args);
  // sc.exe cannot.
  await tools.call('host', ['--set-preshutdown', serviceName]);
  await replaceFile(clock, places.definition, text);
}

// assumption: windows-installer-switch
/**
 * The service starts this version the next time: one value, which the service control manager changes at once. A link to the version, as
 * on Linux, could not be replaced at once here.
 */
async function switchTo(folder: string, machine: ChangingMachine): Promise<void> {
  const { places, tools, clock } = machine;
  const host = join(places.versions, folder, hostName);
  await registerEvents(host, machine);
  await tools.call('sc', scCalls.image(host), markedForDeletion);
  await replaceFile(clock, places.command, commandScript(folder));
}

async function registerEvents(host: string, { tools }: ChangingMachine): Promise<void> {
  for (const args of eventSourceCalls.register(host)) await tools.call('reg', args);
}

/** Of the version that the service runs. */
async function linkCommand({ places, manager, clock }: ChangingMachine): Promise<void> {
  const folder = folderIn((await manager.query()).imagePath, places.versions);
  if (folder !== null) await replaceFile(clock, places.command, commandScript(folder));
}
