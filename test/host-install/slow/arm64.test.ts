import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contentsOf } from '../../../infra/package/contents.ts';
import { sourcesHere } from '../../../infra/package/make-packages.ts';
import { startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import { version } from '../../../src/process/version.ts';
import { configurationFor, temporaryDirectory } from '../../support/bridge-process.ts';
import { hubRecords } from '../../support/delivered.ts';
import { until } from '../../support/until.ts';
import { arm64, whyNoArm64 } from '../image.ts';

/** The emulator has a name of its own in every release of Debian. */
const emulator = (): string => {
  const folder = join(arm64.emulator, 'usr/bin');
  const name = readdirSync(folder).find((one) => one.startsWith('qemu-aarch64') && !one.includes('_be'));
  return join(folder, name ?? '');
};

test.skipIf(whyNoArm64)(`the package for arm64 runs on such a processor and delivers${whyNoArm64}`, async () => {
  using folder = temporaryDirectory('arm64');
  const { program, runtimeOf } = await sourcesHere();
  const runtime = await runtimeOf('linux-arm64');
  const about = { platform: 'linux-arm64', at: new Date('2026-01-02T03:04:05Z'), key: null } as const;
  for (const { path, mode, content } of contentsOf({ ...about, program, runtime })) {
    writeFileSync(join(folder.path, path), content, { mode });
  }
  const command = ['-L', arm64.libraries, join(folder.path, 'node'), join(folder.path, 'scheduled-events-bridge.cjs')];
  const { stdout } = spawnSync(emulator(), [...command, 'version'], { encoding: 'utf8' });
  expect(stdout).toBe(`scheduled-events-bridge ${version} (Node ${runtime.version}, linux-arm64)\n`);

  const azure = await startAzureSimulator();
  const file = join(folder.path, 'config.json');
  writeFileSync(file, JSON.stringify(configurationFor(azure, 'web_0', join(folder.path, 'state'))), { mode: 0o600 });
  const bridge = spawn(emulator(), [...command, 'run', '--config', file], { stdio: 'ignore' });
  try {
    await until(() => (azure.imds.polls.web_0 ?? 0) > 1, { timeoutMs: 120_000, what: 'polls' });
    const eventId = azure.imds.schedule({
      eventType: 'Freeze',
      resources: ['web_0'],
      notBefore: new Date(Date.now() + 900_000),
    });
    await until(() => hubRecords(azure).find((record) => record.eventId === eventId), { timeoutMs: 120_000 });
    bridge.kill('SIGTERM');
    await until(() => bridge.exitCode !== null, { timeoutMs: 60_000, what: 'its end' });
    expect(bridge.exitCode).toBe(0);
  } finally {
    bridge.kill('SIGKILL');
    await azure.close();
  }
});
