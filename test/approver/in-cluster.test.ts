import { Command } from 'commander';
import { describe, expect, onTestFinished, test } from 'vitest';
import { approveRequest } from '../../src/approver/manual.ts';
import { startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { runBridge } from '../../src/bridge.ts';
import { addApprove } from '../../src/cli/approve.ts';
import { Failure } from '../../src/cli/exit-codes.ts';
import { systemClock } from '../../src/clock.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { isInCluster, notInCluster } from '../../src/host/in-cluster.ts';
import { silentLog } from '../../src/log.ts';
import { askService } from '../../src/outbox/control/client.ts';
import { inThisProcess } from '../../src/sender/senders.ts';
import { startReceiver } from '../sinks/http/receiver.ts';
import { configurationFor, temporaryDirectory } from '../support/bridge-process.ts';
import { until } from '../support/until.ts';

const inCluster = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };
const never = new AbortController().signal;

function problemsOf(approve: unknown, env: NodeJS.ProcessEnv): readonly string[] {
  const documents = [{ value: { sinks: { stdout: {} }, approve }, source: 'FILE', keepsSecrets: true }];
  return readConfig({ documents, env, defaultStateDirectory: '/state' }).problems ?? [];
}

test.each([
  { env: inCluster, is: true },
  { env: { KUBERNETES_SERVICE_HOST: '' }, is: false },
  { env: {}, is: false },
])('with the environment $env it is in a pod: $is', ({ env, is }) => {
  expect(isInCluster(env)).toBe(is);
});

describe('approvals in a Kubernetes pod', () => {
  const cases = [
    {
      name: 'a configuration that approves what users ask for is refused',
      approve: { userInitiated: true },
      problems: [`approve.userInitiated is true in FILE: remove it. ${notInCluster}`],
    },
    {
      name: 'a configuration that approves freezes is refused',
      approve: { freezeUpToSeconds: 0 },
      problems: [`approve.freezeUpToSeconds is 0 in FILE: remove it. ${notInCluster}`],
    },
    {
      name: 'everything that approves is named at once',
      approve: { userInitiated: true, freezeUpToSeconds: 10 },
      problems: [
        expect.stringContaining('approve.userInitiated'),
        expect.stringContaining('approve.freezeUpToSeconds'),
      ],
    },
    {
      name: 'keys that approve nothing do no harm',
      approve: { userInitiated: false, freezeUpToSeconds: null, onBehalfOf: ['web_1'], onBehalfAfterSeconds: 30 },
      problems: [],
    },
    {
      name: 'a value of the wrong type is reported only as that',
      approve: { userInitiated: 'yes' },
      problems: ['approve.userInitiated is "yes" in FILE: expected true or false.'],
    },
  ];
  test.each(cases)('$name', ({ approve, problems }) => {
    expect(problemsOf(approve, inCluster)).toEqual(problems);
  });

  test('a variable that approves is refused like a key', () => {
    const env = { ...inCluster, SCHEDULED_EVENTS_BRIDGE_APPROVE_USER_INITIATED: 'true' };
    expect(problemsOf({}, env)).toEqual([
      `approve.userInitiated is true in the environment variable SCHEDULED_EVENTS_BRIDGE_APPROVE_USER_INITIATED: remove it. ${notInCluster}`,
    ]);
  });

  test('the command approve sends nothing', async () => {
    const program = new Command().exitOverride();
    addApprove(program, { env: inCluster, stop: never, print: () => {} });
    const asked = program.parseAsync([approveRequest, 'an-event', '--yes'], { from: 'user' });
    await expect(asked).rejects.toThrow(new Failure('notDone', `Nothing was sent: ${notInCluster}`));
  });

  test('the service there approves nothing for a command on the node either', async () => {
    await using azure = await startAzureSimulator().then((started) => ({
      ...started,
      [Symbol.asyncDispose]: () => started.close(),
    }));
    using directory = temporaryDirectory('in-cluster');
    const receiver = await startReceiver();
    onTestFinished(receiver.close);
    const value = configurationFor(azure, 'web_0', directory.path, { sinks: { http: { url: receiver.url } } });
    const documents = [{ value, source: 'the test', keepsSecrets: true }];
    const { config } = readConfig({ documents, env: {}, defaultStateDirectory: '' });
    if (!config) throw new Error('the configuration is refused');
    const stop = new AbortController();
    const running = runBridge({
      config,
      clock: systemClock,
      log: silentLog,
      stop: stop.signal,
      env: inCluster,
      openSenders: inThisProcess,
    });
    await until(() => (azure.imds.polls.web_0 ?? 0) > 1, { what: 'polls' });
    const eventId = azure.imds.schedule({ eventType: 'Reboot', eventSource: 'User', resources: ['web_0'] });
    const how = { timeoutMs: 10_000, signal: never, clock: systemClock };
    const answer = await askService(directory.path, approveRequest, { eventId, terms: {} }, how);
    expect(answer).toMatchObject({ answered: true, answer: { ok: false, message: notInCluster } });
    expect(azure.imds.approvals).toEqual([]);
    stop.abort();
    await running;
  });
});

test('the same configuration is accepted outside of Kubernetes', () => {
  expect(problemsOf({ userInitiated: true, freezeUpToSeconds: 10 }, {})).toEqual([]);
});
