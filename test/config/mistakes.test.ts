import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/read-config.ts';

const stdout = { sinks: { stdout: {} } };

const mistakes: readonly { name: string; content: object; env?: NodeJS.ProcessEnv; problems: readonly string[] }[] = [
  {
    name: 'a misspelt sink is not also a missing one',
    content: { sink: { stdout: {} } },
    problems: ['sink is not an option (in FILE); did you mean sinks?'],
  },
  {
    name: 'a sink outside of its section is reported with its place',
    content: { eventHubs: {} },
    problems: ['eventHubs is not an option (in FILE); did you mean sinks.eventHubs?'],
  },
  {
    name: 'a key of a sink that has none is not an option',
    content: { sinks: { stdout: { pretty: true } } },
    problems: ['sinks.stdout.pretty is not an option (in FILE); sinks.stdout has none.'],
  },
  {
    name: 'of a key that is thousands of letters long the beginning is named',
    content: { ...stdout, log: { ['x'.repeat(9_000)]: 1 } },
    problems: [`log.${'x'.repeat(196)}… is not an option (in FILE); expected one of log.level.`],
  },
  {
    name: 'a secret that is wrong is not shown',
    content: { sinks: { eventHubs: { connectionString: 'SharedAccessKey=abc', eventHubName: 'hub' } } },
    problems: [
      'sinks.eventHubs.connectionString in FILE is invalid (value hidden): expected Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=….',
    ],
  },
  {
    name: 'a state directory that depends on the working directory is refused',
    content: { ...stdout, stateDirectory: './state' },
    problems: ['stateDirectory is "./state" in FILE: expected an absolute path.'],
  },
  {
    name: 'all placeholders of a key are one problem',
    content: {
      sinks: {
        logAnalytics: {
          endpoint: 'https://NAME.REGION-1.ingest.monitor.azure.com',
          ruleId: 'dcr-0123456789abcdef0123456789abcdef',
        },
      },
    },
    problems: ['sinks.logAnalytics.endpoint still has the placeholders NAME, REGION-1 in FILE: replace them.'],
  },
  {
    name: 'a list in a variable is expected in either form',
    content: stdout,
    env: { SCHEDULED_EVENTS_BRIDGE_OBSERVER_TAGS: '[1' },
    problems: [
      'observer.tags is "[1" in the environment variable SCHEDULED_EVENTS_BRIDGE_OBSERVER_TAGS: expected a list of names of tags, separated by commas or as a JSON list.',
    ],
  },
];

test.for(mistakes)('$name', ({ content, env = {}, problems }) => {
  const documents = [{ value: content, source: 'FILE', keepsSecrets: true }];
  expect(readConfig({ documents, env, defaultStateDirectory: '/state' }).problems).toEqual(problems);
});
