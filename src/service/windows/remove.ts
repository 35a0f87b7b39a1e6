import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { serviceName, staging } from '../names.ts';
import { manifestName } from '../package.ts';
import { foldersIn } from '../read-file.ts';
import { Refusal } from '../refusals.ts';
import type { Kept } from '../system.ts';
import type { Uninstalled } from '../uninstall.ts';
import { eventSourceCalls } from './definition.ts';
import { isInUse, patiently, removeRenamed, removeTree, unfinished } from './files.ts';
import { removeProfile } from './profile.ts';
import { laterRemoval } from './scripts.ts';
import type { ChangingMachine } from './steps.ts';

/** Exit codes of sc.exe: there is no such service; it is marked for deletion already. */
const [missing, marked] = [1060, 1072];

// assumption: windows-installer-in-use
/**
 * Stops the service and removes everything that was installed, except what is to be kept. The command goes before the versions, so that
 * `remove.cmd` knows when nothing but files is left. The runtime that runs here is renamed away, and deleted when it has ended.
 */
export async function remove(machine: ChangingMachine, { keepState, keepConfiguration }: Kept): Promise<Uninstalled> {
  const { places, tools, clock } = machine;
  const wasThere = existsSync(places.home) || existsSync(places.data);
  const [hadState, hadConfiguration] = [existsSync(places.state), existsSync(places.configuration)];
  const problems = await removeService(machine);
  if ((await tools.ask('reg', eventSourceCalls.find)).code === 0) await tools.call('reg', eventSourceCalls.remove);

  problems.push(...(await removeProfile(machine)));

  const left: string[] = [];
  const go = async (path: string): Promise<void> => void left.push(...(await removeTree(clock, path, places.removed)));
  const file = (path: string): Promise<void> => patiently(clock, () => rmSync(path, { force: true }));
  for (const path of [places.configuration, places.keptConfiguration]) {
    await file(unfinished(path));
    if (path !== places.configuration || !keepConfiguration) await file(path);
  }
  for (const folder of [places.cache, places.logs, ...(keepState ? [] : [places.state])]) await go(folder);
  for (const path of [places.record, places.definition, places.command]) {
    await file(unfinished(path));
    await file(path);
  }
  for (const name of foldersIn(places.versions)) {
    const folder = join(places.versions, name);
    const files = readdirSync(folder);
    if (name !== staging && files.length > 0 && !files.includes(manifestName)) continue;
    // The manifest goes last: by it a removal that was cut off knows that the folder is a version.
    for (const one of files.filter((one) => one !== manifestName)) await go(join(folder, one));
    if (readdirSync(folder).every((one) => one === manifestName)) await go(folder);
  }
  await file(unfinished(places.remover));
  await file(places.remover);
  const others = [places.versions, places.home, places.data].filter((folder) => removeEmptyFolder(folder) === 'filled');
  if (removeRenamed(places.removed)) tools.leave(laterRemoval(places.removed));

  const kept = (keepState && hadState) || (keepConfiguration && hadConfiguration);
  return {
    wasThere,
    left: others.filter((folder) => !(folder === places.data && kept) && !left.some((path) => path.startsWith(folder))),
    state: !hadState ? 'absent' : keepState ? 'kept' : 'removed',
    configuration: !hadConfiguration ? 'absent' : keepConfiguration ? 'kept' : 'removed',
    hasAccount: false,
    problems: [
      ...problems,
      ...left.map((path) => `${path} is in use and stays: end the program that uses it, and delete it.`),
    ],
  };
}

/** The service sends what is pending before it ends. @returns what could not be done, each a sentence. */
async function removeService({ manager, tools }: ChangingMachine): Promise<string[]> {
  if ((await manager.query()).state === 'missing') return [];
  await manager.stop();
  const { code } = await tools.ask('sc', ['delete', serviceName]);
  if (code !== 0 && code !== missing && code !== marked)
    throw new Refusal('notDone', `The service cannot be deleted: "sc.exe delete ${serviceName}" ended with ${code}.`);
  if ((await manager.query()).state === 'missing') return [];
  return [
    'The service is deleted when no program uses it any more: close Services (services.msc) and Task Manager on this machine.',
  ];
}

function removeEmptyFolder(folder: string): 'filled' | null {
  if (!existsSync(folder)) return null;
  try {
    if (readdirSync(folder).length > 0) return 'filled';
    rmSync(folder, { recursive: true });
    return null;
  } catch (error) {
    if (isInUse(error)) return 'filled';
    throw error;
  }
}
