import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { version } from '../../src/process/version.ts';
import { root } from './contents.ts';

/** The program, or one sentence why it cannot be built here. */
export type ServiceHost = { readonly program: Buffer } | { readonly whyNot: string };

const sources = join(root, 'infra/windows/service-host');
const prefix = 'x86_64-w64-mingw32-';
/** The Debian that `test/wine/prepare` makes has a compiler for Windows. */
const debian = join(process.env.HOST_TESTS_CACHE ?? '/var/cache/scheduled-events-bridge-tests', 'wine-2');

const run = promisify(execFile);

/** Where the compiler is: the root of another system, null for this one. */
interface Compiler {
  readonly root: string | null;
}

/**
 * Builds `scheduled-events-bridge-service.exe`, which runs the bridge as a service of Windows. The same compiler makes the same file of
 * the same sources; it is kept for the next call.
 */
export async function serviceHost(): Promise<ServiceHost> {
  const compiler = findCompiler();
  if (compiler === null) {
    return {
      whyNot:
        'The service host of Windows needs a C compiler for Windows: install gcc-mingw-w64-x86-64, or run test/wine/prepare as root.',
    };
  }
  const kept = join(root, 'node_modules/.cache/service-host', `${await fingerprint(compiler)}.exe`);
  if (!existsSync(kept)) {
    mkdirSync(join(kept, '..'), { recursive: true });
    const draft = `${kept}.${process.pid}`;
    writeFileSync(draft, await build(compiler));
    renameSync(draft, kept);
  }
  return { program: readFileSync(kept) };
}

/** Builds it, whatever is kept. @throws Error with what the compiler says. */
export async function build(compiler: Compiler): Promise<Buffer> {
  const folder = mkdtempSync(join(compiler.root ?? '', tmpdir(), 'service-host-'));
  try {
    cpSync(sources, folder, { recursive: true });
    const inside = compiler.root === null ? folder : folder.slice(compiler.root.length);
    for (const [program, ...args] of steps()) await call(compiler, inside, [`${prefix}${program}`, ...args]);
    return readFileSync(join(folder, output));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const output = 'scheduled-events-bridge-service.exe';

/** What to call, one after the other, in the folder of the sources. */
function steps(): readonly (readonly [program: string, ...args: readonly string[]])[] {
  const numbers = [...version.split('.').map((part) => Number.parseInt(part, 10)), 0].slice(0, 4).join(',');
  const files = readdirSync(sources).filter((name) => name.endsWith('.c'));
  return [
    ['windmc', '-b', 'messages.mc'],
    [
      'windres',
      `-DHOST_VERSION=\\"${version}\\"`,
      `-DHOST_VERSION_NUMBERS=${numbers}`,
      'service-host.rc',
      '-O',
      'coff',
      'resources.o',
    ],
    [
      'gcc',
      ...[
        '-std=c11',
        '-Os',
        '-municode',
        '-mconsole',
        '-DUNICODE',
        '-D_UNICODE',
        '-DWIN32_LEAN_AND_MEAN',
        '-D_WIN32_WINNT=0x0A00',
      ],
      `-DHOST_VERSION="${version}"`,
      ...[
        '-Wall',
        '-Wextra',
        '-Werror',
        '-Wconversion',
        '-Wshadow',
        '-Wvla',
        '-Wwrite-strings',
        '-Wformat=2',
        '-Wno-format-nonliteral',
      ],
      ...['-fstack-protector-strong', '-D_FORTIFY_SOURCE=2', '-static', '-s'],
      ...['--dynamicbase', '--nxcompat', '--high-entropy-va', '--no-insert-timestamp'].map((flag) => `-Wl,${flag}`),
      ...[...files, 'resources.o', '-o', output],
      ...['-ladvapi32'],
    ],
  ];
}

async function call(compiler: Compiler, folder: string, command: readonly string[]): Promise<string> {
  const [program = '', ...args] =
    compiler.root === null
      ? ['env', '-C', folder, ...command]
      : ['chroot', compiler.root, 'env', '-i', '-C', folder, 'PATH=/usr/bin:/bin', ...command];
  try {
    return (await run(program, args, { env: { PATH: `${process.env.PATH}${delimiter}/usr/sbin`, LC_ALL: 'C' } }))
      .stdout;
  } catch (error) {
    const { stderr } = error as { readonly stderr?: string };
    throw new Error(`${command[0]} failed for the service host:\n${stderr || String(error)}`);
  }
}

/** The one in PATH, else the one of the tests, which only root can enter. */
export function findCompiler(): Compiler | null {
  const name = `${prefix}gcc`;
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    if (existsSync(join(folder, name))) return { root: null };
  }
  return process.getuid?.() === 0 && existsSync(debian) ? { root: debian } : null;
}

/** Of all that the program depends on. */
async function fingerprint(compiler: Compiler): Promise<string> {
  const hash = createHash('sha256');
  hash.update(await call(compiler, '/', [`${prefix}gcc`, '--version']));
  hash.update(JSON.stringify(steps()));
  for (const name of readdirSync(sources).toSorted()) hash.update(name).update(readFileSync(join(sources, name)));
  return hash.digest('hex');
}
