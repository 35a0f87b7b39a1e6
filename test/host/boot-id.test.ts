import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readBootId } from '../../src/host/boot-id.ts';
import { createFakeClock } from '../support/fake-clock.ts';

describe('the boot id on Linux', () => {
  function read(text: string | null): string | null {
    const root = mkdtempSync(join(tmpdir(), 'boot-id-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    mkdirSync(join(root, 'proc/sys/kernel/random'), { recursive: true });
    if (text !== null) writeFileSync(join(root, 'proc/sys/kernel/random/boot_id'), text);
    return readBootId({
      platform: 'linux',
      root,
      clock: createFakeClock(),
      stored: 'booted-at-2026-01-01T00:00:00.000Z',
    });
  }

  test('is the one of the kernel', () => {
    expect(read('3E2F6A3C-6A52-4D42-9B52-1B1B0E0F7C11\n')).toBe('3e2f6a3c-6a52-4d42-9b52-1b1b0e0f7c11');
  });

  test.each([null, '', '\n', 'no such thing'])('is unknown when the kernel has %j', (text) => {
    expect(read(text)).toBeNull();
  });

  test.runIf(process.platform === 'linux')('is the same twice on this machine', () => {
    const options = { platform: 'linux', root: '/', clock: createFakeClock(), stored: null } as const;
    expect(readBootId(options)).toMatch(/^[0-9a-f-]{36}$/);
    expect(readBootId(options)).toBe(readBootId(options));
  });
});

describe('the boot id on Windows', () => {
  const read = ({ stored = null as string | null, uptime = 1000, stepMs = 0 } = {}) => {
    const clock = createFakeClock('2026-01-01T12:00:00.000Z');
    clock.stepWall(stepMs);
    return readBootId({
      platform: 'win32',
      root: '/',
      clock,
      stored,
      uptimeSeconds: () => uptime,
    });
  };

  test('is the time of the boot', () => {
    expect(read()).toBe('booted-at-2026-01-01T11:43:20.000Z');
  });

  test('stays equal over a hibernation, which the time since the boot includes', () => {
    const stored = read({ uptime: 1000 });
    expect(read({ stored, uptime: 1000 + 86_400, stepMs: 86_400_000 })).toBe(stored);
  });

  test('stays equal within one boot though the clocks wobble, and differs after another', () => {
    const stored = read();
    expect(read({ stored, stepMs: 119_000 })).toBe(stored);
    expect(read({ stored, stepMs: -119_000 })).toBe(stored);
    expect(read({ stored, stepMs: 121_000 })).not.toBe(stored);
    expect(read({ stored, uptime: 30 })).not.toBe(stored);
    expect(read({ stored: 'windows-boot-77' })).toBe(stored);
    expect(read({ stored: 'booted-at-noon' })).toBe(stored);
    expect(read({ uptime: Number.NaN })).toBeNull();
  });
});

test('the boot id of another system is unknown', () => {
  expect(readBootId({ platform: 'darwin', root: '/', clock: createFakeClock(), stored: 'x' })).toBeNull();
});
