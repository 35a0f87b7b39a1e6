import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { extensionZip } from '../../infra/package/extension.ts';
import type { PackedFile } from '../../infra/package/packed-file.ts';

const contentsIn = (folder: string): PackedFile[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => ({
      path: path.slice(folder.length + 1),
      mode: statSync(path).mode & 0o100 ? 0o755 : 0o644,
      content: readFileSync(path),
    }));

/**
 * Puts the zip of the extension into `folder`, as it is distributed. @param from the folder of each version. @param isDamaged a file
 * was changed after the package was made.
 */
export async function makeExtension(
  version: string,
  { folder, from, isDamaged }: { readonly folder: string; readonly from: string; readonly isDamaged: boolean },
): Promise<void> {
  const contents = contentsIn(join(from, version)).map((file) =>
    isDamaged && file.path === 'LICENSE' ? { ...file, content: Buffer.from('Damaged.') } : file,
  );
  const zip = await extensionZip(contents, { platform: 'linux-x64', at: new Date('2026-01-02T03:04:05Z'), level: 0 });
  writeFileSync(join(folder, `${version}.zip`), zip);
}
