import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Begins an npm package in a folder, in place of an earlier one of the same name.
 * @throws if the folder holds something else.
 */
export function beginNpmFolder(folder: string, packageJson: { readonly name: string }): void {
  const manifest = join(folder, 'package.json');
  const isOurs = existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).name === packageJson.name;
  if (!isOurs && existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`${folder} holds something other than ${packageJson.name}: choose a new or empty folder.`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // First, so that a package that was never finished is known as one.
  writeFileSync(manifest, `${JSON.stringify(packageJson, null, 2)}\n`);
}
