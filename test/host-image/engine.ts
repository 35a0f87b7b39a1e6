import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../support/source-tree.ts';
import { until } from '../support/until.ts';

/** What `prepare` fetches. */
export const place = join(root, 'node_modules/.cache/host-image');
const unpacked = ['usr/bin', 'usr/sbin'].map((folder) => join(place, 'engine', folder));
/** Tools of an administrator are not on everybody's path. */
const path = [...unpacked, process.env.PATH, '/usr/sbin', '/sbin'].join(':');
const dockerd = join(place, 'engine/usr/sbin/dockerd');

export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A container engine of our own: no bridge, no rule of a firewall, and nothing that outlives it. */
export interface Engine {
  docker(...args: readonly string[]): Promise<Ran>;
  /** @throws Error with all that it said, where it does not end with 0. @returns what it wrote to stdout, without space around it. */
  must(...args: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/** Null: there is one to be had. */
export function whyNoEngine(suite: string): string | null {
  if (process.getuid?.() !== 0) return 'only root can start a container engine';
  if (!existsSync(dockerd) || !existsSync(join(place, `${suite}.tar`))) {
    return 'there is no container engine, or no base: test/host-image/prepare fetches them and says why it cannot';
  }
  return null;
}

/** @throws Error with the end of its log, where it does not start. */
export async function startEngine(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'));
  const socket = `unix://${folder}/socket`;
  const logFile = join(folder, 'log');
  const log = openSync(logFile, 'w');
  const places = ['--data-root', `${folder}/data`, '--exec-root', `${folder}/exec`, '--pidfile', `${folder}/pid`];
  const child = spawn(
    dockerd,
    ['--iptables=false', '--ip6tables=false', '--bridge=none', '--host', socket, ...places],
    {
      env: { ...process.env, PATH: path },
      stdio: ['ignore', log, log],
    },
  );
  closeSync(log);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));

  // Not synchronous: what is in the containers talks to the simulator of this very process.
  const docker: Engine['docker'] = (...args) =>
    new Promise((resolve) => {
      const env = { ...process.env, PATH: path, DOCKER_BUILDKIT: '0' }; // the other builder is a program that is not there
      const options = { encoding: 'utf8', env, maxBuffer: 64 * 1024 * 1024 } as const;
      const client: ChildProcess = execFile('docker', ['--host', socket, ...args], options, (error, stdout, stderr) =>
        resolve({ status: client.exitCode ?? -1, stdout, stderr: stderr || (error?.message ?? '') }),
      );
    });
  const must: Engine['must'] = async (...args) => {
    const { status, stdout, stderr } = await docker(...args);
    if (status !== 0) throw new Error(`docker ${args.join(' ')} ended with ${status}:\n${stdout}\n${stderr}`);
    return stdout.trim();
  };
  async function close(): Promise<void> {
    const containers = (await docker('ps', '--all', '--quiet')).stdout.split('\n').filter(Boolean);
    if (containers.length > 0) await docker('rm', '--force', '--volumes', ...containers);
    child.kill('SIGTERM');
    await exited;
    unmountBelow(folder);
    rmSync(folder, { recursive: true, force: true });
  }
  try {
    await until(async () => child.exitCode !== null || (await docker('version')).status === 0, {
      timeoutMs: 60_000,
      what: 'the container engine',
    });
    if (child.exitCode !== null) throw new Error('The container engine has ended.');
  } catch (error) {
    const told = readFileSync(logFile, 'utf8').slice(-2000);
    await close();
    throw new Error(`${String(error)}\n${told}`, { cause: error });
  }
  return { docker, must, close };
}

/** What the engine leaves mounted: else it could not be removed, and what is mounted could be. */
function unmountBelow(folder: string): void {
  const mounted = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((at) => at.startsWith(`${folder}/`));
  for (const at of mounted.toReversed()) spawnSync('umount', ['--lazy', at]);
}
