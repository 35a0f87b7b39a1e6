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
  const counted = '\r\nHKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\r\n    BootId    REG_DWORD    0x4d\r\n\r\n';
  const missing = (): string => {
    throw new Error('The system was unable to find the specified registry key or value.');
  };
  const read = (output: string | null, { stored = null as string | null, uptime = 1000, stepMs = 0 } = {}) => {
    const clock = createFakeClock('2026-01-01T12:00:00.000Z');
    clock.stepWall(stepMs);
    return readBootId({
      platform: 'win32',
      root: '/',
      clock,
      stored,
      uptimeSeconds: () => uptime,
      queryRegistry: output === null ? missing : () => output,
    });
  };

  test('is the count of boots', () => {
    expect(read(counted)).toBe('windows-boot-77');
    expect(read(counted.replace('0x4d', '0x4e'))).toBe('windows-boot-78');
  });

  test('is the time of the boot where boots are not counted', () => {
    expect(read(null)).toBe('booted-at-2026-01-01T11:43:20.000Z');
    expect(read('ERROR')).toBe('booted-at-2026-01-01T11:43:20.000Z');
    expect(read(counted.replace('0x4d', 'many'))).toBe('booted-at-2026-01-01T11:43:20.000Z');
  });

  test('stays equal within one boot though the clocks wobble, and differs after another', () => {
    const stored = read(null);
    expect(read(null, { stored, stepMs: 119_000 })).toBe(stored);
    expect(read(null, { stored, stepMs: -119_000 })).toBe(stored);
    expect(read(null, { stored, stepMs: 121_000 })).not.toBe(stored);
    expect(read(null, { stored, uptime: 30 })).not.toBe(stored);
    expect(read(null, { stored: 'windows-boot-77' })).toBe(stored);
    expect(read(null, { stored: 'booted-at-noon' })).toBe(stored);
    expect(read(null, { uptime: Number.NaN })).toBeNull();
  });
});

test('the boot id of another system is unknown', () => {
  expect(readBootId({ platform: 'darwin', root: '/', clock: createFakeClock(), stored: 'x' })).toBeNull();
});
