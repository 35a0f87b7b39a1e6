/** Puts what a container needs of the package for this machine into a folder. For the Dockerfile: `node infra/package/image.ts FOLDER`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtAt } from './built-at.ts';
import { contentsOf, root } from './contents.ts';
import { sourcesHere } from './make-packages.ts';
import type { PackedFile } from './packed-file.ts';
import { type PlatformName, platformNames } from './platforms.ts';

/** Without installer, unit and manifest: the image is what an installation is elsewhere. */
export const inImage: readonly string[] = [
  'CHANGELOG.md',
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

/** @throws Error where there is no package for it. */
export function platformOf({ platform, arch }: Pick<NodeJS.Process, 'platform' | 'arch'>): PlatformName {
  const found = platformNames.find((name) => name === `${platform}-${arch}`);
  if (!found) throw new Error(`There is no package for ${platform}-${arch}, but for ${platformNames.join(', ')}.`);
  return found;
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('Expected the folder that the files are put into.');
  const platform = platformOf(process);
  const { program, runtimeOf } = await sourcesHere();
  const runtime = await runtimeOf(platform);
  writeForImage(contentsOf({ platform, program, runtime, at: builtAt(root, process.env), key: null }), folder);
}
