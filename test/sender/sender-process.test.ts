import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bundle } from '../../infra/package/bundle.ts';
import manifest from '../../package.json' with { type: 'json' };
import { systemClock } from '../../src/clock.ts';
import type { Config } from '../../src/config.ts';
import { silentLog } from '../../src/log.ts';
import { type Child, type Exit, forkChild, openProgram, type Program, senderVerb } from '../../src/sender/channel.ts';
import { createSenderProcess, type SenderProcess, type SenderProcessOptions } from '../../src/sender/sender-process.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { mainFile } from '../support/program.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'broken-program-'));
let brokenProgram: Program;
beforeAll(async () => {
  const file = join(folder, 'broken-program.cjs');
  await bundle(file, { entryPoints: [join(import.meta.dirname, 'broken-program.ts')], minify: false });
  brokenProgram = openProgram(file);
});
afterAll(() => {
  closeSync(brokenProgram.fd ?? Number.NaN);
  rmSync(folder, { recursive: true });
});
const refuse = (): Promise<never> => Promise.reject(new Error('not asked here'));

function open(options: Partial<SenderProcessOptions> = {}): { sender: SenderProcess; warnings: string[] } {
  const warnings: string[] = [];
  const sender = createSenderProcess({
    role: 'event-hubs',
    does: 'sends to the hub',
    start: { config: {} as Config },
    fork: (more) => forkChild({ program: brokenProgram, args: [], env: process.env, ...more }),
    offers: { token: refuse, replaceToken: refuse },
    idleMs: 60_000,
    clock: systemClock,
    log: { ...silentLog, warn: (_, message) => void warnings.push(message) },
    limits,
    ...options,
  });
  onTestFinished(() => sender.close());
  return { sender, warnings };
}

const limits = { hungMs: 20_000, heapMegabytes: 48, memoryMegabytes: 128 };

const send = (sender: SenderProcess, fault: string) => sender.call('send', [Buffer.from(fault)]);

const deaths = [
  {
    fault: 'throws in a timer',
    code: 'sender-exited',
    message: /exit code 1, TypeError: Cannot read properties of undefined/,
  },
  { fault: 'rejects unhandled', code: 'sender-exited', message: /Error: no listener/ },
  { fault: 'fills its heap', code: 'sender-out-of-memory', message: /its limit of 128 MB/ },
  { fault: 'keeps buffers', code: 'sender-out-of-memory', message: /its limit of 128 MB/ },
  { fault: 'keeps buffers without a pause', code: 'sender-out-of-memory', message: /its limit of 128 MB/ },
  { fault: 'blocks', code: 'sender-hung', message: /did not respond for 3 s/ },
  { fault: 'is stopped', code: 'sender-hung', message: /did not respond for 3 s/ },
  { fault: 'is killed', code: 'sender-exited', message: /\(SIGKILL, for instance by the kernel for lack of memory\)/ },
  { fault: 'ends', code: 'sender-exited', message: /\(exit code 7\)/ },
];

describe('a process that dies of what it does', () => {
  test.for(deaths)('one that $fault ends as $code, in words, and the next send has another one', async (death) => {
    const hungMs = death.code === 'sender-hung' ? 3000 : limits.hungMs;
    const { sender, warnings } = open({ limits: { ...limits, hungMs } });
    await expect(send(sender, death.fault)).rejects.toMatchObject({
      failure: { kind: 'retry', cause: 'transient', code: death.code, reason: expect.stringMatching(death.message) },
    });
    await until(() => warnings.some((line) => death.message.test(line)), { what: 'the line in the log' });
    expect(await send(sender, 'is well')).toEqual({ kind: 'delivered' });
    expect(sender.facts).toMatchObject({
      starts: 2,
      deaths: { [death.code]: 1 },
      recentDeaths: 1,
      lastDeath: { code: death.code, reason: expect.stringMatching(death.message) },
    });
  });

  test('all that was on its way with it is answered', async () => {
    const { sender } = open();
    const answers = await Promise.allSettled(
      ['is well', 'rejects unhandled', 'throws in a timer'].map((fault) => send(sender, fault)),
    );
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  });

  test('a program that cannot be started is reported, and retried by the next send', async () => {
    const { sender } = open({
      fork: (more) =>
        forkChild({ program: { path: '/nowhere/bridge.cjs', fd: null }, args: [], env: process.env, ...more }),
    });
    for (const starts of [1, 2]) {
      await expect(send(sender, 'is well')).rejects.toMatchObject({ failure: { code: 'sender-exited' } });
      expect(sender.facts.starts).toBe(starts);
    }
  });
});

test('a sender of another version than the bridge does not start, and its failure advises to restart the service', async () => {
  const program = openProgram(mainFile);
  const args = [senderVerb, 'event-hubs', '0.0.1'];
  const { sender, warnings } = open({ fork: (more) => forkChild({ program, args, env: process.env, ...more }) });
  const message = `replaced by version ${manifest.version} while version 0.0.1 is running. Restart the service.`;
  await expect(send(sender, 'is well')).rejects.toMatchObject({
    failure: { kind: 'retry', code: 'sender-other-version', reason: expect.stringContaining(message) },
  });
  await until(() => warnings.some((line) => line.includes(message)), { what: 'the line in the log' });
});

test.skipIf(process.platform !== 'linux').for([
  { change: 'is replaced', apply: (path: string) => renameSync(`${path}.new`, path) },
  { change: 'is removed', apply: (path: string) => rmSync(path) },
])('a sender runs the program of the bridge also after its file $change', async ({ apply }) => {
  const folder = mkdtempSync(join(tmpdir(), 'sender-program-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'bridge.cjs');
  writeFileSync(path, "process.send('old'); process.disconnect();");
  writeFileSync(`${path}.new`, "process.send('new'); process.disconnect();");
  const program = openProgram(path);
  onTestFinished(() => closeSync(program.fd ?? 0));
  apply(path);
  const child = forkChild({ program, args: [], env: process.env, heapMegabytes: 48, onStderr: () => {} });
  const received: unknown[] = [];
  child.onMessage((message) => void received.push(message));
  expect(await child.exited).toMatchObject({ code: 0, stderr: '' });
  expect(received).toEqual(['old']);
});

test.skipIf(process.platform !== 'linux')(
  'a signal to the process group of the bridge does not reach a sender',
  async () => {
    const { sender } = open();
    await send(sender, 'is well');
    const { pid } = sender.facts;
    expect(execFileSync('ps', ['-o', 'pgid=', '-p', String(pid)], { encoding: 'utf8' }).trim()).toBe(String(pid));
  },
);

describe('a process that cannot start', () => {
  test('a process that cannot start is not kept: the next send starts another one', async () => {
    const { sender } = open({ start: { config: { log: { level: 'refuse to begin' } } as unknown as Config } });
    for (const starts of [1, 2]) {
      await expect(send(sender, 'is well')).rejects.toThrow('what it needs is not there');
      await until(() => sender.facts.pid === null, { what: 'its end' });
      expect(sender.facts.starts).toBe(starts);
    }
  });

  test('near an event it is started again after 30 s, not at once', async () => {
    const clock = createFakeClock();
    const { sender } = open({ fork: refusingToBegin, near: () => true, clock });
    const pollFor = async (seconds: number): Promise<void> => {
      for (let poll = 0; poll < seconds; poll += 1) {
        sender.startAhead();
        await clock.advance(1000);
      }
    };
    await pollFor(20);
    expect(sender.facts).toMatchObject({ pid: null, starts: 1 });
    await pollFor(20);
    expect(sender.facts.starts).toBe(2);
  });
});

/** A child that answers every call with an error, and ends when the channel is closed. */
function refusingToBegin(): Child {
  const { promise: exited, resolve } = Promise.withResolvers<Exit>();
  let listener: (message: unknown) => void = () => {};
  return {
    pid: 0,
    exited,
    post: (messages) =>
      setImmediate(() =>
        listener((messages as { id: number }[]).map(({ id }) => ({ kind: 'threw', id, message: 'refused' }))),
      ),
    onMessage: (added) => {
      listener = added;
    },
    disconnect: () => resolve({ code: 0, signal: null, stderr: '', notStarted: null }),
    kill: () => {},
  };
}

describe('how long a process runs', () => {
  test('no process starts before the first call, and it ends after a while without calls', async () => {
    const { sender, warnings } = open({ idleMs: 300 });
    expect(sender.facts).toMatchObject({ pid: null, starts: 0 });
    await send(sender, 'is well');
    expect(sender.facts.pid).toBeGreaterThan(0);
    await until(() => sender.facts.pid === null, { what: 'the end of the idle process' });
    expect(await send(sender, 'is well')).toEqual({ kind: 'delivered' });
    expect(sender.facts).toMatchObject({ starts: 2, deaths: {} });
    expect(warnings).toEqual([]);
  });

  test('near an event it is started ahead of need, kept while idle, and ended afterwards', async () => {
    const clock = createFakeClock();
    let isNear = false;
    const { sender } = open({ idleMs: 1000, near: () => isNear, clock });
    sender.startAhead();
    expect(sender.facts.starts).toBe(0);
    isNear = true;
    for (const _poll of [1, 2]) sender.startAhead();
    expect(sender.facts).toMatchObject({ pid: expect.any(Number), starts: 1 });
    expect(await send(sender, 'is well')).toEqual({ kind: 'delivered' });
    await clock.advance(5_000);
    expect(sender.facts).toMatchObject({ pid: expect.any(Number), starts: 1 });
    isNear = false;
    await clock.advance(1_000);
    await until(() => sender.facts.pid === null, { what: 'its end after the event' });
    sender.startAhead();
    expect(sender.facts).toMatchObject({ pid: null, starts: 1, deaths: {} });
  });

  test('closing ends it, also one that hangs, and leaves no process', async () => {
    const { sender } = open();
    const hanging = send(sender, 'blocks').catch(() => {});
    await until(() => sender.facts.pid !== null, { what: 'the process' });
    const { pid } = sender.facts;
    await sender.close();
    await hanging;
    expect(() => process.kill(pid ?? 0, 0)).toThrow();
  });

  test('a call that is called off is answered at once, and nothing is started for one that was before', async () => {
    const { sender } = open();
    await expect(sender.call('send', [], AbortSignal.abort())).rejects.toMatchObject({ failure: { code: 'aborted' } });
    expect(sender.facts.starts).toBe(0);
    const callOff = new AbortController();
    const sending = sender.call('send', [Buffer.from('is stopped')], callOff.signal);
    callOff.abort();
    await expect(sending).rejects.toMatchObject({ failure: { code: 'aborted' } });
  });

  test('missed deadlines of a process that has ended still count', async () => {
    const { sender } = open({ idleMs: 1500 });
    await send(sender, 'is well');
    await until(() => sender.deadlines.missed.send === 1, { what: 'its first word' });
    await until(() => sender.facts.pid === null, { what: 'its end' });
    await until(() => sender.deadlines.missed.send === 1, { what: 'the count after its end' });
  });
});
