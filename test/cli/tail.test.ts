import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/cli/exit-codes.ts';
import { addTail, unknownTypes } from '../../src/cli/tail/command.ts';
import { type HubArguments, loadHubConfig } from '../../src/cli/tail/hub-options.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { runVerb } from './outbox/command-line.ts';

const group = { consumerGroup: 'tail' };
const prefix = 'SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS';
const variables = {
  [`${prefix}_FULLY_QUALIFIED_NAMESPACE`]: 'v.servicebus.windows.net',
  [`${prefix}_EVENT_HUB_NAME`]: 'v',
};

function hubOf(options: Omit<HubArguments, 'consumerGroup'>, env: NodeJS.ProcessEnv = {}) {
  const { fullyQualifiedNamespace, connectionString, eventHubName } = loadHubConfig(
    { ...group, ...options },
    env,
  ).eventHubs;
  return [fullyQualifiedNamespace ?? connectionString, eventHubName];
}

function whyNot(options: Omit<HubArguments, 'consumerGroup'>, env: NodeJS.ProcessEnv = {}): string {
  try {
    hubOf(options, env);
    return '';
  } catch (error) {
    if (error instanceof Failure && error.reason === 'configuration') return error.message;
    throw error;
  }
}

describe('the event hub that tail reads', () => {
  test('is named by options, which override variables, which override the file', () => {
    using directory = temporaryDirectory('tail');
    const config = join(directory.path, 'bridge.json');
    const eventHubs = { fullyQualifiedNamespace: 'f.servicebus.windows.net', eventHubName: 'f' };
    writeFileSync(config, JSON.stringify({ sinks: { eventHubs, stdout: {} } }));
    const namespace = 'o.servicebus.windows.net';
    expect(hubOf({ config })).toEqual(['f.servicebus.windows.net', 'f']);
    expect(hubOf({ config, hub: 'o' })).toEqual(['f.servicebus.windows.net', 'o']);
    expect(hubOf({ config }, variables)).toEqual(['v.servicebus.windows.net', 'v']);
    expect(hubOf({ config, namespace, hub: 'o' }, variables)).toEqual([namespace, 'o']);
    expect(hubOf({ namespace, hub: 'o' })).toEqual([namespace, 'o']);
    expect(hubOf({ namespace, hub: 'o' }, { [`${prefix}_CONNECTION_STRING`]: 'Endpoint=sb://x/' })).toEqual([
      namespace,
      'o',
    ]);
  });

  test('may come with a connection string from a variable', () => {
    const connectionString = 'Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=n;SharedAccessKey=k';
    expect(hubOf({ hub: 'o' }, { [`${prefix}_CONNECTION_STRING`]: connectionString })).toEqual([connectionString, 'o']);
  });

  test('has to be named', () => {
    using directory = temporaryDirectory('tail');
    const config = join(directory.path, 'bridge.json');
    writeFileSync(config, JSON.stringify({ sinks: { stdout: {} } }));
    expect(whyNot({ config })).toMatch(/^The configuration has no event hub: name one with --namespace and --hub, /);
    expect(whyNot({ namespace: 'x.servicebus.windows.net' })).toBe(
      'Which event hub of the namespace? Name it with --hub, such as --hub vm-lifecycle.',
    );
    expect(whyNot({ config, hub: 'vm-lifecycle' })).toBe(
      'Which namespace? Name it with --namespace, such as --namespace contoso, or set SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_CONNECTION_STRING.',
    );
    expect(whyNot({ config: '/no/such.json' })).toMatch(/There is no configuration file \/no\/such\.json/);
  });
});

test.for([
  { args: ['--from', 'yesterday'], message: /expected start, now, a time like 2026-01-31T09:00Z, or how long ago/ },
  { args: ['--from', '2999-01-01'], message: /expected a time in the past/ },
  { args: ['--phase', 'Startd'], message: /did you mean Started\?/ },
  { args: ['--phase', 'Snapshot'], message: /expected one of Scheduled, Updated, / },
  { args: ['--consumer-group', 'a b'], message: /expected the name of a consumer group/ },
  { args: ['--namespace', ''], message: /expected the name of a namespace/ },
])('tail $args is refused', async ({ args, message }) => {
  expect(await runVerb(addTail, ['tail', ...args])).toEqual({
    out: '',
    reason: 'commander',
    message: expect.stringMatching(message),
  });
});

test('tail names event types that are not known, which it follows all the same', () => {
  expect(unknownTypes(['Frezee', 'reboot', 'Hibernate', 'Preempt'])).toEqual([
    'No event type Frezee is known; did you mean Freeze?',
    'No event type Hibernate is known: they are Freeze, Reboot, Redeploy, Preempt, Terminate.',
  ]);
});
