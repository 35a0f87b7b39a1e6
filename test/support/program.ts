import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { ProgramName } from '../../infra/package/bundle.ts';
import { root } from './source-tree.ts';

/** Where a run of the tests puts the programs, bundled as for a release: they start three times as fast as the sources. */
export const builtPrograms = join(root, 'node_modules/.cache/test');
export const builtFile = (program: ProgramName): string => join(builtPrograms, `${program}.cjs`);

/** What esbuild says of that file: a `Metafile`. */
export const metafileOf = (program: ProgramName): string => join(builtPrograms, `${program}.json`);

/** Where Node keeps the compiled code of tests, and of the programs that they start. */
export const compiledCode = join(root, 'node_modules/.cache/compiled');

const isBuilt = process.env.TEST_PROGRAMS === builtPrograms;
/** The bridge that tests start: what this run has built, else the sources. */
export const mainFile = isBuilt ? builtFile('scheduled-events-bridge') : join(root, 'src/main.ts');
export const simulatorFile = isBuilt
  ? builtFile('scheduled-events-simulator')
  : join(root, 'src/azure-simulator/main.ts');

/** The least environment for a program: nothing of the user's, and Node's cache of compiled code. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { ...(PATH && { PATH }), ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface CommandOptions {
  readonly uid?: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Sends it `signal`. */
  readonly kill?: AbortSignal;
  readonly signal?: NodeJS.Signals;
}

/** Runs a command of the bridge to its end, without blocking the simulator of the test. */
export async function runCommand(
  args: readonly string[],
  { uid, env = {}, kill, signal = 'SIGKILL' }: CommandOptions = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [mainFile, ...args], {
    env: { ...cleanEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid }),
  });
  kill?.addEventListener('abort', () => child.kill(signal), { once: true });
  const printed = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    printed.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    printed.err += chunk;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return { code: child.exitCode, ...printed };
}
