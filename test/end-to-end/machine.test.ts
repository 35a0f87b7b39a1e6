import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { configurationFor, startBridge, temporaryDirectory, whyNoOtherBoot } from '../support/bridge-process.ts';
import { firstCopies, hubRecords } from '../support/delivered.ts';
import { until } from '../support/until.ts';

describe('what happens to the machine', () => {
  let azure: AzureSimulator;
  beforeAll(async () => {
    azure = await startAzureSimulator({ vms: [{ name: 'web_0' }, { name: 'copy_0' }] });
  });
  afterAll(() => azure.close());

  const polls = (vm: string): number => azure.imds.polls[vm] ?? 0;
  const inFifteenMinutes = (): Date => new Date(Date.now() + 900_000);

  test('a freeze of three seconds while Started is told as an observed pause', async () => {
    using directory = temporaryDirectory('freeze');
    const bridge = startBridge(configurationFor(azure, 'web_0', directory.path));
    await until(() => polls('web_0') > 1);
    const eventId = azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore: inFifteenMinutes() });
    await until(() => hubRecords(azure).length === 1);
    azure.imds.start(eventId);
    await until(() => hubRecords(azure).length === 2);
    bridge.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 3000)); // the freeze itself
    bridge.kill('SIGCONT');
    const before = polls('web_0');
    await until(() => polls('web_0') > before + 1);
    azure.imds.remove(eventId);
    await until(() => hubRecords(azure).length === 3);
    bridge.kill('SIGTERM');
    await bridge.exited;
    const completed = hubRecords(azure).at(-1);
    expect(completed?.phase).toBe('Completed');
    expect(completed?.observedPauseMs).toBeGreaterThan(2500);
    expect(completed?.observedPauseMs).toBeLessThan(6000);
    expect(completed?.observedPauseTotalMs).toBeGreaterThanOrEqual(completed?.observedPauseMs ?? 0);
  });

  const noOtherBoot = whyNoOtherBoot();
  if (noOtherBoot) console.log(`  skipped: a copied disk, a reboot: ${noOtherBoot}`);
  const otherBoot = (directory: string): string => {
    const file = join(directory, 'boot-id-for-the-test');
    writeFileSync(file, `${randomUUID()}\n`);
    return file;
  };

  test.skipIf(noOtherBoot)('a reboot is told by the boot id, with the outage that it cost', async () => {
    using directory = temporaryDirectory('reboot');
    const configuration = configurationFor(azure, 'web_0', directory.path);
    const sent = hubRecords(azure).length;
    // A kill between the hub's word and ours makes a copy.
    const records = () => firstCopies(hubRecords(azure).slice(sent));
    const before = startBridge(configuration);
    const polled = polls('web_0');
    await until(() => polls('web_0') > polled + 1);
    const eventId = azure.imds.schedule({ eventType: 'Reboot', resources: ['web_0'], notBefore: inFifteenMinutes() });
    await until(() => records().length === 1);
    azure.imds.start(eventId);
    await until(() => records().length === 2);
    before.kill('SIGKILL');
    await before.exited;
    azure.imds.remove(eventId);
    const after = startBridge(configuration, { bootIdFile: otherBoot(directory.path) });
    await until(() => records().length === 3);
    after.kill('SIGTERM');
    await after.exited;
    const [, started, completed] = records();
    expect(completed?.phase).toBe('Completed');
    expect(completed?.evidence.slice(0, 2)).toEqual(['boot-id-changed', 'left-after-started']);
    expect(completed?.observedOutageSeconds).toBeGreaterThan(0);
    expect(completed?.bootId).not.toBe(started?.bootId);
  });

  test.skipIf(noOtherBoot)('a copied disk sends nothing of the VM it came from, and speaks for itself', async () => {
    using directory = temporaryDirectory('clone');
    azure.eventHubs.fault('server-busy');
    const original = startBridge(configurationFor(azure, 'web_0', directory.path));
    const polled = polls('web_0');
    await until(() => polls('web_0') > polled + 1);
    const resources = ['web_0', 'copy_0'];
    const eventId = azure.imds.schedule({ eventType: 'Reboot', resources, notBefore: inFifteenMinutes() });
    await until(() => original.log.some(({ phase }) => phase === 'Scheduled'));
    original.kill('SIGKILL');
    await original.exited;
    azure.eventHubs.fault(null);
    const sent = hubRecords(azure).length;
    const copy = startBridge(configurationFor(azure, 'copy_0', directory.path), {
      bootIdFile: otherBoot(directory.path),
    });
    await until(() => hubRecords(azure).length === sent + 1);
    expect(copy.stderr()).toContain('copied disk');
    // Within the first second the list of the service may be incomplete, and an absence would wait for five minutes.
    const pollsBefore = polls('copy_0');
    await until(() => polls('copy_0') > pollsBefore + 2);
    azure.imds.remove(eventId);
    await until(() => hubRecords(azure).length === sent + 2);
    copy.kill('SIGTERM');
    await copy.exited;
    const records = hubRecords(azure).slice(sent);
    expect(records.map(({ vmName, position, phase }) => [vmName, position, phase])).toEqual([
      ['copy_0', 1, 'Scheduled'],
      ['copy_0', 2, 'Canceled'],
    ]);
  });
});
