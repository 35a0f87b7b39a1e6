import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { demo, oneVm } from '../../src/azure-simulator/demo/shows.ts';
import { rollingMaintenance } from '../../src/azure-simulator/demo/web/timeline.ts';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import { Failure } from '../../src/cli/exit-codes.ts';
import type { PageView, Trace } from '../../src/fleet-page/answers.ts';
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
      env: cleanEnvironment(),
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

  test('with --web shows on the page what was planned, and ends with Ctrl+C', async ({ expect }) => {
    using directory = temporaryDirectory('demo-web');
    const { child, output, ended } = startDemo(directory.path, '--web', '--speed', '2000');
    const [, url = ''] = await until(() => /open (http:\S+\/)\?window=1h\n/.exec(output.out), { what: 'the page' });
    const following = new AbortController();
    let changes = '';
    const stream = await fetch(`${url}changes`, { signal: following.signal });
    const reading = (async () => {
      for await (const chunk of stream.body ?? []) changes += Buffer.from(chunk).toString();
    })().catch(() => {});
    await until(() => output.out.includes('All is over: '), { timeoutMs: 120_000, what: 'the end' });
    const { events, vms, lengthSeconds } = rollingMaintenance();
    const pageShows = async () => (await (await fetch(`${url}view?window=6h`)).json()) as PageView;
    const view = await until(
      async () => {
        const shown = await pageShows();
        return shown.open.total === 0 && shown.past.total === events.length ? shown : null;
      },
      { timeoutMs: 60_000, what: 'all events to be over' },
    );
    expect(changes).toContain('event: changed');
    const lostState = events
      .filter(({ impact }) => impact === 'restart-without-state')
      .map(({ vms: [vm] }) => vm?.name);
    expect(view.reading).toEqual({
      isHistoryRead: true,
      problems: [],
      notes: lostState.map((name) => expect.stringMatching(new RegExp(`^${name} lost its state after \\d\\d:\\d\\d`))),
    });
    expect(view.knownVms).toBe(vms.length);

    // All times of the timeline are multiples of the five seconds between two polls, so each is seen on time.
    const beginsAt = (view.lastRecordAt ?? 0) - 1000 * Math.max(...events.map(({ removedAt }) => removedAt));
    expect(beginsAt + 1000 * lengthSeconds).toBeLessThanOrEqual(Date.now() + 1000);
    const since = (time: number | null): number | null => time && (time - beginsAt) / 1000;
    const outcomes: Readonly<Record<string, string | null>> = {
      pause: 'Completed',
      restart: 'Completed',
      move: 'Completed',
      // No VM is left that could report the end, or knows of the event: it is presumed.
      'restart-without-state': null,
      deletion: null,
    };
    const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
    expect(
      view.past.rows
        .map(({ eventType, vmCount, sets, announcedAt, startedAt, outcome }) => ({
          name: `${eventType} ${since(announcedAt)}`,
          vmCount,
          sets,
          startedAt: since(startedAt),
          outcome,
        }))
        .sort(byName),
    ).toEqual(
      events
        .map(({ eventType, vms: affected, announcedAt, startedAt, impact }) => ({
          name: `${eventType} ${announcedAt}`,
          vmCount: affected.length,
          sets: [affected[0]?.set],
          startedAt,
          outcome: impact === null ? 'Canceled' : outcomes[impact],
        }))
        .sort(byName),
    );
    const hosts = await Promise.all(
      view.past.rows.map(async ({ eventId }) => {
        const trace = (await (await fetch(`${url}trace?event=${eventId}`)).json()) as Trace;
        return trace.views.rows.flatMap(({ vm, host }) => (host === null ? [] : [vm]));
      }),
    );
    expect(hosts.flat()).toEqual(
      events.filter(({ impact }) => impact === 'move').flatMap(({ vms: moved }) => moved.map(({ name }) => name)),
    );
    following.abort();
    await reading;
    child.kill('SIGINT');
    expect({ code: await ended, err: output.err }).toEqual({ code: 0, err: '' });
    expect(readdirSync(directory.path)).toEqual([]);
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
