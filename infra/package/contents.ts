import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bundled } from './bundled.ts';
import { thirdPartyLicences } from './licences.ts';
import { manifestName, manifestOf, signatureName, signatureOf } from './manifest.ts';
import { byPath, type PackedFile } from './packed-file.ts';
import { type PlatformName, platforms } from './platforms.ts';
import type { Runtime } from './runtime.ts';
import { sbom, serviceHostName } from './sbom.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The program, which is the same for all platforms. */
export interface Program {
  readonly version: string;
  readonly bundle: Buffer;
  readonly bundled: Bundled;
}

interface PackageContext {
  readonly platform: PlatformName;
  readonly program: Program;
  readonly runtime: Runtime;
  readonly at: Date;
  /** Starts the program as a service of Windows; `win-x64` needs it. */
  readonly serviceHost?: Buffer;
  /** Signs the manifest; null: unsigned. */
  readonly key: KeyObject | null;
}

// assumption: windows-package-signature
/** Every file of the package for a platform, sorted, the manifest with them. */
export function contentsOf({ platform, program, runtime, serviceHost, at, key }: PackageContext): PackedFile[] {
  const { version, bundle, bundled } = program;
  const ofSystem = platform === 'win-x64' ? windowsFiles(serviceHost) : linuxFiles();
  const files = [
    executable(platforms[platform].program, runtime.program),
    plain('scheduled-events-bridge.cjs', bundle),
    plain('CHANGELOG.md', readFileSync(join(root, 'CHANGELOG.md'))),
    plain('LICENSE', readFileSync(join(root, 'LICENSE'))),
    plain(
      'THIRD-PARTY-LICENSES.txt',
      thirdPartyLicences(bundled.packages, {
        root,
        node: runtime,
        compiledIn: platform === 'win-x64' ? [startUpCode()] : [],
      }),
    ),
    plain('sbom.cdx.json', sbom({ version, platform, ...bundled, runtime, serviceHost, at })),
    ...ofSystem,
  ];
  const manifest = plain(manifestName, manifestOf(files, { version, platform, node: runtime.version }));
  const signature = key === null ? [] : [plain(signatureName, signatureOf(manifest.content, key))];
  return [...files, manifest, ...signature].toSorted(byPath);
}

const plain = (path: string, content: Buffer | string): PackedFile => ({
  path,
  mode: 0o644,
  content: Buffer.from(content),
});
const executable = (path: string, content: Buffer | string): PackedFile => ({
  path,
  mode: 0o755,
  content: Buffer.from(content),
});
const source = (...path: readonly string[]): Buffer => readFileSync(join(root, 'infra', ...path));

/** install and update are one script, which does as it is called. */
function linuxFiles(): PackedFile[] {
  const script = (name: string, as = name): PackedFile => executable(as, source('package/scripts', name));
  const unit = 'scheduled-events-bridge.service';
  return [
    ...['install.sh', 'remove.sh', 'scheduled-events-bridge'].map((name) => script(name)),
    script('install.sh', 'update.sh'),
    plain(unit, source('systemd', unit)),
  ];
}

/** The compiler links it into every program for Windows. */
const startUpCode = () => ({
  title: `mingw-w64, the start-up code in ${serviceHostName}`,
  text: source('windows/service-host/LICENSE.mingw-w64').toString('utf8').trim(),
});

/** cmd.exe does not find every label of a script with the line ends of Unix. */
function windowsFiles(serviceHost: Buffer | undefined): PackedFile[] {
  if (serviceHost === undefined) throw new Error('The package for Windows needs the service host.');
  const script = (name: string, as = name): PackedFile =>
    executable(as, source('package/windows', name).toString('utf8').replaceAll(/\r?\n/g, '\r\n'));
  const definition = 'windows-service.json';
  return [
    ...['install.cmd', 'remove.cmd', 'scheduled-events-bridge.cmd'].map((name) => script(name)),
    script('install.cmd', 'update.cmd'),
    executable(serviceHostName, serviceHost),
    plain(definition, source('windows', definition)),
  ];
}
