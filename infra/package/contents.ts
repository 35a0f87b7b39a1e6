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
import { sbom } from './sbom.ts';

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
  /** Signs the manifest; null: unsigned. */
  readonly key: KeyObject | null;
}

/** Every file of the package for a platform, sorted, the manifest with them. Windows has no installer yet. */
export function contentsOf({ platform, program, runtime, at, key }: PackageContext): PackedFile[] {
  const { version, bundle, bundled } = program;
  const plain = (path: string, content: Buffer | string): PackedFile => ({
    path,
    mode: 0o644,
    content: Buffer.from(content),
  });
  const executable = (path: string, content: Buffer): PackedFile => ({ path, mode: 0o755, content });
  const script = (name: string, as = name): PackedFile =>
    executable(as, readFileSync(join(import.meta.dirname, 'scripts', name)));
  const unit = 'scheduled-events-bridge.service';
  const files = [
    executable(platforms[platform].program, runtime.program),
    plain('scheduled-events-bridge.cjs', bundle),
    plain('CHANGELOG.md', readFileSync(join(root, 'CHANGELOG.md'))),
    plain('LICENSE', readFileSync(join(root, 'LICENSE'))),
    plain('THIRD-PARTY-LICENSES.txt', thirdPartyLicences(bundled.packages, { root, node: runtime })),
    ...(platform === 'win-x64'
      ? []
      : [
          ...['install.sh', 'remove.sh', 'scheduled-events-bridge'].map((name) => script(name)),
          // It does as it is called.
          script('install.sh', 'update.sh'),
          plain(unit, readFileSync(join(root, 'infra/systemd', unit))),
          plain('sbom.cdx.json', sbom({ version, platform, ...bundled, runtime, at })),
        ]),
  ];
  const manifest = plain(manifestName, manifestOf(files, { version, platform, node: runtime.version }));
  const signature = key === null ? [] : [plain(signatureName, signatureOf(manifest.content, key))];
  return [...files, manifest, ...signature].toSorted(byPath);
}
