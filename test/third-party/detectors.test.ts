import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createVm } from '../../src/azure-simulator/imds/vm.ts';
import { clients, whyNot } from './clients.ts';

/** A network in which the loopback interface has the address of Azure's metadata service; only root can make one, and only on Linux. */
const network = [
  '--net',
  'sh',
  '-c',
  'ip link set lo up && ip address add 169.254.169.254/32 dev lo && exec "$@"',
  'sh',
];
const noNetwork =
  spawnSync('unshare', [...network, 'true']).status === 0 ? '' : ' (skipped: no network of its own can be made here)';

/** What each of two detectors calls the same fields. */
const cases = [
  ['Go', clients.go, ['detect'], { 'cloud.account.id': 'subscriptionId', 'azure.vm.scaleset.name': 'scaleSet' }],
  ['Python', clients.python, ['test/third-party/python/detector.py'], { 'service.instance.id': 'vmId' }],
] as const;

for (const [language, client, args, own] of cases) {
  const reason = noNetwork || whyNot(client);
  test.skipIf(reason)(`OpenTelemetry's detector for ${language} knows the VM${reason}`, async () => {
    const program = [process.execPath, join(import.meta.dirname, 'at-fixed-address.ts'), ...client.command, ...args];
    const { stdout } = await promisify(execFile)('unshare', [...network, ...program], { timeout: 30_000 });
    console.info(`  ${stdout.trim()}`);
    const [line = ''] = stdout.split('\n');
    const vm = createVm({ name: 'web_0' });
    const names = {
      'host.id': 'vmId',
      'host.name': 'name',
      'host.type': 'vmSize',
      'cloud.region': 'location',
      'cloud.resource_id': 'resourceId',
      'os.type': 'osType',
      ...own,
    } as const;
    const expected = Object.entries(names).map(([name, field]) => [name, vm[field]]);
    expect(JSON.parse(line).saw).toMatchObject({ 'cloud.provider': 'azure', ...Object.fromEntries(expected) });
  });
}
