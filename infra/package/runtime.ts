import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type PlatformName, platforms } from './platforms.ts';

/** Node for a platform, exactly as the lock file pins it. */
export interface Runtime {
  /** The npm package that it comes in. */
  readonly name: string;
  readonly version: string;
  /** `sha512-…` of what npm has. */
  readonly integrity: string;
  readonly program: Buffer;
  /** Of Node and of all that is compiled into it. */
  readonly licence: string;
}

/** What of `package-lock.json` is read here. */
export interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>;
}

/** Puts `<name>-<version>.tgz` into a folder. */
export type Fetch = (spec: string, into: string) => Promise<void>;

interface Options {
  readonly lock: Lock;
  /** Where archives are kept from one build to the next. */
  readonly cache: string;
  readonly fetch?: Fetch;
}

/** @throws Error where what npm has is not what the lock file pins. */
export async function runtimeFor(platform: PlatformName, options: Options): Promise<Runtime> {
  const { runtime: name, binary, licenceFrom } = platforms[platform];
  const { archive, version, integrity } = await fetched(name, options);
  const licences = licenceFrom === name ? archive : (await fetched(licenceFrom, options)).archive;
  return {
    name,
    version,
    integrity,
    program: await member(archive, `package/${binary}`),
    licence: (await member(licences, 'package/LICENSE')).toString('utf8'),
  };
}

async function fetched(name: string, { lock, cache, fetch = fromRegistry }: Options) {
  const { version, integrity } = lock.packages[`node_modules/${name}`] ?? {};
  if (!version || !integrity?.startsWith('sha512-')) {
    throw new Error(
      `package-lock.json pins no ${name} with a SHA-512: it is among the optional dependencies, see npm install.`,
    );
  }
  const archive = join(cache, `${name}-${version}.tgz`);
  if (!existsSync(archive) || sha512Of(archive) !== integrity) {
    mkdirSync(cache, { recursive: true });
    await fetch(`${name}@${version}`, cache);
    const found = sha512Of(archive);
    if (found !== integrity) {
      rmSync(archive);
      throw new Error(`${name}@${version} is not what package-lock.json pins: expected ${integrity}, found ${found}.`);
    }
  }
  return { archive, version, integrity };
}

const sha512Of = (path: string): string => `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`;

const run = promisify(execFile);

const fromRegistry: Fetch = async (spec, into) => {
  await run('npm', ['pack', spec, '--prefer-offline', '--silent', '--pack-destination', into]);
};

async function member(archive: string, path: string): Promise<Buffer> {
  const { stdout } = await run('tar', ['-xzOf', archive, path], { encoding: 'buffer', maxBuffer: 2 ** 30 });
  return stdout;
}
