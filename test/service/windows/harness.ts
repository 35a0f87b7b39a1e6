import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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
import { temporaryDirectory } from '../../support/bridge-process.ts';
import { root } from '../../support/source-tree.ts';
import { writePackage } from '../harness.ts';
import { quickClock } from '../machine-in.ts';
import { type Behaviour, createStandIns } from './stand-in-programs.ts';

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
  const [programFiles, programData] = ['Program Files', 'ProgramData'].map((name) => join(directory.path, name)) as [
    string,
    string,
  ];
  for (const folder of [programFiles, programData]) mkdirSync(folder);
  const places = windowsPlaces({ programFiles, programData });
  const windows = createStandIns(places);
  const clock = quickClock();
  const said: string[] = [];
  const system = windowsSystem({
    places,
    programs: { sc: 'sc', reg: 'reg', icacls: 'icacls', cmd: 'cmd', host: 'host' },
    run: windows.run,
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
  return {
    path: directory.path,
    places,
    machine,
    said,
    clock,
    /** The programs of Windows. */
    windows,
    /** The programs that were called, with their arguments, in order; without what only reads the state. */
    calls: (): readonly string[] => [...windows.calls],
    forgetCalls: () => {
      windows.calls.length = 0;
    },
    /** The version that the service runs; null while none runs. */
    runs: (): string | null => {
      const process = windows.running();
      return process?.behaviour === 'becomes-ready' ? process.version : null;
    },
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
