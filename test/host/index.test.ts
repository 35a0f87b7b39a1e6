import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openHost } from '../../src/host/index.ts';
import type { HostEvidence } from '../../src/lifecycle/scheduled-event.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { poolOf } from './pool.ts';

describe('a reading', () => {
  test('is what the lifecycle takes for evidence', () => {
    const reading: HostEvidence = { bootId: null, physicalHost: null, tick: null, wallStepMs: 0 };
    expect(reading satisfies HostEvidence).toBe(reading);
  });

  test('has the boot id, the physical host and the clocks', async () => {
    const root = mkdtempSync(join(tmpdir(), 'host-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    mkdirSync(join(root, 'proc/sys/kernel/random'), { recursive: true });
    writeFileSync(join(root, 'proc/sys/kernel/random/boot_id'), '3e2f6a3c-6a52-4d42-9b52-1b1b0e0f7c11\n');
    mkdirSync(join(root, 'var/lib/hyperv'), { recursive: true });
    writeFileSync(join(root, 'var/lib/hyperv/.kvp_pool_3'), poolOf({ PhysicalHostNameFullyQualified: 'AMS21' }));
    const clock = createFakeClock();
    const host = openHost({ clock, platform: 'linux', root });
    const facts = { bootId: '3e2f6a3c-6a52-4d42-9b52-1b1b0e0f7c11', physicalHost: 'AMS21', tick: null };
    await clock.advance(5000);
    expect(host.evidence()).toEqual({ ...facts, wallStepMs: 0 });
    clock.stepWall(3000);
    await clock.advance(1000);
    expect(host.evidence()).toEqual({ ...facts, wallStepMs: 3000 });
    clock.stepWall(-500);
    expect(host.evidence()).toEqual({ ...facts, wallStepMs: -500 });
    host.watchImpact(true);
    await clock.advance(1000);
    expect(host.evidence()).toEqual({ ...facts, tick: { longestMs: 0, totalMs: 0 }, wallStepMs: 0 });
    host.close();
    expect(clock.sleepers()).toBe(0);
    expect(host.bootId()).toBe(facts.bootId);
  });

  test('is unknown on a machine without any of them', () => {
    const host = openHost({ clock: createFakeClock(), platform: 'darwin' });
    expect(host.evidence()).toEqual({ bootId: null, physicalHost: null, tick: null, wallStepMs: 0 });
    host.close();
  });
});

describe.runIf(process.platform !== 'win32')('a real process', () => {
  /** Runs the process that measures itself. */
  async function startMeasured() {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'paused-process.ts')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const nextLine = async (): Promise<string> => String((await lines.next()).value);
    expect(await nextLine()).toBe('ready');
    const send = (command: string): boolean => child.stdin.write(`${command}\n`);
    const read = async (): Promise<HostEvidence> => {
      send('read');
      return JSON.parse(await nextLine()) as HostEvidence;
    };
    return { child, send, read };
  }

  test('measures once how long the process was stopped', async () => {
    const { child, send, read } = await startMeasured();
    await read();
    child.kill('SIGSTOP');
    const stoppedMs = performance.now();
    await sleep(2000); // the pause itself
    const atLeastMs = performance.now() - stoppedMs;
    child.kill('SIGCONT');
    const { tick, wallStepMs } = await read();
    expect(tick?.longestMs).toBeGreaterThan(atLeastMs - 250);
    expect(tick?.totalMs).toBeGreaterThanOrEqual(tick?.longestMs ?? 0);
    expect(Math.abs(wallStepMs)).toBeLessThan(500);
    const after = await read();
    expect(after.tick?.longestMs).toBeLessThan(1500);
    send('unwatch');
    expect((await read()).tick).toBeNull();
    child.stdin.end();
  });

  test('does not measure its own work as a pause', async () => {
    const { child, send, read } = await startMeasured();
    await read();
    send('work');
    const { tick } = await read();
    expect(tick?.longestMs).toBeLessThan(1500);
    child.stdin.end();
  });

  test('lets the process end once it stops watching', async () => {
    const { child } = await startMeasured();
    const exited = new Promise((resolve) => child.on('exit', resolve));
    child.stdin.end();
    expect(await exited).toBe(0);
  });
});
