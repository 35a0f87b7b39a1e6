import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hierarchies, isGone } from '../host-install/control-group.ts';
import { cache } from '../host-install/image.ts';
import { ownName } from '../host-install/own-name.ts';
import { until } from '../support/until.ts';

/** What `prepare` fetches. */
const unpacked = join(cache, 'engine-1');
export const baseArchive = (suite: string): string => join(cache, `base-${suite}-1.tar`);
/** Administrator tools are not on the PATH of every user. */
const path = [join(unpacked, 'usr/bin'), join(unpacked, 'usr/sbin'), process.env.PATH, '/usr/sbin', '/sbin'].join(':');
const dockerd = join(unpacked, 'usr/sbin/dockerd');

/**
 * What runs it in mounts and processes of its own, which end with us, however we end. Not with the containerd of this machine: there its
 * containers would be among those of an engine that runs here already, under the same name.
 */
const apart = [
  ...['--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c'],
  'mount -t proc proc /proc && mkdir -p /run/containerd && mount -t tmpfs tmpfs /run/containerd && exec "$0" "$@"',
];

export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A container engine of our own: no bridge, no rule of a firewall, and nothing that outlives us. */
export interface Engine {
  docker(...args: readonly string[]): Promise<Ran>;
  /** @throws Error with all that it said, where it does not end with 0. @returns what it wrote to stdout, without space around it. */
  must(...args: readonly string[]): Promise<string>;
  /** `docker build`, with the network of this machine and the proxies of this process. */
  build(...args: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/** Null: there is one to be had. */
export function whyNoEngine(suite: string): string | null {
  if (process.getuid?.() !== 0) return 'only root can start a container engine';
  if (!existsSync(dockerd) || !existsSync(baseArchive(suite))) {
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
  const network = ['--iptables=false', '--ip6tables=false', '--bridge=none', '--host', socket];
  // Without the systemd of this machine, which would not know its processes by the same numbers.
  const group = ownName('engine');
  const groups = ['--exec-opt', 'native.cgroupdriver=cgroupfs', '--cgroup-parent', group];
  const child = spawn('setpriv', [...apart, dockerd, ...network, ...places, ...groups], {
    env: { ...process.env, PATH: path },
    stdio: ['ignore', log, log],
  });
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
  const build: Engine['build'] = (...args) => must('build', '--network', 'host', ...proxies(), ...args);
  async function close(): Promise<void> {
    child.kill('SIGKILL');
    await exited;
    const left = hierarchies().map((hierarchy) => join(hierarchy, group));
    await until(() => left.filter((one) => existsSync(one)).every(isGone), { what: 'the end of the containers' });
    rmSync(folder, { recursive: true, force: true });
  }
  try {
    await until(async () => child.exitCode !== null || (await docker('version')).status === 0, {
      timeoutMs: 60_000,
      what: 'the container engine',
    });
    if (child.exitCode !== null) throw new Error('The container engine has ended.');
  } catch (error) {
    const output = readFileSync(logFile, 'utf8').slice(-2000);
    await close();
    throw new Error(`${String(error)}\n${output}`, { cause: error });
  }
  return { docker, must, build, close };
}

/** Known in every Dockerfile: https://docs.docker.com/build/building/variables/#proxy-arguments */
const proxies = (): string[] =>
  ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']
    .flatMap((name) => [name, name.toLowerCase()])
    .filter((name) => process.env[name])
    .flatMap((name) => ['--build-arg', name]);
