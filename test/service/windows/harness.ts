import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkConfiguration } from '../../../src/cli/service/machine.ts';
import { disable } from '../../../src/service/disable.ts';
import { type Done, install, type Order } from '../../../src/service/install.ts';
import type { Machine } from '../../../src/service/machine.ts';
import { serviceName } from '../../../src/service/names.ts';
import { type Uninstalled, uninstall } from '../../../src/service/uninstall.ts';
import type { WindowsFacts } from '../../../src/service/windows/facts.ts';
import { windowsPlaces } from '../../../src/service/windows/places.ts';
import { windowsSystem } from '../../../src/service/windows/system.ts';
import type { Programs } from '../../../src/service/windows/tools.ts';
import { temporaryDirectory } from '../../support/bridge-process.ts';
import { root } from '../../support/source-tree.ts';
import { writePackage } from '../harness.ts';
import { quickClock } from '../machine-in.ts';
import { standInPrograms } from './stand-in-programs.ts';

/** How the service of a version, or with a configuration, behaves; read by the stand-in of sc.exe. */
export type Behaviour = 'becomes-ready' | 'dies' | 'hangs' | 'dies-when-up' | 'is-deaf' | 'exits-78' | 'cannot-start';

export type WindowsHarness = ReturnType<typeof createWindowsHarness>;

export const fitFacts: Partial<WindowsFacts> = {
  processor: 'x64',
  release: '10.0.20348',
  freeForVersions: 2 ** 40,
  freeForState: 2 ** 40,
};

/** A machine with Windows in a folder, with programs of its own and a clock on which waiting takes no time. */
export function createWindowsHarness(facts: Partial<WindowsFacts> = {}) {
  const directory = temporaryDirectory('service');
  const [programFiles, programData, states, programs] = ['Program Files', 'ProgramData', 'states', 'programs'].map(
    (name) => join(directory.path, name),
  ) as [string, string, string, string];
  for (const folder of [programFiles, programData, states, programs]) mkdirSync(folder);
  const places = windowsPlaces({ programFiles, programData });
  const paths = Object.fromEntries(
    Object.entries(standInPrograms({ states, data: places.data })).map(([name, text]) => {
      writeFileSync(join(programs, name), text, { mode: 0o755 });
      return [name, join(programs, name)];
    }),
  ) as unknown as Programs;
  const clock = quickClock();
  const said: string[] = [];
  const system = windowsSystem({
    places,
    programs: paths,
    env: { PATH: process.env.PATH },
    clock,
    facts: { ...fitFacts, ...facts },
  });
  const machine: Machine = {
    system,
    clock,
    say: (sentence) => void said.push(sentence),
    checkConfiguration: (file) => {
      const { problems } = checkConfiguration(file, 'win32', {});
      return problems === undefined ? { stateDirectory: places.state } : { problems };
    },
    ping: async (stateDirectory) =>
      existsSync(join(stateDirectory, 'held'))
        ? { ok: true, reach: { kind: 'connected' } }
        : { ok: false, message: 'it takes no question' },
  };
  const stateFile = (name: string): string | null =>
    existsSync(join(states, name)) ? readFileSync(join(states, name), 'utf8').trim() : null;
  return {
    path: directory.path,
    places,
    machine,
    said,
    clock,
    /** The programs that were called, with their arguments, in order. */
    calls: (): string[] => (stateFile('calls') ?? '').split('\n').filter((line) => line !== ''),
    forgetCalls: () => rmSync(join(states, 'calls'), { force: true }),
    /** What the service control manager knows: `image`, `start`, `account`; null without it. */
    known: stateFile,
    /** Sets the state of the service control manager or of the user, as `not-elevated`. */
    set: (name: string, value = '') => writeFileSync(join(states, name), value),
    /** The version that the service runs; null while none runs. */
    runs: () => stateFile('running'),
    package: (version: string, options: { readonly behaviour?: Behaviour; readonly build?: number } = {}) =>
      makePackage(join(directory.path, `package ${version}-${options.build ?? 1}`), version, options),
    /** A file with a configuration that is right. */
    configuration: (marker = 'a', behaviour: Behaviour = 'becomes-ready') => {
      const file = join(directory.path, `config-${marker}.json`);
      writeFileSync(file, JSON.stringify({ sinks: { stdout: {} }, observer: { vmName: `${marker} ${behaviour}` } }));
      return file;
    },
    install: (order: Partial<Order>): Promise<Done> =>
      install(machine, { from: null, key: null, configuration: null, enable: 'always', start: true, ...order }),
    disable: () => disable(machine),
    uninstall: (
      kept: { readonly keepState?: boolean; readonly keepConfiguration?: boolean } = {},
    ): Promise<Uninstalled> => uninstall(machine, { keepState: false, keepConfiguration: false, ...kept }),
    [Symbol.dispose]: directory[Symbol.dispose],
  };
}

function makePackage(
  folder: string,
  version: string,
  { behaviour = 'becomes-ready', build = 1 }: { readonly behaviour?: Behaviour; readonly build?: number },
): string {
  const definition = JSON.parse(readFileSync(join(root, 'infra/windows/windows-service.json'), 'utf8'));
  return writePackage(folder, {
    version,
    platform: 'win-x64',
    files: {
      'node.exe': `#!/bin/sh\nsed -n 's/^version //p' "$1"\n`,
      [`${serviceName}.cjs`]: `version ${serviceName} ${version} (build ${build})\n${behaviour}\n`,
      [`${serviceName}-service.exe`]: '#!/bin/sh\n',
      'windows-service.json': JSON.stringify({ ...definition, description: `Of version ${version}.` }),
      'licences/node.txt': 'a licence\n',
    },
  });
}
