import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Az, AzError } from '../../../../infra/acceptance/az.ts';
import { createAzureData } from '../../../../infra/acceptance/data/azure-data.ts';
import { testDirectory } from '../../../support/test-directory.ts';

const scope = '/subscriptions/s/resourceGroups/g/providers/Microsoft.EventHub/namespaces/n/eventhubs/vm-lifecycle';
const platform = {
  settings: {
    fullyQualifiedNamespace: 'n.servicebus.windows.net',
    eventHubName: 'vm-lifecycle',
    logsIngestionEndpoint: 'https://x.westeurope-1.ingest.monitor.azure.com/',
    ruleId: 'dcr-00000000000000000000000000000000',
    streamName: 'Custom-VmLifecycle_CL',
  },
  eventHubResourceId: scope,
  workspaceId: '00000000-1111-2222-3333-444444444444',
  identityPrincipalId: 'bridges',
};

/** Answers of the Azure CLI by the first words of the command. */
let answers: Record<string, unknown>;
let calls: string[][];
const az: Az = {
  async call(args) {
    calls.push([...args]);
    const [, answer] = Object.entries(answers).find(([words]) => args.join(' ').startsWith(words)) ?? [];
    if (answer instanceof Error) throw answer;
    return answer;
  },
};
beforeEach(() => {
  answers = {};
  calls = [];
});
const open = () =>
  createAzureData({
    run: {
      id: 'x1',
      subscription: 's',
      location: 'l',
      folder: testDirectory('acceptance'),
      tags: {},
      groups: { platform: 'g', machines: 'm' },
    },
    az,
    found: new Map([['platform', platform]]),
    say: () => {},
  });

describe('a query of the workspace of a run', () => {
  test('is sent as a file, so that no shell changes it', async () => {
    answers.rest = { tables: [{ name: 'PrimaryResult', columns: [{ name: 'Count', type: 'long' }], rows: [[7]] }] };
    const text = 'VmLifecycle_CL\n| where VmName == \'web "0"\'\n| count';
    expect((await open().query(text)).rows).toEqual([{ Count: 7 }]);
    const [call = []] = calls;
    expect(call.slice(0, 7)).toEqual([
      'rest',
      '--method',
      'post',
      '--url',
      'https://api.loganalytics.io/v1/workspaces/00000000-1111-2222-3333-444444444444/query',
      '--resource',
      'https://api.loganalytics.io',
    ]);
    const file = call[call.indexOf('--body') + 1] ?? '';
    expect(file).toMatch(/^@/);
    expect(JSON.parse(readFileSync(file.slice(1), 'utf8'))).toEqual({ query: text });
  });

  test('with a fault is explained by the words of the service', async () => {
    const answer = {
      error: {
        message: 'x',
        code: 'BadArgumentError',
        innererror: { code: 'SEM0100', message: "Failed to resolve 'NotBeforeUtc'" },
      },
    };
    answers.rest = new AzError(`ERROR: Bad Request(${JSON.stringify(answer)})`, {
      args: [],
      code: 'BadArgumentError',
      exitCode: 1,
    });
    await expect(open().query('x')).rejects.toThrow("SEM0100: Failed to resolve 'NotBeforeUtc'");
  });
});

describe('a role of the bridges', () => {
  const own = { id: `${scope}/providers/Microsoft.Authorization/roleAssignments/a`, principalId: 'bridges' };
  const others = { id: `${scope}/providers/Microsoft.Authorization/roleAssignments/b`, principalId: 'somebody else' };

  test('is taken away from them alone, and given back to them', async () => {
    answers['role assignment list'] = [own, others];
    const repair = await open().breakDestination('hub-role-removed');
    expect(calls.map((call) => call.slice(0, 3).join(' '))).toEqual(['role assignment list', 'role assignment delete']);
    expect(calls[1]?.at(-1)).toBe(own.id);
    await repair();
    const created = calls.at(-1)?.join(' ') ?? '';
    expect(created).toContain('role assignment create');
    for (const part of ['--assignee-object-id bridges', `--scope ${scope}`, '--role Azure Event Hubs Data Sender']) {
      expect(created).toContain(part);
    }
  });

  test('that they do not have is not taken away', async () => {
    answers['role assignment list'] = [others];
    await expect(open().breakDestination('hub-role-removed')).rejects.toThrow(
      'The bridges do not have the role Azure Event Hubs Data Sender',
    );
    expect(calls).toHaveLength(1);
  });
});

test('the destinations of a run are those of its platform', async () => {
  const { logs, hub } = await open().destinations();
  expect(logs.endpoint).toBe('https://x.westeurope-1.ingest.monitor.azure.com');
  expect(hub.endpoint).toBe('https://n.servicebus.windows.net');
});
