import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { product, summary } from './distribution.ts';
import { platforms } from './platforms.ts';

/** What a repository is made of. */
export interface RepositoryOrder {
  /** The folder of the repository: what is in it already stays, and is listed again. */
  readonly folder: string;
  /** Where `.deb` and `.rpm` are, as `npm run package` has made them. */
  readonly packages: string;
  /** Fingerprint, or another name that gpg knows, of the OpenPGP key that signs. */
  readonly key: string;
  /** Where the folder will be on the web, without a slash at its end. */
  readonly url: string;
  /** With GNUPGHOME, where gpg has its keys. */
  readonly env: NodeJS.ProcessEnv;
}

/** Program -> package of Debian and Ubuntu. */
const tools = { gpg: 'gnupg', 'apt-ftparchive': 'apt-utils', createrepo_c: 'createrepo-c', rpmsign: 'rpm' } as const;

const architectures = Object.values(platforms).flatMap(({ debian }) => debian ?? []);
const suite = 'stable';
const component = 'main';
export const keyName = `${product}.asc`;

/**
 * Makes a repository for apt (`apt/`) and one for dnf and zypper (`rpm/`), both signed, with the public key and the two files by which
 * a machine takes them. All of it is static: any web server or blob container will do.
 * @returns the packages that it holds. @throws Error where a program is missing, there is no package, or the key cannot sign.
 */
export async function makeRepository(order: RepositoryOrder): Promise<readonly string[]> {
  const { folder, packages, key, url, env } = order;
  const run = runner(env);
  await refuseMissingTools(run);
  const made = readdirSync(packages).filter((name) => name.startsWith(product) && /\.(deb|rpm)$/.test(name));
  if (made.length === 0)
    throw new Error(`There is no .deb and no .rpm in ${packages}: make them with "npm run package".`);
  const [pool, rpms] = [join(folder, 'apt/pool', component), join(folder, 'rpm')];
  for (const one of [pool, rpms]) mkdirSync(one, { recursive: true });
  for (const name of made) {
    const isDeb = name.endsWith('.deb');
    const to = join(isDeb ? pool : rpms, name);
    copyFileSync(join(packages, name), to);
    // apt trusts what its signed list names; dnf proves each package by itself as well.
    if (!isDeb)
      await run('rpmsign', ['--define', `_gpg_name ${key}`, '--define', '__gpg /usr/bin/gpg', '--addsign', to]);
  }
  await indexForApt(join(folder, 'apt'), key, run);
  await indexForRpm(rpms, key, run);
  const { stdout: publicKey } = await run('gpg', ['--batch', '--armor', '--export', key]);
  writeFileSync(join(folder, keyName), publicKey);
  writeFileSync(join(folder, `${product}.sources`), sourcesFor(url));
  writeFileSync(join(folder, `${product}.repo`), repoFor(url));
  return [...readdirSync(pool), ...readdirSync(rpms).filter((name) => name.endsWith('.rpm'))].toSorted();
}

type Run = (program: string, args: readonly string[], cwd?: string) => Promise<{ readonly stdout: string }>;

function runner(env: NodeJS.ProcessEnv): Run {
  const execute = promisify(execFile);
  return async (program, args, cwd) => {
    try {
      return await execute(program, [...args], { cwd, env: { ...env, LC_ALL: 'C' }, maxBuffer: 2 ** 26 });
    } catch (error) {
      const { code, stderr = '' } = error as { readonly code?: unknown; readonly stderr?: string };
      if (code === 'ENOENT') throw error;
      throw new Error(`${program} failed: ${stderr.trim().split('\n').at(-1) ?? ''}`, { cause: error });
    }
  };
}

async function refuseMissingTools(run: Run): Promise<void> {
  const missing: string[] = [];
  for (const [program, debian] of Object.entries(tools)) {
    await run(program, ['--version']).catch(() => missing.push(debian));
  }
  if (missing.length > 0)
    throw new Error(`Programs are missing (Debian and Ubuntu: apt-get install ${missing.join(' ')}).`);
}

/** https://wiki.debian.org/DebianRepository/Format */
async function indexForApt(folder: string, key: string, run: Run): Promise<void> {
  const lists = join(folder, 'dists', suite);
  rmSync(lists, { recursive: true, force: true });
  for (const architecture of architectures) {
    const at = join(lists, component, `binary-${architecture}`);
    mkdirSync(at, { recursive: true });
    const { stdout } = await run('apt-ftparchive', ['--arch', architecture, 'packages', `pool/${component}`], folder);
    writeFileSync(join(at, 'Packages'), stdout);
    writeFileSync(join(at, 'Packages.gz'), gzipSync(stdout, { level: 9 }));
  }
  const about = {
    Origin: product,
    Label: product,
    Suite: suite,
    Codename: suite,
    Architectures: architectures.join(' '),
    Components: component,
    Description: summary,
  };
  const options = Object.entries(about).flatMap(([name, value]) => [
    '-o',
    `APT::FTPArchive::Release::${name}=${value}`,
  ]);
  const { stdout } = await run('apt-ftparchive', [...options, 'release', lists]);
  const release = join(lists, 'Release');
  writeFileSync(release, stdout);
  const sign = ['--batch', '--yes', '--local-user', key, '--digest-algo', 'SHA512'];
  await run('gpg', [...sign, '--clearsign', '--output', join(lists, 'InRelease'), release]);
  await run('gpg', [...sign, '--armor', '--detach-sign', '--output', `${release}.gpg`, release]);
}

/** `gz`: dnf of RHEL 8 reads no newer compression. */
async function indexForRpm(folder: string, key: string, run: Run): Promise<void> {
  await run('createrepo_c', [
    '--quiet',
    '--no-database',
    '--general-compress-type',
    'gz',
    '--checksum',
    'sha256',
    folder,
  ]);
  const index = join(folder, 'repodata/repomd.xml');
  if (existsSync(`${index}.asc`)) rmSync(`${index}.asc`);
  const sign = ['--batch', '--yes', '--local-user', key, '--digest-algo', 'SHA512', '--armor', '--detach-sign'];
  await run('gpg', [...sign, '--output', `${index}.asc`, index]);
}

/** For /etc/apt/sources.list.d, with the key beside it: that key signs this repository, and no other. */
const sourcesFor = (url: string): string => `Types: deb
URIs: ${url}/apt
Suites: ${suite}
Components: ${component}
Signed-By: /etc/apt/keyrings/${keyName}
`;

/** For /etc/yum.repos.d and /etc/zypp/repos.d. */
const repoFor = (url: string): string => `[${product}]
name=${summary}
baseurl=${url}/rpm
enabled=1
gpgcheck=1
repo_gpgcheck=1
gpgkey=${url}/${keyName}
`;
