import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { until } from '../support/until.ts';
import { isEmpty, isGone, makeControlGroup } from './control-group.ts';
import { images, namespaces, type System } from './image.ts';
import { ownName } from './own-name.ts';

/** How a command in the machine ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Given {
  readonly cwd?: string;
  /** For its standard input. */
  readonly input?: string;
}

/** A Linux with its own systemd as process 1. */
export interface BootedMachine {
  readonly name: string;
  /** Of this boot. */
  readonly bootId: string;
  /** A folder of ours, which is its `/media`. */
  readonly media: string;
  /** Runs a command line as root, with `/bin/bash`. */
  run(line: string, options?: Given): Promise<Ended>;
  /** The same for one that has to succeed. @returns what it printed, without the last end of line. @throws with what it said. */
  ok(line: string, options?: Given): Promise<string>;
  /** Returns when everything has stopped. */
  powerOff(): Promise<void>;
  /** Everything ends at once, without a signal. What was written is there at the next boot, synced or not. */
  cutPower(): Promise<void>;
  /** On the same disk, with another boot id. */
  boot(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const bootMs = 60_000;

interface Kind {
  readonly system?: System;
  /** A process whose network it shares. Default: this one. */
  readonly networkOf?: number;
}

/** Makes a machine and boots it. `packages`: a folder of ours, which is its `/srv`. */
export async function bootMachine(
  name: string,
  packages: string,
  { system = 'Debian 13', networkOf = process.pid }: Kind = {},
): Promise<BootedMachine> {
  const folder = mkdtempSync(join(tmpdir(), `machine-${name}-`));
  const [disk, media, bootIdFile] = ['disk', 'media', 'boot_id'].map((one) => join(folder, one)) as [
    string,
    string,
    string,
  ];
  for (const made of [disk, media]) mkdirSync(made, { mode: 0o755 });
  const group = makeControlGroup(ownName(name));
  let init: { readonly outside: ChildProcess; readonly pid: number; readonly said: Promise<string> } | null = null;
  let bootId = '';

  async function boot(): Promise<void> {
    bootId = randomUUID();
    writeFileSync(bootIdFile, `${bootId}\n`);
    const script = join(import.meta.dirname, 'boot.sh');
    // Into a group of its own first: a control group namespace begins where its first process is. It ends with us, however we end.
    const line = 'echo $$ >"$0/cgroup.procs" && exec setpriv --pdeathsig KILL nsenter "$@"';
    const boots = [script, images[system], disk, media, packages, bootIdFile, name];
    const child = spawn(
      'bash',
      ['-c', line, group, `--net=/proc/${networkOf}/ns/net`, 'unshare', ...namespaces, ...boots],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const said = Promise.all([text(child.stdout), text(child.stderr)]).then((both) => both.join(''));
    const pid = await until(() => onlyChildOf(child.pid), { what: 'the first process of the machine' });
    init = { outside: child, pid, said };
    await until(
      async () => {
        if (child.exitCode !== null) throw new Error(`The machine does not boot: ${await said}`);
        // Before that its disk is not its root yet. A question that systemd is not ready for may wait for a minute.
        if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() !== 'systemd') return false;
        const { out } = await run('timeout 1 systemctl is-system-running');
        return ['running', 'degraded'].includes(out.trim());
      },
      { timeoutMs: bootMs, everyMs: 200, what: 'a booted machine' },
    );
  }

  async function run(line: string, { cwd = '/', input = '' }: Given = {}): Promise<Ended> {
    const plain = [
      'env',
      '-i',
      'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      'HOME=/root',
      'LC_ALL=C',
    ];
    const inside = [...plain, 'bash', '-c', `cd ${cwd} && ${line}`];
    const child = spawn('nsenter', ['-t', String(init?.pid), '-m', '-p', '-u', '-i', '-n', '-C', '--', ...inside]);
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    const [out, err] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise((resolve) => child.once('close', resolve)),
    ]);
    return { code: child.exitCode, out, err };
  }

  async function stopped(): Promise<void> {
    const child = init?.outside;
    if (!child) return;
    await until(() => child.exitCode !== null || child.signalCode !== null, {
      timeoutMs: 120_000,
      what: 'the end of the machine',
    });
    init = null;
  }

  async function cutPower(): Promise<void> {
    init?.outside.kill('SIGKILL');
    await stopped();
    await until(() => isEmpty(group), { what: 'the end of its processes' });
  }

  async function end(): Promise<void> {
    await cutPower();
    await until(() => isGone(group), { what: 'the end of its control groups' });
    rmSync(folder, { recursive: true, force: true });
  }

  try {
    await boot();
  } catch (error) {
    await end();
    throw error;
  }
  return {
    name,
    media,
    boot,
    run,
    get bootId() {
      return bootId;
    },
    async ok(line, options) {
      const { code, out, err } = await run(line, options);
      if (code !== 0) throw new Error(`"${line}" ended with ${code}:\n${out}${err}`);
      return out.replace(/\n$/, '');
    },
    async powerOff() {
      await run('systemctl poweroff --no-block');
      await stopped();
    },
    cutPower,
    [Symbol.asyncDispose]: end,
  };
}

function onlyChildOf(pid: number | undefined): number | null {
  const file = `/proc/${pid}/task/${pid}/children`;
  const first = existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ')[0] : '';
  return first ? Number(first) : null;
}
