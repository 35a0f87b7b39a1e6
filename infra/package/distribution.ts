import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bashCompletion, fishCompletion, zshCompletion } from './commands/completion.ts';
import { manPage } from './commands/man-page.ts';
import { commandTable } from './commands/table.ts';
import type { PackedFile } from './packed-file.ts';
import type { PlatformName } from './platforms.ts';
import { gzipOf } from './tar.ts';

/** What .deb and .rpm say of themselves. */
export interface About {
  readonly version: string;
  readonly platform: PlatformName;
  readonly at: Date;
}

export const product = 'scheduled-events-bridge';
export const summary = 'Delivers the Scheduled Events of this Azure VM to Event Hubs';
export const description = [
  'The bridge watches the Scheduled Events of the Azure VM that it runs on,',
  'remembers what happened to each of them, and delivers it to Event Hubs',
  'and Log Analytics.',
];
export const homepage = 'https://github.com/scheduled-events-bridge/scheduled-events-bridge';
export const maintainer = `The ${product} authors <${product}@users.noreply.github.com>`;
/** Where .deb and .rpm put the package; the installer takes it from there. */
export const placed = `usr/lib/${product}`;

/** A version with a pre-release comes before the one without: both say that with a tilde. */
export const asPackageVersion = (version: string): string => version.replaceAll('-', '~');

/** A file of .deb and .rpm. `isConfiguration`: what an administrator changes in it is kept by updates. */
export interface DistributedFile extends PackedFile {
  readonly isConfiguration: boolean;
}

/**
 * Everything that .deb and .rpm place: the package, the command in a place that every sudo looks into, and what a package of a
 * distribution brings beside its program. `zshFolder`: where zsh of that distribution looks for completions.
 */
export async function distributedFiles(
  files: readonly PackedFile[],
  { version, at }: Pick<About, 'version' | 'at'>,
  zshFolder: string,
): Promise<readonly DistributedFile[]> {
  const table = commandTable();
  const manual = await gzipOf(Buffer.from(manPage(table, { product, version, at })));
  const unit = files.find(({ path }) => path === `${product}.service`);
  if (!unit) throw new Error(`The package holds no ${product}.service.`);
  const plain = (path: string, content: Buffer | string): DistributedFile => ({
    path,
    mode: 0o644,
    content: Buffer.from(content),
    isConfiguration: path.startsWith('etc/'),
  });
  return [
    ...files.map((file) => ({ ...file, path: `${placed}/${file.path}`, isConfiguration: false })),
    { ...plain(`usr/bin/${product}`, source('scripts/command')), mode: 0o755 },
    plain(`usr/lib/systemd/system/${product}.service`, unit.content),
    plain(`usr/lib/sysusers.d/${product}.conf`, source('files/sysusers.conf')),
    plain(`usr/lib/tmpfiles.d/${product}.conf`, source('files/tmpfiles.conf')),
    plain(`usr/share/man/man8/${product}.8.gz`, manual),
    plain(`usr/share/bash-completion/completions/${product}`, bashCompletion(table, product)),
    plain(`${zshFolder}/_${product}`, zshCompletion(table, product)),
    plain(`usr/share/fish/vendor_completions.d/${product}.fish`, fishCompletion(table, product)),
    plain(`etc/default/${product}`, source('files/environment')),
    plain(`etc/${product}/config.sample.json`, source('../examples/managed-identity.json')),
  ];
}

const source = (name: string): Buffer => readFileSync(join(import.meta.dirname, name));
