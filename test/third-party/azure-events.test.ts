import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { cache } from './clients.ts';

const ocfRoot = join(cache, 'debian/ocf');
const agent = join(ocfRoot, 'resource.d/heartbeat/azure-events-az');
const reason = existsSync(agent)
  ? ''
  : ' (skipped: resource-agents of Debian is not here; see test/third-party/prepare)';

test.skipIf(reason)(`ClusterLabs' agent drains its node, approves the event and rejoins${reason}`, async () => {
  using attributes = temporaryDirectory('attributes');
  const azure = await startAzureSimulator();
  const env = {
    PATH: [join(import.meta.dirname, 'pacemaker'), process.env.PATH].join(delimiter),
    OCF_ROOT: ocfRoot,
    OCF_RESOURCE_INSTANCE: 'azure-events',
    ATTRIBUTES: attributes.path,
    http_proxy: azure.imds.url,
  };
  const monitor = () => promisify(execFile)('/usr/bin/python3', [agent, 'monitor'], { env });
  /** What it keeps about its own node. */
  const state = (): Record<string, string> =>
    Object.fromEntries(
      readdirSync(attributes.path)
        .filter((file) => /#health-azure$|curNodeState$/.test(file))
        .map((file) => [file.replace(/^.*[.#_]/, ''), readFileSync(join(attributes.path, file), 'utf8').trim()]),
    );
  const { imds } = azure;

  await monitor();
  expect(state()).toEqual({});
  const eventId = imds.schedule({ eventType: 'Reboot', resources: ['web_0'] });
  await monitor();
  expect(state()).toEqual({ 'health-azure': '-1000000', curNodeState: 'STOPPING' });
  expect(imds.approvals).toEqual([]);
  await monitor();
  expect(state()).toMatchObject({ curNodeState: 'IN_EVENT' });
  expect(imds.approvals).toMatchObject([{ eventId, vm: 'web_0' }]);
  expect(imds.find(eventId)?.EventStatus).toBe('Started');
  await monitor();
  expect(state()).toMatchObject({ curNodeState: 'IN_EVENT' });
  imds.remove(eventId);
  await monitor();
  expect(state()).toEqual({ 'health-azure': '0', curNodeState: 'AVAILABLE' });
  await azure.close();
  expect(azure.errors).toEqual([]);
});
