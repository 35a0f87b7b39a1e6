import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { product } from './distribution.ts';
import type { PackedFile } from './packed-file.ts';
import type { PlatformName } from './platforms.ts';
import { zip } from './zip.ts';

interface ExtensionOptions {
  readonly version: string;
  readonly platform: PlatformName;
  readonly at: Date;
  /** Of compression, for tests. Default: the best. */
  readonly level?: number;
}

// assumption: extension-publishing
/** Azure takes versions of an extension as numbers only, so a pre-release has no zip. */
export const isExtensionVersion = (version: string): boolean => /^\d+\.\d+\.\d+$/.test(version);

export const extensionName = ({ version, platform }: Pick<ExtensionOptions, 'version' | 'platform'>): string =>
  `${product}-${version}-${platform}-extension.zip`;

/** The zip of the VM extension for a platform: the manifest for the guest agent, the script that it runs, and the package. */
export async function extensionZip(
  contents: readonly PackedFile[],
  { platform, at, level }: Pick<ExtensionOptions, 'platform' | 'at' | 'level'>,
): Promise<Buffer> {
  const isWindows = platform === 'win-x64';
  const script = isWindows ? 'handler.cmd' : 'handler';
  const manifest = source(`HandlerManifest.${isWindows ? 'windows' : 'linux'}.json`);
  return zip(
    [
      { path: 'HandlerManifest.json', mode: 0o644, content: manifest },
      { path: `bin/${script}`, mode: 0o755, content: isWindows ? withWindowsLines(source(script)) : source(script) },
      ...contents.map((one) => ({ ...one, path: `package/${one.path}` })),
    ],
    { top: '', at, ...(level !== undefined && { level }) },
  );
}

const source = (name: string): Buffer => readFileSync(join(import.meta.dirname, '../extension', name));

/** cmd.exe does not find every label of a script with the line ends of Unix. */
const withWindowsLines = (script: Buffer): Buffer => Buffer.from(`${script}`.replaceAll(/\r?\n/g, '\r\n'));
