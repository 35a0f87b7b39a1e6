import { spawnSync } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';
import { createVm } from '../../src/azure-simulator/imds/vm.ts';
import { ended, exampleOf, ready, run } from '../support/documented-commands.ts';
import { clients, whyNot } from './clients.ts';

const ip = (...args: string[]) => spawnSync('ip', ['netns', ...args], { encoding: 'utf8' });
const probe = `azure-${process.pid}`;
const { status, error, stderr } = ip('add', probe);
const noNetwork = status === 0 ? '' : ` (skipped: ${error?.message ?? stderr.trim()})`;
if (status === 0) ip('delete', probe);

/** With each one's names of the VM fields that the other does not report. */
const cases = [
  ['Go', clients.go, 'detect', { 'cloud.account.id': 'subscriptionId' }],
  ['Python', clients.python, 'test/third-party/python/detector.py', { 'service.instance.id': 'vmId' }],
] as const;

for (const [language, client, argument, own] of cases) {
  const reason = noNetwork || whyNot(client);
  test.skipIf(reason)(
    `OpenTelemetry's detector for ${language} knows the VM, in a network made as the page of clients shows${reason}`,
    async () => {
      const network = `azure-${language}-${process.pid}`;
      onTestFinished(() => void ip('delete', network));
      const lines = exampleOf('bash', 'ip netns')
        .replaceAll(/\bazure\b/g, network)
        .trim()
        .split('\n');
      await ended(run(lines.slice(0, -1).join(' && ')));
      await ready(run(lines.at(-1) ?? ''));
      const program = `SIMULATOR={} exec ip netns exec ${network} ${client.command.join(' ')} ${argument}`;
      const out = await ended(run(program));
      console.info(`  ${out.trim()}`);
      const vm = createVm({ name: 'web_0' });
      const names = {
        'host.id': 'vmId',
        'host.name': 'name',
        'host.type': 'vmSize',
        'cloud.region': 'location',
        'cloud.resource_id': 'resourceId',
        'azure.vm.scaleset.name': 'scaleSet',
        'os.type': 'osType',
        ...own,
      } as const;
      const expected = Object.entries(names).map(([name, field]) => [name, vm[field]]);
      expect(JSON.parse(out).saw).toMatchObject({ 'cloud.provider': 'azure', ...Object.fromEntries(expected) });
    },
  );
}
