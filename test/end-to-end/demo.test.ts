import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { demo, oneVm } from '../../src/azure-simulator/demo/shows.ts';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import { Failure } from '../../src/cli/exit-codes.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { cleanEnvironment, simulatorFile } from '../support/program.ts';
import { until } from '../support/until.ts';

/** The demo as a person starts it, but without a terminal. All that it writes, it writes under `temporary`. */
function startDemo(temporary: string, ...args: string[]) {
  mkdirSync(temporary, { recursive: true });
  // What a shell may hold for a real bridge is not for this one.
  const foreign = {
    HTTPS_PROXY: 'http://127.0.0.1:9',
    SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_EVENT_HUB_NAME: 'other',
  };
  const env = { ...cleanEnvironment(), TMPDIR: temporary, ...foreign };
  const child = spawn(process.execPath, [simulatorFile, 'demo', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { out: '', err: '' };
  child.stdout.on('data', (data) => (output.out += data));
  child.stderr.on('data', (data) => (output.err += data));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, output, ended };
}

/** Command lines of the processes that have to do with this directory. */
function processesOf(directory: string): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(commandLine).filter((line) => line.includes(directory));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // it has just ended
  }
}

describe.concurrent('the demo', () => {
  test('plays to its end without a terminal, agrees, and leaves nothing behind', async ({ expect }) => {
    using directory = temporaryDirectory('demo');
    const { output, ended } = startDemo(directory.path);
    expect({ code: await ended, err: output.err }).toEqual({ code: 0, err: '' });
    expect(output.out).toContain('They agree: 11 steps, 11 records on the event hub and 11 in the table;');
    expect(output.out).toMatch(/bridge +is frozen.*bridge +is killed.*bridge +starts.*accepts connections again/s);
    expect(output.out).toMatch(/frozen for [1-9]\.\d\d s; the bridge itself measured [1-9]\.\d\d s/);
    expect(output.out).toMatch(/Freeze 2 +scheduled, removed +2 of 2 +2 of 2 +Canceled/);
    expect(output.out).toContain('1 arrived again with the same recordId');
    expect(readdirSync(directory.path)).toEqual([]);
    expect(processesOf(directory.path)).toEqual([]);
  });

  test('with a fleet compares the records of its VMs with the steps of Azure', async ({ expect }) => {
    using directory = temporaryDirectory('demo-fleet');
    const { output, ended } = startDemo(directory.path, '--fleet', '12');
    expect({ code: await ended, err: output.err }).toEqual({ code: 0, err: '' });
    expect(output.out).toContain('all 12 poll');
    expect(output.out).toContain('folded to 15 transitions, which is what Azure issued.');
    // 12 VMs in five update domains, of which two have three VMs: no row says the same as another.
    const rows = [...output.out.matchAll(/^ +(?:(\d) x )?(Reboot of \d VMs .*)/gm)];
    expect(new Set(rows.map(([, , row]) => row)).size, output.out).toBe(rows.length);
    expect(rows.reduce((sum, [, count = '1']) => sum + Number(count), 0)).toBe(5);
    expect(readdirSync(directory.path)).toEqual([]);
    expect(processesOf(directory.path)).toEqual([]);
  });

  test('names the missing step and the destination without it, and fails', async ({ expect }) => {
    using directory = temporaryDirectory('demo-loss');
    let printed = '';
    const losing = (azure: AzureSimulator): AzureSimulator => ({
      ...azure,
      logAnalytics: {
        ...azure.logAnalytics,
        rows: (stream) => azure.logAnalytics.rows(stream).filter(({ Phase }) => Phase !== 'Canceled'),
      },
    });
    const ended = demo(oneVm, {
      directory: directory.path,
      entry: simulatorFile,
      env: { PATH: process.env.PATH },
      stop: new AbortController().signal,
      print: (text) => {
        printed += text;
      },
      through: losing,
      timeoutMs: 20_000,
    });
    const failure = await ended.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({
      reason: 'unexpected',
      message: expect.stringMatching(/see above\.\nThe last lines of its log:\n.*Preempt of this VM: Completed/s),
    });
    expect(printed).toMatch(/Freeze 2 +scheduled, removed +2 of 2 +1 of 2/);
    expect(printed).toMatch(/Freeze [0-9A-F-]{36}: step "end" is missing in the table\./);
    expect(printed).not.toContain('They agree');
  });

  test('stopped in the middle ends at once and leaves nothing behind', async ({ expect }) => {
    using directory = temporaryDirectory('demo-stop');
    const { child, output, ended } = startDemo(directory.path);
    await until(() => output.out.includes('event hub  Freeze Scheduled'), { timeoutMs: 60_000, what: 'a record' });
    child.kill('SIGINT');
    expect({ code: await ended, err: output.err }).toEqual({
      code: 22,
      err: 'Stopped before the end; nothing was compared.\n',
    });
    expect(readdirSync(directory.path)).toEqual([]);
    expect(processesOf(directory.path)).toEqual([]);
  });

  test('killed while its bridge is frozen also ends the bridge', async ({ expect }) => {
    using directory = temporaryDirectory('demo-kill');
    const { child, output, ended } = startDemo(directory.path);
    await until(() => output.out.includes('is frozen'), { timeoutMs: 60_000, what: 'the freeze' });
    expect(processesOf(directory.path)).not.toEqual([]);
    child.kill('SIGKILL');
    await ended;
    await until(() => processesOf(directory.path).length === 0, { what: 'the end of the bridge' });
  });
});
