import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { type Done, install, type Order } from '../../src/service/install.ts';
import type { Facts } from '../../src/service/linux/facts.ts';
import { placesIn, unitName } from '../../src/service/linux/places.ts';
import type { Machine, Reach } from '../../src/service/machine.ts';
import { serviceName } from '../../src/service/names.ts';
import { Refusal } from '../../src/service/refusals.ts';
import { type Uninstalled, uninstall } from '../../src/service/uninstall.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { machineIn, quickClock } from './machine-in.ts';
import { standInPrograms } from './stand-in-programs.ts';

/** How the service of a version, or with a configuration, behaves; written into its file and read by the stand-in of systemd. */
export type Behaviour = 'becomes-ready' | 'dies' | 'hangs' | 'dies-when-up' | 'is-deaf' | 'exits-78' | 'exits-203';

interface HarnessOptions {
  readonly facts?: Partial<Facts>;
  /** The readiness of the service, this many ms after the harness was made. */
  readonly reach?: (ms: number) => Reach;
}

export type Harness = ReturnType<typeof createHarness>;

/** A machine in a folder, with programs of its own in its path and a clock on which waiting takes no time. */
export function createHarness({ facts = {}, reach = () => ({ kind: 'connected' }) }: HarnessOptions = {}) {
  const directory = temporaryDirectory('service');
  const root = join(directory.path, 'root');
  const states = join(directory.path, 'units');
  const programs = join(directory.path, 'programs');
  const places = placesIn(root);
  for (const folder of ['etc', 'opt', 'run/systemd/system', 'var/lib', 'var/cache', 'usr/lib']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  for (const folder of [states, programs]) mkdirSync(folder);
  writeFileSync(places.passwd, 'root:x:0:0:root:/root:/bin/sh\n');
  writeFileSync(places.group, 'root:x:0:\n');
  for (const [name, text] of Object.entries(standInPrograms({ root, states }))) {
    writeFileSync(join(programs, name), text, { mode: 0o755 });
  }

  const said: string[] = [];
  const pings: number[] = [];
  const clock = quickClock();
  const env = { PATH: [programs, process.env.PATH].join(delimiter) };
  const machineWith = (given: Partial<Facts>): Machine => {
    const say = (sentence: string): void => void said.push(sentence);
    const machine = machineIn({ root, env, clock, facts: given, say, reach: () => reach(clock.monotonicMs()) });
    return {
      ...machine,
      ping(stateDirectory) {
        pings.push(clock.monotonicMs());
        return machine.ping(stateDirectory);
      },
    };
  };
  const machine = machineWith(facts);

  const calls = (): string[] =>
    existsSync(join(states, 'calls')) ? readFileSync(join(states, 'calls'), 'utf8').trimEnd().split('\n') : [];
  const harness = {
    root,
    places,
    env,
    machine,
    /** The same machine with other facts. */
    machineWith,
    said,
    /** When the service was asked. */
    pings,
    clock,
    /** The verbs that the service manager was asked for, without those that only read. */
    calls: () =>
      calls()
        .map((call) => call.split(' ')[0] ?? '')
        .filter((verb) => verb !== 'show'),
    forgetCalls: () => rmSync(join(states, 'calls'), { force: true }),
    /** Marks a state of the unit, as `masked`. */
    mark: (state: string) => writeFileSync(join(states, state), ''),
    /** A folder with a package, as an archive unpacks to. */
    package: (version: string, options: PackageOptions = {}) =>
      makePackage(join(directory.path, `package-${version}-${options.build ?? 1}`), version, options),
    /** A file with a configuration that is right. */
    configuration: (marker = 'a', behaviour: Behaviour = 'becomes-ready') => {
      const file = join(directory.path, `config-${marker}.json`);
      writeFileSync(file, JSON.stringify({ sinks: { stdout: {} }, observer: { vmName: `${marker} ${behaviour}` } }));
      return file;
    },
    file: (name: string, content: string) => {
      const file = join(directory.path, name);
      writeFileSync(file, content);
      return file;
    },
    install: (order: Partial<Order>): Promise<Done> =>
      install(machine, { from: null, key: null, configuration: null, enable: 'always', start: true, ...order }),
    uninstall: (
      kept: { readonly keepState?: boolean; readonly keepConfiguration?: boolean } = {},
    ): Promise<Uninstalled> => uninstall(machine, { keepState: false, keepConfiguration: false, ...kept }),
    /** As a person does it, with the service manager alone. */
    stopService: () => void spawnSync(join(programs, 'systemctl'), ['stop', unitName]),
    /** The version that the service runs, by its program; null while none runs. */
    runs: () => {
      const running = join(states, 'running');
      return existsSync(running) ? readFileSync(running, 'utf8').trim() : null;
    },
    [Symbol.dispose]: directory[Symbol.dispose],
  };
  return harness;
}

export interface PackageOptions {
  readonly behaviour?: Behaviour;
  /** Another build of the same version. */
  readonly build?: number;
  readonly platform?: string;
  /** The first line of the runtime: what executes it. */
  readonly interpreter?: string;
  /** What its program says that it is. */
  readonly message?: string;
}

/** Small files replace the runtime and the program; the manifest is as in a real package. */
function makePackage(folder: string, version: string, options: PackageOptions): string {
  const {
    behaviour = 'becomes-ready',
    build = 1,
    platform = 'linux-x64',
    interpreter = '/bin/sh',
    message = version,
  } = options;
  const files: Record<string, string> = {
    node: `#!${interpreter}\nsed -n 's/^version //p' "$1"\n`,
    [`${serviceName}.cjs`]: `version ${serviceName} ${message} (build ${build})\n${behaviour}\n`,
    [serviceName]: '#!/bin/sh\nexit 0\n',
    [unitName]: `[Service]\n# of version ${version}\nExecStart=/opt/${serviceName}/current/node\n`,
    'install.sh': '#!/bin/sh\nexit 0\n',
    LICENSE: 'a licence\n',
    'licences/node.txt': 'another licence\n',
  };
  return writePackage(folder, { version, platform, files });
}

/** Writes the files of a package, with a manifest as a real one has. Scripts are programs. */
export function writePackage(
  folder: string,
  {
    version,
    platform,
    files,
  }: { readonly version: string; readonly platform: string; readonly files: Readonly<Record<string, string>> },
): string {
  mkdirSync(folder, { recursive: true });
  const listed = Object.entries(files).map(([path, content]) => {
    const isProgram = content.startsWith('#!');
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
    chmodSync(join(folder, path), isProgram ? 0o755 : 0o644);
    const sha256 = createHash('sha256').update(content).digest('hex');
    return { path, sha256, bytes: Buffer.byteLength(content), mode: isProgram ? '0755' : '0644' };
  });
  for (const made of [folder, join(folder, 'licences')]) chmodSync(made, 0o755);
  const manifest = { name: serviceName, version, platform, node: '24.21.0', files: listed };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest, null, 2));
  return folder;
}

/** Everything below a folder: what it is, its rights, and what is in it. For comparing two of them. */
export function treeOf(folder: string): Record<string, string> {
  const result: Record<string, string> = {};
  const visit = (path: string): void => {
    const entry = lstatSync(path);
    const rights = (entry.mode & 0o7777).toString(8);
    if (entry.isSymbolicLink())
      result[path.slice(folder.length)] = `-> ${readlinkSync(path).replace(dirname(folder), '')}`;
    else if (entry.isFile())
      result[path.slice(folder.length)] = `${rights} ${readFileSync(path, 'utf8').replaceAll(folder, '')}`;
    else {
      result[path.slice(folder.length)] = `${rights} folder`;
      for (const name of readdirSync(path).toSorted()) visit(join(path, name));
    }
  };
  visit(folder);
  return result;
}

/** What a refusal said; fails where it was none. */
export async function refusalOf(work: Promise<unknown>): Promise<Refusal> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('it was not refused');
}
