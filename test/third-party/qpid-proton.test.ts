import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { run } from './clients.ts';

const python = '/usr/bin/python3';
const { status, stderr, error } = spawnSync(python, ['-c', 'import proton'], { encoding: 'utf8' });
const why = error?.message ?? stderr.trim().split('\n').at(-1);
const reason = status === 0 ? '' : ` (skipped: ${why}; see test/third-party/prepare)`;

test.skipIf(reason)(
  `Qpid Proton signs in with a key or with a token, sends, reads and is refused${reason}`,
  async () => {
    const azure = await startAzureSimulator({ hubs: [{ name: 'proton' }] });
    const client = { language: 'debian', command: [python, 'test/third-party/qpid_proton.py'] } as const;
    expect(await run(azure, client, 'proton')).toEqual({
      'from the beginning': ['one', 'two', 'three'].map((body) => [body, 1, 'int']),
      'from an offset': ['two', 'three'],
      'from a number': ['two', 'three'],
      'a wrong key': 'amqp:unauthorized-access',
      'no token': 'amqp:unauthorized-access',
      'a token': 202,
      properties: ['0', '1', '2', '3'],
    });
    const bodies = azure.eventHubs.events('proton').map(({ body }) => JSON.parse(body.toString()));
    expect(bodies).toEqual(['one', 'two', 'three', 'four']);
    await azure.close();
    expect(azure.errors).toEqual([]);
  },
);
