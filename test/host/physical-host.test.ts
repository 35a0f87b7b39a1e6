import { mkdirSync, mkdtempSync, rmSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createPhysicalHost } from '../../src/host/physical-host.ts';
import { createFakeClock, settled } from '../support/fake-clock.ts';
import { poolOf } from './pool.ts';

describe('the physical host on Linux', () => {
  function machine() {
    const root = mkdtempSync(join(tmpdir(), 'physical-host-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    mkdirSync(join(root, 'var/lib/hyperv'), { recursive: true });
    const file = join(root, 'var/lib/hyperv/.kvp_pool_3');
    const { read: physicalHost } = createPhysicalHost({ platform: 'linux', root, clock: createFakeClock() });
    return {
      file,
      physicalHost,
      write: (host: string) => writeFileSync(file, poolOf({ PhysicalHostNameFullyQualified: host })),
    };
  }

  test('is the value of the hypervisor, also after it changes', () => {
    const { file, physicalHost, write } = machine();
    expect(physicalHost()).toBeNull();
    write('AMS21PRDAPP16');
    expect(physicalHost()).toBe('AMS21PRDAPP16');
    expect(physicalHost()).toBe('AMS21PRDAPP16');
    write('AMS21PRDAPP17');
    utimesSync(file, 2000, 2000);
    expect(physicalHost()).toBe('AMS21PRDAPP17');
    unlinkSync(file);
    expect(physicalHost()).toBeNull();
  });

  test('is not read again as long as the file is unchanged', () => {
    const { file, physicalHost, write } = machine();
    write('AMS21PRDAPP16');
    utimesSync(file, 2000, 2000);
    expect(physicalHost()).toBe('AMS21PRDAPP16');
    write('AMS21PRDAPP17');
    utimesSync(file, 2000, 2000);
    expect(physicalHost()).toBe('AMS21PRDAPP16');
  });

  test('is unknown when the hypervisor has only other keys', () => {
    const { file, physicalHost } = machine();
    writeFileSync(file, poolOf({ PhysicalHostName: 'AMS21' }));
    expect(physicalHost()).toBeNull();
  });
});

describe('the physical host on Windows', () => {
  const registryOutput = (host: string): string =>
    `HKEY_LOCAL_MACHINE\r\n    PhysicalHostNameFullyQualified    REG_SZ    ${host}\r\n`;

  test('is read in the background, every five seconds while an impact may come, else every minute', async () => {
    const clock = createFakeClock();
    const answers: (string | null)[] = [registryOutput('AMS16'), registryOutput('AMS17'), null];
    let asked = 0;
    const { read: physicalHost, watch } = createPhysicalHost({
      platform: 'win32',
      root: '/',
      clock,
      queryRegistry: async () => answers[asked++] ?? null,
    });
    await settled();
    expect(physicalHost()).toBe('AMS16');
    await clock.advance(59_999);
    expect(physicalHost()).toBe('AMS16');
    expect(asked).toBe(1);
    await clock.advance(1);
    expect(physicalHost()).toBe('AMS16');
    await settled();
    expect(physicalHost()).toBe('AMS17');
    await clock.advance(5_000);
    physicalHost();
    expect(asked).toBe(2);
    watch(true);
    physicalHost();
    await settled();
    expect(physicalHost()).toBeNull();
    expect(asked).toBe(3);
    await clock.advance(5_000);
    physicalHost();
    expect(asked).toBe(4);
    await settled();
    watch(false);
    await clock.advance(59_999);
    physicalHost();
    expect(asked).toBe(4);
  });

  test('is not read twice at the same time', async () => {
    const clock = createFakeClock();
    let asked = 0;
    const { read: physicalHost } = createPhysicalHost({
      platform: 'win32',
      root: '/',
      clock,
      queryRegistry: () => {
        asked += 1;
        return new Promise(() => {});
      },
    });
    await clock.advance(60_000);
    expect(physicalHost()).toBeNull();
    expect(asked).toBe(1);
  });
});

test('the physical host under another system is unknown', () => {
  expect(createPhysicalHost({ platform: 'darwin', root: '/', clock: createFakeClock() }).read()).toBeNull();
});
