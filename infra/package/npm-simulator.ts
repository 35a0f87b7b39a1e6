import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { root } from './contents.ts';
import { thirdPartyLicences } from './licences.ts';
import { lockHere, makeProgram, type NamedPrograms } from './make-packages.ts';
import { beginNpmFolder } from './npm-folder.ts';

export const simulatorPackageName = 'scheduled-events-simulator';

/** Of `package.json` of the package. It has the bridge as well, which fills the simulated event hub, and which the demo runs. */
const packageJson = {
  name: simulatorPackageName,
  version: manifest.version,
  description:
    'Simulates what a reader of Azure Scheduled Events needs: instance metadata, Event Hubs and Logs Ingestion, for unmodified Azure clients',
  keywords: ['azure', 'scheduled-events', 'event-hubs', 'imds', 'simulator', 'emulator', 'testing'],
  license: manifest.license,
  bin: {
    'scheduled-events-simulator': 'scheduled-events-simulator.cjs',
    'scheduled-events-bridge': 'scheduled-events-bridge.cjs',
  },
  engines: manifest.engines,
};

/** The examples of other languages in `clients.md`. */
const languages = ['Python', 'Go', 'Java', 'Rust'];

/** Writes the package to a folder, in place of an earlier one. @throws if the folder holds something else. */
export async function makeSimulatorPackage(folder: string): Promise<void> {
  const lock = lockHere();
  const [bridge, simulator] = await Promise.all([
    makeProgram('scheduled-events-bridge', lock),
    makeProgram('scheduled-events-simulator', lock),
  ]);
  writeSimulatorPackage({ bridge, simulator }, folder);
}

export function writeSimulatorPackage({ bridge, simulator }: NamedPrograms, folder: string): void {
  beginNpmFolder(folder, packageJson);
  const packages = [...bridge.bundled.packages, ...simulator.bundled.packages];
  const once = [...new Map(packages.map((one) => [one.path, one])).values()];
  for (const [name, { bundle }] of [
    ['scheduled-events-bridge.cjs', bridge],
    ['scheduled-events-simulator.cjs', simulator],
  ] as const)
    writeFileSync(join(folder, name), bundle, { mode: 0o755 });
  for (const name of ['LICENSE', 'CHANGELOG.md']) cpSync(join(root, name), join(folder, name));
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicences(once, { root, node: null }));
  writeFileSync(join(folder, 'README.md'), readmeOfSimulator());
}

/** The README of the package, with the examples of the other languages. */
export function readmeOfSimulator(): string {
  const [clients, readme] = ['infra/examples/clients.md', 'infra/npm/simulator.md'].map((path) =>
    readFileSync(join(root, path), 'utf8'),
  );
  const examples = languages.map((language) => {
    const section = new RegExp(`^## ${language}\n[\\s\\S]*?(?=^## |$(?![\\s\\S]))`, 'm').exec(clients ?? '')?.[0];
    if (section === undefined) throw new Error(`infra/examples/clients.md has no section ${language}`);
    return section.trim();
  });
  return `${readme?.trim()}\n\n${examples.join('\n\n')}\n`;
}
