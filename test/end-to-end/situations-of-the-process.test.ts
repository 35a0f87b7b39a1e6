import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import type { Status } from '../../src/cli/status/status.ts';
import { test } from '../support/azure-test.ts';
import { configurationFor, startBridge } from '../support/bridge-process.ts';
import { play, playInTurn, type Situation, well } from '../support/situation.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const minutes = (n: number): Date => new Date(Date.now() + n * 60_000);
const isUpToDate = (stage: Stage) =>
  stage.untilStatus('everything delivered', ({ sinks }) => sinks.every(({ waiting }) => waiting === 0));
const isIdle = (stage: Stage) =>
  stage.untilStatus('no event, everything delivered', ({ events, sinks, service }) => {
    const isWatching = service !== null && service?.poll.documentAgeSeconds !== null;
    return isWatching && events.length === 0 && sinks.every(({ waiting }) => waiting === 0);
  });

const runsIdle = async (stage: Stage): Promise<void> => {
  await stage.start();
  await isIdle(stage);
};

const hubSender = ({ service }: Status) => service?.senders.find(({ role }) => role === 'event-hubs');
const senderPid = (status: Status) => hubSender(status)?.pid ?? null;
const senderDeaths = (status: Status) => hubSender(status)?.deaths['sender-exited'];

const anEvent: readonly Situation[] = [
  {
    name: 'it was never started',
    make: () => {},
    message: /^There is no outbox in .*: the bridge has not run with this state directory yet/,
    status: 21,
    check: 0,
    checkPrints: /No service has run with /,
    ready: null,
  },
  { name: 'it runs without events', make: runsIdle, ...well },
  {
    name: 'an event is announced for this VM',
    make: async (stage) => {
      stage.azure.imds.schedule({ eventType: 'Redeploy', resources: ['web_0'], notBefore: minutes(12) });
      await stage.untilStatus('the event', ({ events }) => events.length === 1);
      await isUpToDate(stage);
    },
    ...well,
    message: /^Running; both destinations are up to date\. Redeploy of this VM not before \d\d:\d\d UTC\.$/,
    page: /^Redeploy +Scheduled +not before \d\d:\d\d UTC \(in 1[12] min\) +this VM/m,
  },
  {
    name: 'it has started',
    make: async (stage) => {
      const [event] = stage.azure.imds.document.Events;
      stage.azure.imds.start(event?.EventId ?? '');
      await stage.untilStatus('the start', ({ events }) => events[0]?.phase === 'Started');
      await isUpToDate(stage);
    },
    ...well,
    message: /^Running; both destinations are up to date\. Redeploy of this VM is under way\.$/,
  },
  {
    name: 'it has ended',
    make: async (stage) => {
      for (const { EventId } of stage.azure.imds.document.Events) stage.azure.imds.remove(EventId);
      await isIdle(stage);
    },
    ...well,
  },
  {
    name: 'it is stopped by the service manager',
    make: async (stage) => {
      stage.bridge.kill('SIGTERM');
      expect(await stage.bridge.exited).toMatchObject({ code: 0 });
    },
    message: /^Not running: no events polled since \d\d:\d\d UTC\. Start the service .*systemctl start/,
    status: 20,
    check: 0,
    checkPrints: /WARNING +service .*No service runs/,
    ready: null,
  },
  {
    name: 'it was killed',
    make: async (stage) => {
      await runsIdle(stage);
      stage.bridge.kill('SIGKILL');
      await stage.bridge.exited;
      expect(readdirSync(stage.directory)).toContain('status.sock');
    },
    message: /^Not running: no events polled since /,
    page: /^Last document +\d+ s ago \(.*, as stored\)/m,
    status: 20,
    check: 0,
    checkPrints: /^No problem found: \d+ warning/m,
    ready: null,
  },
  { name: 'it was restarted after that', make: runsIdle, ...well },
];

const deliveries: readonly Situation[] = [
  {
    name: 'it was killed during an approval',
    make: async (stage) => {
      await runsIdle(stage);
      const eventId = stage.azure.imds.schedule({ eventType: 'Reboot', resources: ['web_1'], notBefore: minutes(14) });
      await stage.untilStatus('the event', ({ events }) => events.length === 1);
      stage.azure.imds.fault('scheduledevents', { delayMs: 2_000 });
      const over = new AbortController();
      const approving = stage.command(['approve', eventId, '--yes'], { kill: over.signal });
      await stage.untilStatus('the approval', ({ approvals }) => approvals.length === 1);
      over.abort(); // else the command would take the place of the service
      stage.bridge.kill('SIGKILL');
      await Promise.all([approving, stage.bridge.exited]);
    },
    message: /^Not running: /,
    page: /The approval of [0-9A-F-]{36}, begun \d\d:\d\d UTC, has no outcome yet\./,
    status: 20,
    check: 0,
    ready: null,
  },
  {
    name: 'a second instance is started',
    make: async (stage) => {
      stage.azure.imds.fault('scheduledevents', null);
      for (const { EventId } of stage.azure.imds.document.Events) stage.azure.imds.remove(EventId);
      await runsIdle(stage);
      const second = startBridge(configurationFor(stage.azure, 'web_0', stage.directory));
      expect(await second.exited).toEqual({ code: 75, signal: null });
      await isIdle(stage);
    },
    ...well,
  },
  {
    name: 'a backlog drains',
    make: async (stage) => {
      stage.azure.eventHubs.fault({ delayMs: 8_000 });
      for (let n = 0; n < 5; n += 1)
        stage.azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore: minutes(30) });
      await stage.untilStatus('what waits', ({ sinks }) => (sinks[0]?.waiting ?? 0) > 1);
    },
    message: /^Running; \d+ deliveries are under way\. Freeze of this VM not before/,
    status: 0,
    check: 0,
    checkPrints: /ok +backlog .*records? waits? for Event Hubs \(delivering\)/,
    ready: /^ready\n$/,
    health: 'ok',
  },
  {
    name: 'the table refuses one record, which becomes a dead letter',
    make: async (stage) => {
      stage.azure.eventHubs.fault(null);
      for (const { EventId } of stage.azure.imds.document.Events) stage.azure.imds.remove(EventId);
      await isIdle(stage);
      stage.azure.logAnalytics.fault({ refuseRows: ({ EventType }) => EventType === 'Terminate' });
      stage.azure.imds.schedule({ eventType: 'Terminate', resources: ['web_0'], notBefore: minutes(14) });
      await stage.untilStatus('the refusal', ({ sinks }) => sinks[1]?.lastError !== null);
      stage.azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore: minutes(14) });
      await stage.untilStatus('the dead letter', ({ sinks }) => sinks[1]?.deadLetters === 1);
      await isUpToDate(stage);
    },
    message:
      /^Log Analytics refused 1 record, now a dead letter: outbox list --state dead .* outbox retry --all --sink log-analytics/,
    status: 20,
    check: 0,
    checkPrints: /WARNING +backlog .*1 record, now a dead letter/,
    ready: /^ready\n$/,
  },
  {
    name: 'the cause is fixed, and the dead letter is sent again',
    make: async (stage) => {
      stage.azure.logAnalytics.fault(null);
      expect(await stage.command(['outbox', 'retry', '--all'])).toMatchObject({ code: 0 });
      for (const { EventId } of stage.azure.imds.document.Events) stage.azure.imds.remove(EventId);
      await isIdle(stage);
    },
    ...well,
  },
];

const ofProcesses: readonly Situation[] = [
  {
    name: 'the process is stopped',
    make: async (stage) => {
      await runsIdle(stage);
      stage.bridge.kill('SIGSTOP');
    },
    message: /^Not responding: .* did not answer within 2 s.* stopped .*kill -CONT.* restart/,
    status: 20,
    check: 20,
    checkPrints: /PROBLEM +service .*Not responding/,
    ready: null,
  },
  {
    name: 'it continues',
    make: async (stage) => {
      stage.bridge.kill('SIGCONT');
      await isIdle(stage);
    },
    ...well,
  },
  {
    name: 'a sender process is killed three times, and every record arrives',
    make: async (stage) => {
      for (let deaths = 1; deaths <= 3; deaths += 1) {
        stage.azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore: minutes(10) });
        await stage.untilStatus('a sender', (status) => senderPid(status) !== null);
        process.kill(senderPid(await stage.status()) ?? Number.NaN, 'SIGKILL');
        await stage.untilStatus('its death', (status) => senderDeaths(status) === deaths);
      }
      await isUpToDate(stage);
      for (const { EventId } of stage.azure.imds.document.Events) stage.azure.imds.remove(EventId);
      await isIdle(stage);
    },
    message:
      /^A sender process failed 3 times in the last 10 min: The process that sends to the event hub .* ended \(SIGKILL/,
    status: 20,
    check: 20,
    checkPrints: /PROBLEM +service .*A sender process failed 3 times/,
    ready: /^ready\nthe sender process event-hubs failed 3 times in the last 10 min \(sender-exited\)\n$/,
    health: 'warning',
  },
];

describe('status and check', () => {
  const simulator = { vms: [{ name: 'web_0' }, { name: 'web_1' }] };
  const open = (azure: AzureSimulator): Promise<Stage> => {
    const imds = { endpoint: azure.imds.vmUrl('web_0'), timeoutSeconds: 10, firstTimeoutSeconds: 1 };
    return openStage(azure, { more: { imds } });
  };
  playInTurn('from the first start to the last', anEvent, { simulator, open });
  playInTurn('of a service that is killed or has a backlog', deliveries, { simulator, open });
  playInTurn('of a process that stands still or dies', ofProcesses, { simulator, open });
});

test.skipIf(process.getuid?.() !== 0)(
  'another user, who may not read the state directory',
  { concurrent: true },
  async ({ azure }) => {
    await using stage = await openStage(azure);
    await runsIdle(stage);
    const { code, err } = await stage.command(['status'], { uid: 65_534 });
    expect({ code, err }).toEqual({
      code: 22,
      err: expect.stringMatching(
        /has no permission to do that in .*: run the command as the user who owns it \(uid 0\) or as root\./,
      ),
    });
  },
);

describe('a state directory with a path longer than a socket address', { concurrent: true }, () => {
  test('gets the same answer as any user', async ({ azure }) => {
    await using short = await openStage(azure);
    const directory = join(short.directory, 'x'.repeat(100), 'y'.repeat(60));
    await using stage = await openStage(azure, { directory });
    await runsIdle(stage);
    await until(async () => (await stage.status()).answer === 'answered');
    await play(stage, { name: 'it runs', make: () => {}, ...well });
  });
});
