import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { root } from '../support/source-tree.ts';
import { baseArchive, type Engine } from './engine.ts';

/** The images that the Dockerfile begins with, unless something else is said: `BUILD_IMAGE`, `RUN_IMAGE`. */
export function baseOf(argument: string): string {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const [, name] = new RegExp(`^ARG ${argument}=(\\S+)$`, 'm').exec(text) ?? [];
  if (name === undefined) throw new Error(`The Dockerfile has no ARG ${argument}.`);
  return name;
}

/** Of Debian, as the tag of the base has it. */
export const suite = (): string => /:([a-z]+)-\d+/.exec(baseOf('RUN_IMAGE'))?.[1] ?? 'unknown';

/** Replaces both base images, since no image can be pulled: the same Debian, one with the Node of the lock file and npm. */
export async function makeBases(engine: Engine): Promise<void> {
  await engine.must('import', baseArchive(suite()), baseOf('RUN_IMAGE'));
  using folder = temporaryDirectory('base');
  cpSync(join(root, `node_modules/node-linux-${process.arch}/bin/node`), join(folder.path, 'node'));
  cpSync(npmFolder(), join(folder.path, 'npm'), { recursive: true, dereference: true });
  cpSync(process.env.NODE_EXTRA_CA_CERTS ?? '/etc/ssl/certs/ca-certificates.crt', join(folder.path, 'authorities.crt'));
  const lines = [
    `FROM ${baseOf('RUN_IMAGE')}`,
    'COPY node /usr/local/bin/node',
    'COPY npm /usr/local/lib/node_modules/npm',
    'COPY authorities.crt /etc/authorities.crt',
    // A mirror of the registry may have a certificate of its own.
    'ENV NODE_EXTRA_CA_CERTS=/etc/authorities.crt',
    'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
  ];
  writeFileSync(join(folder.path, 'Dockerfile'), lines.join('\n'));
  await engine.build('--quiet', '--tag', baseOf('BUILD_IMAGE'), folder.path);
}

/** Where the npm of this machine is. */
function npmFolder(): string {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  const { stdout } = spawnSync('sh', ['-c', 'command -v npm'], {
    encoding: 'utf8',
    env: { PATH: folders.join(delimiter) },
  });
  return dirname(dirname(realpathSync(stdout.trim())));
}

/** glibc, libstdc++ and nothing else: no shell, no tool. */
export async function makeBareBase(engine: Engine, name: string): Promise<void> {
  using folder = temporaryDirectory('bare');
  const libraries = ['ld-linux', 'libc.so', 'libdl.so', 'libgcc_s.so', 'libm.so', 'libpthread.so', 'libstdc++.so'];
  const tree = join(folder.path, 'tree');
  mkdirSync(tree);
  const unpack = spawnSync(
    'tar',
    [
      ...['--extract', '--file', baseArchive(suite()), '--directory', tree, '--wildcards'],
      ...['./lib', './lib64', './tmp', './usr/lib64/*', ...libraries.map((library) => `./usr/lib/*/${library}*`)],
    ],
    { encoding: 'utf8' },
  );
  if (unpack.status !== 0) throw new Error(unpack.stderr);
  const archive = join(folder.path, 'bare.tar');
  spawnSync('tar', ['--create', '--file', archive, '--directory', tree, '.']);
  await engine.must('import', archive, name);
}
