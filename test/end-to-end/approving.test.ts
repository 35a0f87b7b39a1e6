import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { type BridgeProcess, configurationFor, startBridge, temporaryDirectory } from '../support/bridge-process.ts';
import { firstCopies, hubRecords, tableRows } from '../support/delivered.ts';
import { mainFile } from '../support/program.ts';
import { until } from '../support/until.ts';

/**
 * The whole bridge approves at the metadata service of the simulator. Every test has VMs of its own, and with them a hub to
 * itself: records are told apart by the name of the VM.
 */
let azure: AzureSimulator;
beforeAll(async () => {
  azure = await startAzureSimulator();
});
afterAll(() => azure.close());

let groups = 0;
/** Two VMs that nobody else asks for. */
const twoVms = (): readonly [string, string] => {
  groups += 1;
  return [`web${groups}_0`, `web${groups}_1`];
};

interface Place {
  readonly directory: string;
  start(vm: string, approve: object, endpoint?: string): BridgeProcess;
}

function place(): Place {
  const directory = temporaryDirectory('approving');
  const bridges: BridgeProcess[] = [];
  onTestFinished(async () => {
    for (const bridge of bridges) bridge.kill('SIGKILL');
    await Promise.all(bridges.map(({ exited }) => exited));
    directory[Symbol.dispose]();
  });
  return {
    directory: directory.path,
    start(vm, approve, endpoint = azure.imds.vmUrl(vm)) {
      const configuration = configurationFor(azure, vm, directory.path, {
        approve,
        imds: { endpoint, firstTimeoutSeconds: 1 },
      });
      const bridge = startBridge(configuration);
      bridges.push(bridge);
      return bridge;
    },
  };
}

function schedule(resources: readonly string[], eventType: 'Reboot' | 'Preempt' = 'Reboot'): string {
  const notBefore = new Date(Date.now() + 900_000);
  const eventId = azure.imds.schedule({ eventType, eventSource: 'User', resources, notBefore, durationSeconds: -1 });
  onTestFinished(() => {
    if (azure.imds.find(eventId)) azure.imds.remove(eventId);
  });
  return eventId;
}

const polls = (vm: string): number => azure.imds.polls[vm] ?? 0;
const polled = (vm: string, times: number): Promise<unknown> => {
  const before = polls(vm);
  return until(() => polls(vm) >= before + times, { what: `${times} polls of ${vm}`, timeoutMs: 60_000 });
};
const approvalsOf = (eventId: string): readonly string[] =>
  azure.imds.approvals.filter((approval) => approval.eventId === eventId).map(({ vm }) => vm);

const recordsOf = (vm: string): LifecycleRecord[] =>
  firstCopies(hubRecords(azure).filter(({ vmName }) => vmName === vm)).sort((a, b) => a.position - b.position);
const phaseLines = (vm: string): string[] =>
  recordsOf(vm).map(({ phase, evidence }) => `${phase}: ${evidence.join(' ')}`);

/** The records of a VM once there are so many, here and in the table, each at its place. */
async function phaseLinesOf(vm: string, count: number): Promise<string[]> {
  await until(() => recordsOf(vm).length >= count, { what: `${count} records of ${vm}`, timeoutMs: 60_000 });
  await until(() => tableRows(azure).filter(({ VmName }) => VmName === vm).length >= count, { what: 'rows' });
  expect(recordsOf(vm).map(({ position }) => position)).toEqual(Array.from({ length: count }, (_, n) => n + 1));
  return phaseLines(vm);
}

describe('a bridge that may approve what users ask for', () => {
  const approve = { userInitiated: true };

  test('approves a reboot of its VM alone within two polls, and tells of it', async () => {
    const [vm] = twoVms();
    place().start(vm, approve);
    await polled(vm, 3);
    const before = polls(vm);
    const eventId = schedule([vm]);
    await until(() => approvalsOf(eventId).length > 0, { what: 'the approval', everyMs: 1 });
    expect(polls(vm) - before).toBeLessThanOrEqual(2);
    await until(() => phaseLines(vm).includes('Started: said-by-azure'), { what: 'the start' });
    azure.imds.remove(eventId);
    expect(await phaseLinesOf(vm, 4)).toEqual([
      'Scheduled: said-by-azure',
      'Approved: accepted',
      'Started: said-by-azure',
      'Completed: left-after-started approved',
    ]);
    expect(approvalsOf(eventId)).toEqual([vm]);
  });

  test('looks at what is there when it starts once before it approves', async () => {
    const [vm] = twoVms();
    azure.imds.addVm({ name: vm });
    const eventId = schedule([vm]);
    place().start(vm, approve);
    await until(() => polls(vm) === 1, { what: 'the first poll', everyMs: 1 });
    expect(approvalsOf(eventId)).toEqual([]);
    await until(() => approvalsOf(eventId).length > 0, { what: 'the approval', everyMs: 1 });
    expect(polls(vm)).toBeGreaterThanOrEqual(2);
  });

  test('leaves alone what another VM leads, and what no user asked for', async () => {
    const [vm, leader] = twoVms();
    place().start(vm, approve);
    await polled(vm, 2);
    const notBefore = new Date(Date.now() + 900_000);
    const platforms = azure.imds.schedule({ eventType: 'Reboot', eventSource: 'Platform', resources: [vm], notBefore });
    const others = schedule([leader, vm]);
    const evicted = schedule([vm], 'Preempt');
    await polled(vm, 5);
    expect([platforms, others, evicted].flatMap(approvalsOf)).toEqual([]);
    azure.imds.remove(platforms);
  });

  test('approves on behalf of a neighbour that hangs, when it has had its time', async () => {
    const [vm, neighbour] = twoVms();
    place().start(vm, { ...approve, onBehalfOf: [neighbour], onBehalfAfterSeconds: 3 });
    await polled(vm, 2);
    const eventId = schedule([neighbour]);
    await polled(vm, 2);
    expect(approvalsOf(eventId)).toEqual([]);
    await until(() => approvalsOf(eventId).length > 0, { what: 'the approval' });
    expect(approvalsOf(eventId)).toEqual([vm]);
    await until(() => phaseLines(vm).some((line) => line.startsWith('Started')), { what: 'the start' });
    azure.imds.remove(eventId);
    expect(await phaseLinesOf(vm, 3)).toEqual([
      `Approved: accepted on-behalf-of:${neighbour}`,
      'Started: said-by-azure',
      'Completed: left-after-started approved',
    ]);
  });

  test('approves nothing while the file approve.disabled is there', async () => {
    const [vm] = twoVms();
    const { directory, start } = place();
    start(vm, approve);
    await polled(vm, 2);
    const file = join(directory, 'approve.disabled');
    writeFileSync(file, '');
    const eventId = schedule([vm]);
    await polled(vm, 4);
    expect(approvalsOf(eventId)).toEqual([]);
    rmSync(file);
    await until(() => approvalsOf(eventId).length > 0, { what: 'the approval' });
  });
});

describe('a bridge that is killed while it approves', () => {
  /** Stands before the metadata service: `at` is called with each POST, which is passed on unless it resolves with false. */
  async function frontOf(vm: string, at: { before: () => Promise<boolean>; after: () => Promise<boolean> }) {
    const target = new URL(azure.imds.url);
    const pass = async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
      const isPost = incoming.method === 'POST';
      if (isPost && !(await at.before())) return void incoming.destroy();
      const { method, url: path, headers } = incoming;
      const onward = request({ host: target.hostname, port: target.port, method, path, headers });
      incoming.pipe(onward);
      const [given] = (await once(onward, 'response')) as [IncomingMessage];
      if (isPost && !(await at.after())) return void incoming.destroy();
      answer.writeHead(given.statusCode ?? 500, given.headers);
      given.pipe(answer);
    };
    const server = createServer((incoming, answer) => void pass(incoming, answer).catch(() => incoming.destroy()));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}${new URL(azure.imds.vmUrl(vm)).pathname}`;
  }

  test.each<{ when: 'before' | 'after'; what: string; posts: number; records: readonly string[] }>([
    {
      when: 'before',
      what: 'between the intent and the POST, approves once it runs again',
      posts: 1,
      records: ['Scheduled: said-by-azure', 'Approved: accepted', 'Started: said-by-azure'],
    },
    {
      when: 'after',
      what: 'between the POST and its outcome, learns from the document that it was accepted',
      posts: 1,
      records: ['Scheduled: said-by-azure', 'Started: said-by-azure', 'Approved: accepted'],
    },
  ])('$what', async ({ when, posts, records }) => {
    const [vm] = twoVms();
    const { start } = place();
    let first: BridgeProcess | null = null;
    let isKilled = false;
    const kill = async (): Promise<boolean> => {
      if (isKilled) return true;
      isKilled = true;
      first?.kill('SIGKILL');
      await first?.exited;
      return false;
    };
    const goOn = async (): Promise<boolean> => true;
    const endpoint = await frontOf(vm, { before: goOn, after: goOn, [when]: kill });
    const approve = { userInitiated: true };
    first = start(vm, approve, endpoint);
    await polled(vm, 2);
    const eventId = schedule([vm]);
    await first.exited;
    expect(isKilled).toBe(true);
    start(vm, approve, endpoint);
    await until(() => recordsOf(vm).length >= 3, { what: 'three records', timeoutMs: 60_000 });
    await polled(vm, 3);
    const lines = await phaseLinesOf(vm, 3);
    // What stands on disk after the kill may be a minute old, which the restarted process has to call a gap.
    const sure = (line: string): string =>
      line.replace('present-at-first-look', 'said-by-azure').replace(' observation-gap', '');
    expect(lines.map(sure)).toEqual(records);
    expect(approvalsOf(eventId)).toHaveLength(posts);
    expect(new Set(recordsOf(vm).map(({ streamId }) => streamId)).size).toBe(1);
  });

  test('between the intent and the POST, does not approve what the event has become meanwhile', async () => {
    const [vm] = twoVms();
    const { start } = place();
    let first: BridgeProcess | null = null;
    const kill = async (): Promise<boolean> => {
      first?.kill('SIGKILL');
      await first?.exited;
      return false;
    };
    const endpoint = await frontOf(vm, { before: kill, after: async () => true });
    const approve = { userInitiated: true };
    first = start(vm, approve, endpoint);
    await polled(vm, 2);
    const eventId = schedule([vm]);
    await first.exited;
    azure.imds.update(eventId, { eventType: 'Terminate' });
    start(vm, approve, azure.imds.vmUrl(vm));
    await polled(vm, 4);
    expect(approvalsOf(eventId)).toEqual([]);
  });
});

describe('a person who approves by hand', () => {
  test('has what no policy allows approved by the service that runs', async () => {
    const [vm] = twoVms();
    const { directory, start } = place();
    start(vm, {});
    await polled(vm, 2);
    const eventId = schedule([vm], 'Preempt');
    await polled(vm, 2);
    const file = join(directory, 'command.json');
    writeFileSync(file, JSON.stringify(configurationFor(azure, vm, directory)), { mode: 0o600 });
    const command = [mainFile, 'approve', eventId, '--yes', '--config', file];
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.on('data', (chunk) => (printed += chunk));
    const [code] = await once(child, 'exit');
    expect([code, printed]).toEqual([0, expect.stringContaining('Azure accepted it')]);
    expect(approvalsOf(eventId)).toEqual([vm]);
    await until(() => phaseLines(vm).some((line) => line.startsWith('Started')), { what: 'the start' });
    expect(await phaseLinesOf(vm, 3)).toEqual([
      'Scheduled: said-by-azure',
      'Approved: accepted',
      'Started: said-by-azure',
    ]);
  });
});
