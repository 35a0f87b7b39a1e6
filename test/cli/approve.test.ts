import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createApprover } from '../../src/approver/approver.ts';
import { approveRequest } from '../../src/approver/manual.ts';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { pollOnce } from '../../src/bridge.ts';
import { addApproveWith, type Prompt } from '../../src/cli/approve.ts';
import { type ExitReason, Failure } from '../../src/cli/exit-codes.ts';
import { systemClock } from '../../src/clock.ts';
import { openHost } from '../../src/host/index.ts';
import { createObserverWatch } from '../../src/imds/observer-watch.ts';
import { openImds } from '../../src/imds/open-imds.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { silentLog } from '../../src/log.ts';
import { openOutbox } from '../../src/outbox/durable-outbox.ts';
import type { Outbox } from '../../src/outbox/outbox.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { serveRequests } from '../support/serve-requests.ts';

let azure: AzureSimulator;
beforeAll(async () => {
  process.setMaxListeners(100); // each command opens a log, which is flushed when the process ends
  azure = await startAzureSimulator({ vms: [{ name: 'web_0' }, { name: 'web_1' }] });
});
afterAll(() => azure.close());

const never = new AbortController().signal;
const clock = systemClock;
const log = silentLog;

const open = (directory: string): Outbox =>
  openOutbox({ directory, sinks: ['hub'], maxMegabytes: 16, clock, log, version: '1.2.3' });

/** A state directory in which a service has run. */
function place(name: string): string {
  const directory = temporaryDirectory(`approve-${name}`);
  onTestFinished(() => directory[Symbol.dispose]());
  open(directory.path).close();
  return directory.path;
}

function schedule(given: Partial<Parameters<AzureSimulator['imds']['schedule']>[0]> = {}): string {
  const notBefore = new Date(Date.now() + 900_000);
  const eventId = azure.imds.schedule({ eventType: 'Redeploy', resources: ['web_0', 'web_1'], notBefore, ...given });
  onTestFinished(() => azure.imds.remove(eventId));
  return eventId;
}

const records = (directory: string): readonly LifecycleRecord[] => {
  const outbox = open(directory);
  const found = outbox.pending('hub', { limit: 100 }).map(({ json }) => JSON.parse(json.toString()) as LifecycleRecord);
  outbox.close();
  return found;
};

const approvalsOf = (eventId: string): number =>
  azure.imds.approvals.filter((approval) => approval.eventId === eventId).length;

interface ApproveResult {
  readonly printed: string;
  /** Null: done. */
  readonly reason: ExitReason | null;
  readonly message: string;
}

/** What the command does; `ask` is the person at the terminal. */
async function approve(
  directory: string,
  args: readonly string[],
  { ask = async () => null, endpoint = azure.imds.vmUrl('web_0') }: { ask?: Prompt; endpoint?: string } = {},
): Promise<ApproveResult> {
  const file = join(directory, 'config.json');
  const configuration = {
    imds: { endpoint },
    stateDirectory: directory,
    sinks: { stdout: {} },
    log: { level: 'error' },
  };
  writeFileSync(file, JSON.stringify(configuration), { mode: 0o600 });
  let printed = '';
  const program = new Command().exitOverride();
  addApproveWith(ask)(program, { env: {}, stop: never, print: (text) => (printed += text) });
  try {
    await program.parseAsync([approveRequest, ...args, '--config', file], { from: 'user' });
    return { printed, reason: null, message: '' };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { printed, reason: error.reason, message: error.message };
  }
}

/** The parts of a service that approve, on this state directory. */
function serve(directory: string): Outbox {
  const outbox = open(directory);
  const stop = new AbortController();
  const endpoint = azure.imds.vmUrl('web_0');
  const imds = openImds(
    { imds: { endpoint, apiVersion: '2020-07-01', pollIntervalSeconds: 1, timeoutSeconds: 5, firstTimeoutSeconds: 5 } },
    { warm: () => true, clock, log },
  );
  const host = openHost({ clock });
  const configured = { tags: [] };
  const observer = createObserverWatch({ imds, configured, computer: null, stored: null, clock, log });
  const policy = { userInitiated: false, freezeUpToSeconds: null, onBehalfOf: [], onBehalfAfterSeconds: 60 };
  const bridgeVersion = '1.2.3';
  const approver = createApprover({
    imds,
    outbox,
    observer,
    policy,
    stateDirectory: directory,
    bridgeVersion,
    clock,
    log,
  });
  const bridge = {
    imds,
    host,
    observer,
    outbox,
    clock,
    bridgeVersion,
    scope: { witnessRate: 0 },
    gapAfterMs: 10_000,
    enablingMs: 0,
  };
  const poll = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      approver.consider(await pollOnce(bridge, stop.signal));
      await clock.sleep(100, stop.signal);
    }
  };
  const handlers = { [approveRequest]: approver.approve };
  const tasks = [observer.run(stop.signal), poll()];
  const desk = serveRequests(outbox, handlers);
  onTestFinished(async () => {
    await desk[Symbol.asyncDispose]();
    stop.abort();
    await Promise.all(tasks);
    await imds.close();
    host.close();
    outbox.close();
  });
  return outbox;
}

describe('the command approve', () => {
  test('shows what it is about, approves it, and leaves one record for the next start of the service', async () => {
    const directory = place('alone');
    const eventId = schedule({ eventSource: 'Platform', description: 'Moved.' });
    const { printed, reason } = await approve(directory, [eventId.toLowerCase(), '--yes']);
    expect(reason).toBe(null);
    for (const shown of [
      eventId,
      'Redeploy: the VM moves to another host',
      'Platform',
      '(in 15 min)',
      'web_0 (this VM), web_1',
      'Approving lets Azure start it at once, for all 2 VMs, and cannot be undone.',
      'Azure accepted it: the Redeploy starts now for web_0, web_1.',
    ]) {
      expect(printed).toContain(shown);
    }
    expect(approvalsOf(eventId)).toBe(1);
    const result = records(directory);
    expect(result.map(({ phase, evidence, position }) => `${position} ${phase}: ${evidence.join(' ')}`)).toEqual([
      '1 Scheduled: present-at-first-look',
      '2 Approved: accepted',
    ]);
  });

  test('sends the request to the running service, which records it', async () => {
    const directory = place('service');
    const outbox = serve(directory);
    const eventId = schedule({ resources: ['web_1'] });
    const { printed, reason, message } = await approve(directory, [eventId, '--yes']);
    expect([reason, message]).toEqual([null, '']);
    expect(printed).toContain('This VM is not among them.');
    expect(printed).toContain('Azure accepted it');
    expect(approvalsOf(eventId)).toBe(1);
    expect(outbox.openApprovals()).toEqual([]);
    const result = outbox
      .pending('hub', { limit: 10 })
      .map(({ json }) => JSON.parse(json.toString()) as LifecycleRecord);
    expect(result.map(({ phase }) => phase)).toContain('Approved');
  });

  test.each<[string, string, ExitReason | null, number]>([
    ['yes', 'Yes ', null, 1],
    ['y', 'y', null, 1],
    ['nothing', '', 'notDone', 0],
    ['no', 'no', 'notDone', 0],
    ['something else', 'yeah', 'notDone', 0],
  ])('confirms first: %s', async (_, said, reason, approvals) => {
    const directory = place('asked');
    const eventId = schedule();
    const result = await approve(directory, [eventId], { ask: async () => said });
    expect([result.reason, approvalsOf(eventId)]).toEqual([reason, approvals]);
  });

  test('approves nothing without --yes where there is no terminal', async () => {
    const eventId = schedule();
    const { reason, message } = await approve(place('unknown'), [eventId]);
    expect([reason, message, approvalsOf(eventId)]).toEqual(['usage', expect.stringContaining('--yes'), 0]);
  });

  test('approves nothing when the event names other VMs after the confirmation', async () => {
    const eventId = schedule({ resources: ['web_0'] });
    const ask = async (): Promise<string> => {
      azure.imds.update(eventId, { resources: ['web_0', 'web_1'] });
      return 'y';
    };
    const { reason, message } = await approve(place('changed'), [eventId], { ask });
    expect([reason, approvalsOf(eventId)]).toEqual(['notDone', 0]);
    expect(message).toContain('The event has changed: it names other VMs: web_0, web_1');
  });

  test('lists the scheduled events when this one is not listed', async () => {
    const eventId = schedule();
    const { reason, message } = await approve(place('unlisted'), ['other', '--yes']);
    expect(reason).toBe('notDone');
    expect(message).toContain('Azure lists no event other. Listed:');
    expect(message).toContain(eventId);
  });

  test('refuses an event that has started before it shows the confirmation', async () => {
    const eventId = schedule();
    azure.imds.start(eventId);
    const { printed, reason, message } = await approve(place('started'), [eventId, '--yes']);
    expect([reason, message]).toEqual([
      'notDone',
      `The status of event ${eventId} is Started: only a Scheduled event can be approved.`,
    ]);
    expect(printed).toBe('');
  });

  test('reports that the event has left after the confirmation', async () => {
    const eventId = schedule();
    const ask = async (): Promise<string> => {
      azure.imds.remove(eventId);
      return 'y';
    };
    const { reason, message } = await approve(place('left'), [eventId], { ask });
    expect([reason, message]).toEqual(['notDone', expect.stringContaining(`Nothing was sent: No event ${eventId}`)]);
  });

  test.each([
    ['refused', 'It was not approved: Because.'],
    ['outcome-unknown', 'Perhaps it was approved: Because.'],
    [null, 'Nothing was sent: Because.'],
  ])('prints the answer of the service: %s', async (outcome, result) => {
    const directory = place('answers');
    const outbox = open(directory);
    const asked: unknown[] = [];
    const handler = (argument: unknown): unknown => {
      asked.push(argument);
      return { ok: false, message: 'Because.', outcome };
    };
    const desk = serveRequests(outbox, { [approveRequest]: handler });
    const eventId = schedule({ resources: ['web_0'] });
    const { reason, message } = await approve(directory, [eventId, '--yes']);
    expect([reason, message]).toEqual(['notDone', result]);
    const terms = { eventType: 'Redeploy', resources: ['web_0'], listedTwice: false };
    expect(asked).toMatchObject([{ eventId, terms }]);
    await desk[Symbol.asyncDispose]();
    outbox.close();
  });

  test.each([
    [{ status: 429 }, 2, null],
    [{ status: 500 }, 1, null],
    [{ status: 503 }, 3, 'imdsFailed'],
    [{ status: 403 }, 1, 'imdsFailed'],
  ] as const)('retries when the metadata service is busy: %o %i times', async (fault, times, reason) => {
    const eventId = schedule();
    azure.imds.fault('scheduledevents', fault, times);
    expect((await approve(place('busy'), [eventId, '--yes'])).reason).toBe(reason);
  });

  test('reports that the metadata service cannot be reached', async () => {
    const { reason, message } = await approve(place('unreachable'), ['any', '--yes'], {
      endpoint: 'http://127.0.0.1:9',
    });
    expect([reason, message]).toEqual(['imdsFailed', expect.stringContaining('The scheduled events cannot be read')]);
  });

  test('approves nothing where no service has ever run, since nothing could record it', async () => {
    const directory = temporaryDirectory('approve-nowhere');
    onTestFinished(() => directory[Symbol.dispose]());
    const eventId = schedule();
    const { reason } = await approve(directory.path, [eventId, '--yes']);
    expect([reason, approvalsOf(eventId)]).toEqual(['noOutbox', 0]);
  });

  test.skipIf(process.getuid?.() !== 0)('given by root, leaves nothing that the service may not write', async () => {
    const directory = place('root');
    const someone = 65_534;
    const files = (): string[] => [directory, ...readdirSync(directory).map((name) => join(directory, name))];
    for (const file of files()) chownSync(file, someone, someone);
    const eventId = schedule();
    const configuration = {
      imds: { endpoint: azure.imds.vmUrl('web_0') },
      stateDirectory: directory,
      sinks: { stdout: {} },
    };
    const file = join(directory, 'config.json');
    writeFileSync(file, JSON.stringify(configuration), { mode: 0o600 });
    const program = `
      import { Command } from 'commander';
      import { addApprove } from './src/cli/approve.ts';
      const program = new Command();
      addApprove(program, { env: {}, stop: new AbortController().signal, print: (text) => process.stdout.write(text) });
      await program.parseAsync(process.argv.slice(1), { from: 'user' });
      process.exit(0);`;
    const command = ['--input-type=module', '-e', program, approveRequest, eventId, '--yes', '--config', file];
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (chunk) => (stderr += chunk));
    const [code] = await once(child, 'exit');
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    expect(approvalsOf(eventId)).toBe(1);
    const foreign = files().filter((path) => path !== file && statSync(path).uid !== someone);
    expect(foreign).toEqual([]);
  });
});
