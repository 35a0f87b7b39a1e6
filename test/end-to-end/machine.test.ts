import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import { test } from '../support/azure-test.ts';
import { whyNoOtherBoot } from '../support/bridge-process.ts';
import { firstCopies, hubRecords } from '../support/delivered.ts';
import { until } from '../support/until.ts';

describe('impacts on the machine', { concurrent: true }, () => {
  test.override('simulator', { vms: [{ name: 'web_0' }, { name: 'copy_0' }] });

  const polls = ({ imds }: AzureSimulator, vm = 'web_0'): number => imds.polls[vm] ?? 0;
  const inFifteenMinutes = (): Date => new Date(Date.now() + 900_000);

  test('a freeze of three seconds while Started is reported as an observed pause', async ({ azure, start }) => {
    const bridge = start();
    await until(() => polls(azure) > 1);
    const eventId = azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore: inFifteenMinutes() });
    await until(() => hubRecords(azure).length === 1);
    azure.imds.start(eventId);
    await until(() => hubRecords(azure).length === 2);
    bridge.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 3000)); // the freeze itself
    bridge.kill('SIGCONT');
    const before = polls(azure);
    await until(() => polls(azure) > before + 1);
    azure.imds.remove(eventId);
    await until(() => hubRecords(azure).length === 3);
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

  test.skipIf(noOtherBoot)(
    'a reboot is recognized by the boot id, and reported with its outage',
    async ({ azure, directory, start }) => {
      const sent = hubRecords(azure).length;
      // A kill between the hub's word and ours makes a copy.
      const records = () => firstCopies(hubRecords(azure).slice(sent));
      const before = start();
      const polled = polls(azure);
      await until(() => polls(azure) > polled + 1);
      const eventId = azure.imds.schedule({ eventType: 'Reboot', resources: ['web_0'], notBefore: inFifteenMinutes() });
      await until(() => records().length === 1);
      azure.imds.start(eventId);
      await until(() => records().length === 2);
      before.kill('SIGKILL');
      await before.exited;
      azure.imds.remove(eventId);
      start({}, { bootIdFile: otherBoot(directory) });
      await until(() => records().length === 3);
      const [, started, completed] = records();
      expect(completed?.phase).toBe('Completed');
      expect(completed?.evidence.slice(0, 2)).toEqual(['boot-id-changed', 'left-after-started']);
      expect(completed?.observedOutageSeconds).toBeGreaterThan(0);
      expect(completed?.bootId).not.toBe(started?.bootId);
    },
  );

  test.skipIf(noOtherBoot)(
    'a copied disk sends nothing of the VM it came from, and speaks for itself',
    async ({ azure, directory, start }) => {
      azure.eventHubs.fault('server-busy');
      const original = start();
      const polled = polls(azure);
      await until(() => polls(azure) > polled + 1);
      const resources = ['web_0', 'copy_0'];
      const eventId = azure.imds.schedule({ eventType: 'Reboot', resources, notBefore: inFifteenMinutes() });
      await until(() => original.log.some(({ phase }) => phase === 'Scheduled'));
      original.kill('SIGKILL');
      await original.exited;
      azure.eventHubs.fault(null);
      const sent = hubRecords(azure).length;
      const copy = start({}, { vm: 'copy_0', bootIdFile: otherBoot(directory) });
      await until(() => hubRecords(azure).length === sent + 1);
      expect(copy.stderr()).toContain('copied disk');
      // Within the first second the list of the service may be incomplete, and an absence would wait for five minutes.
      const pollsBefore = polls(azure, 'copy_0');
      await until(() => polls(azure, 'copy_0') > pollsBefore + 2);
      azure.imds.remove(eventId);
      await until(() => hubRecords(azure).length === sent + 2);
      const records = hubRecords(azure).slice(sent);
      expect(records.map(({ vmName, position, phase }) => [vmName, position, phase])).toEqual([
        ['copy_0', 1, 'Scheduled'],
        ['copy_0', 2, 'Canceled'],
      ]);
    },
  );
});
