/**
 * Puts the files of a container image into a folder. For the Dockerfile: `node infra/package/image.ts [--simulator] FOLDER`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { builtAt } from './built-at.ts';
import { contentsOf, root } from './contents.ts';
import { thirdPartyLicences } from './licences.ts';
import { lockHere, makeProgram, type NamedPrograms, sourcesHere } from './make-packages.ts';
import { readmeOfSimulator } from './npm-simulator.ts';
import type { PackedFile } from './packed-file.ts';
import { type PlatformName, platformNames } from './platforms.ts';
import type { Runtime } from './runtime.ts';

/** Files of the package that the image of the bridge has: no installer, unit and manifest. */
export const inImage: readonly string[] = [
  'LICENSE',
  'THIRD-PARTY-LICENSES.txt',
  'node',
  'sbom.cdx.json',
  'scheduled-events-bridge',
  'scheduled-events-bridge.cjs',
];

/** @throws Error where a file of the image is not among those of the package. */
export function writeForImage(contents: readonly PackedFile[], folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of inImage) {
    const file = contents.find(({ path }) => path === name);
    if (!file) throw new Error(`The package holds no ${name}, which the image needs.`);
    writeFileSync(join(folder, name), file.content, { mode: file.mode });
  }
}

/** The image of the simulator has both programs, since its demo runs bridges. */
export function writeForSimulator(
  {
    bridge,
    simulator,
    runtime,
  }: NamedPrograms & {
    readonly runtime: Pick<Runtime, 'version' | 'program' | 'licence'>;
  },
  folder: string,
): void {
  const packages = [...bridge.bundled.packages, ...simulator.bundled.packages];
  const once = [...new Map(packages.map((one) => [one.path, one])).values()];
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'node'), runtime.program, { mode: 0o755 });
  writeFileSync(join(folder, 'scheduled-events-bridge.cjs'), bridge.bundle);
  writeFileSync(join(folder, 'scheduled-events-simulator.cjs'), simulator.bundle);
  writeFileSync(join(folder, 'LICENSE'), readFileSync(join(root, 'LICENSE')));
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicences(once, { root, node: runtime }));
  writeFileSync(join(folder, 'README.md'), readmeOfSimulator());
}

/** @throws Error where there is no package for it. */
export function platformOf({ platform, arch }: Pick<NodeJS.Process, 'platform' | 'arch'>): PlatformName {
  const found = platformNames.find((name) => name === `${platform}-${arch}`);
  if (!found) throw new Error(`There is no package for ${platform}-${arch}, but for ${platformNames.join(', ')}.`);
  return found;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({ options: { simulator: { type: 'boolean' } }, allowPositionals: true });
  const [folder] = positionals;
  if (folder === undefined) throw new Error('Expected the folder that the files are put into.');
  const platform = platformOf(process);
  const { program, runtimeOf } = await sourcesHere();
  const runtime = await runtimeOf(platform);
  if (values.simulator) {
    const simulator = await makeProgram('scheduled-events-simulator', lockHere());
    writeForSimulator({ bridge: program, simulator, runtime }, folder);
  } else {
    writeForImage(contentsOf({ platform, program, runtime, at: builtAt(root, process.env), key: null }), folder);
  }
}
