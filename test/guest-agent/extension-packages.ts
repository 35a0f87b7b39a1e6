import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { extensionZip } from '../../infra/package/extension.ts';
import type { PackedFile } from '../../infra/package/packed-file.ts';
import { versions } from '../host-install/packages.ts';

/** A package of this version was damaged after it was made. */
export const damaged = versions.dies;

const contentsIn = (folder: string): PackedFile[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => ({
      path: path.slice(folder.length + 1),
      mode: statSync(path).mode & 0o100 ? 0o755 : 0o644,
      content: readFileSync(path),
    }));

/** Puts the zip of the extension into `folder`, as it is distributed. @param from the folder of each version. */
export async function makeExtension(version: string, folder: string, from: string): Promise<void> {
  const contents = contentsIn(join(from, version)).map((file) =>
    version === damaged && file.path === 'LICENSE' ? { ...file, content: Buffer.from('Damaged.') } : file,
  );
  const zip = await extensionZip(contents, { platform: 'linux-x64', at: new Date('2026-01-02T03:04:05Z'), level: 0 });
  writeFileSync(join(folder, `${version}.zip`), zip);
}
