import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, type TestContext } from 'vitest';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { test } from '../support/azure-test.ts';
import { type BridgeProcess, configurationFor } from '../support/bridge-process.ts';
import { firstCopies, hubRecords, tableRows } from '../support/delivered.ts';
import { runCommand } from '../support/program.ts';
import { until } from '../support/until.ts';

/** The VM of the bridge, and the one beside it, which has none. */
const [vm, neighbour] = ['web_0', 'web_1'];
const approve = { userInitiated: true };

function schedule(
  { imds }: AzureSimulator,
  resources: readonly string[],
  eventType: 'Reboot' | 'Preempt' = 'Reboot',
): string {
  const notBefore = new Date(Date.now() + 900_000);
  return imds.schedule({ eventType, eventSource: 'User', resources, notBefore, durationSeconds: -1 });
}

const polls = ({ imds }: AzureSimulator): number => imds.polls[vm] ?? 0;
const polled = (azure: AzureSimulator, times: number): Promise<unknown> => {
  const before = polls(azure);
  return until(() => polls(azure) >= before + times, { what: `${times} polls`, timeoutMs: 60_000 });
};
const approvalsOf = ({ imds }: AzureSimulator, eventId: string): readonly string[] =>
  imds.approvals.filter((approval) => approval.eventId === eventId).map(({ vm }) => vm);

const recordsOf = (azure: AzureSimulator): LifecycleRecord[] =>
  firstCopies(hubRecords(azure)).sort((a, b) => a.position - b.position);
const phaseLines = (azure: AzureSimulator): string[] =>
  recordsOf(azure).map(({ phase, evidence }) => `${phase}: ${evidence.join(' ')}`);

/** The records once there are `count` of them, here and in the table, each at its position. */
async function phaseLinesOf(azure: AzureSimulator, count: number): Promise<string[]> {
  await until(() => recordsOf(azure).length >= count, { what: `${count} records`, timeoutMs: 60_000 });
  await until(() => tableRows(azure).length >= count, { what: 'rows' });
  expect(recordsOf(azure).map(({ position }) => position)).toEqual(Array.from({ length: count }, (_, n) => n + 1));
  return phaseLines(azure);
}

describe('a bridge that may approve what users ask for', { concurrent: true }, () => {
  test('approves a reboot of its VM within two polls, and records it', async ({ azure, start }) => {
    start({ approve });
    await polled(azure, 3);
    const before = polls(azure);
    const eventId = schedule(azure, [vm]);
    await until(() => approvalsOf(azure, eventId).length > 0, { what: 'the approval', everyMs: 1 });
    expect(polls(azure) - before).toBeLessThanOrEqual(2);
    await until(() => phaseLines(azure).includes('Started: said-by-azure'), { what: 'the start' });
    azure.imds.remove(eventId);
    expect(await phaseLinesOf(azure, 4)).toEqual([
      'Scheduled: said-by-azure',
      'Approved: accepted',
      'Started: said-by-azure',
      'Completed: left-after-started approved',
    ]);
    expect(approvalsOf(azure, eventId)).toEqual([vm]);
  });

  test('observes once after its start before it approves', async ({ azure, start }) => {
    const eventId = schedule(azure, [vm]);
    start({ approve });
    await until(() => polls(azure) === 1, { what: 'the first poll', everyMs: 1 });
    expect(approvalsOf(azure, eventId)).toEqual([]);
    await until(() => approvalsOf(azure, eventId).length > 0, { what: 'the approval', everyMs: 1 });
    expect(polls(azure)).toBeGreaterThanOrEqual(2);
  });

  test('ignores events led by another VM, and events that no user requested', async ({ azure, start }) => {
    start({ approve });
    await polled(azure, 2);
    const notBefore = new Date(Date.now() + 900_000);
    const platforms = azure.imds.schedule({ eventType: 'Reboot', eventSource: 'Platform', resources: [vm], notBefore });
    const others = schedule(azure, [neighbour, vm]);
    const evicted = schedule(azure, [vm], 'Preempt');
    await polled(azure, 5);
    expect([platforms, others, evicted].flatMap((eventId) => approvalsOf(azure, eventId))).toEqual([]);
  });

  test('approves on behalf of a neighbour that hangs, when it has had its time', async ({ azure, start }) => {
    start({ approve: { ...approve, onBehalfOf: [neighbour], onBehalfAfterSeconds: 3 } });
    await polled(azure, 2);
    const eventId = schedule(azure, [neighbour]);
    await polled(azure, 2);
    expect(approvalsOf(azure, eventId)).toEqual([]);
    await until(() => approvalsOf(azure, eventId).length > 0, { what: 'the approval' });
    expect(approvalsOf(azure, eventId)).toEqual([vm]);
    await until(() => phaseLines(azure).some((line) => line.startsWith('Started')), { what: 'the start' });
    azure.imds.remove(eventId);
    expect(await phaseLinesOf(azure, 3)).toEqual([
      `Approved: accepted on-behalf-of:${neighbour}`,
      'Started: said-by-azure',
      'Completed: left-after-started approved',
    ]);
  });

  test('approves nothing while the file approve.disabled exists', async ({ azure, directory, start }) => {
    start({ approve });
    await polled(azure, 2);
    const file = join(directory, 'approve.disabled');
    writeFileSync(file, '');
    const eventId = schedule(azure, [vm]);
    await polled(azure, 4);
    expect(approvalsOf(azure, eventId)).toEqual([]);
    rmSync(file);
    await until(() => approvalsOf(azure, eventId).length > 0, { what: 'the approval' });
  });
});

describe('a bridge that is killed while it approves', { concurrent: true }, () => {
  /** Stands before the metadata service: `at` is called with each POST, which is passed on unless it resolves with false. */
  async function frontOf(
    { azure, onTestFinished }: Pick<TestContext, 'onTestFinished'> & { azure: AzureSimulator },
    at: { before: () => Promise<boolean>; after: () => Promise<boolean> },
  ) {
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

  test.for<{ when: 'before' | 'after'; what: string; posts: number; records: readonly string[] }>([
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
  ])('$what', async ({ when, posts, records }, { azure, start, onTestFinished }) => {
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
    const endpoint = await frontOf({ azure, onTestFinished }, { before: goOn, after: goOn, [when]: kill });
    first = start({ approve, imds: { endpoint, firstTimeoutSeconds: 1 } });
    await polled(azure, 2);
    const eventId = schedule(azure, [vm]);
    await first.exited;
    expect(isKilled).toBe(true);
    start({ approve, imds: { endpoint, firstTimeoutSeconds: 1 } });
    await until(() => recordsOf(azure).length >= 3, { what: 'three records', timeoutMs: 60_000 });
    await polled(azure, 3);
    const lines = await phaseLinesOf(azure, 3);
    // What stands on disk after the kill may be a minute old, which the restarted process has to call a gap.
    const sure = (line: string): string =>
      line.replace('present-at-first-look', 'said-by-azure').replace(' observation-gap', '');
    expect(lines.map(sure)).toEqual(records);
    expect(approvalsOf(azure, eventId)).toHaveLength(posts);
    expect(new Set(recordsOf(azure).map(({ streamId }) => streamId)).size).toBe(1);
  });

  test('between the intent and the POST, does not approve the event after it has changed', async ({
    azure,
    start,
    onTestFinished,
  }) => {
    let first: BridgeProcess | null = null;
    const kill = async (): Promise<boolean> => {
      first?.kill('SIGKILL');
      await first?.exited;
      return false;
    };
    const endpoint = await frontOf({ azure, onTestFinished }, { before: kill, after: async () => true });
    first = start({ approve, imds: { endpoint, firstTimeoutSeconds: 1 } });
    await polled(azure, 2);
    const eventId = schedule(azure, [vm]);
    await first.exited;
    azure.imds.update(eventId, { eventType: 'Terminate' });
    start({ approve });
    await polled(azure, 4);
    expect(approvalsOf(azure, eventId)).toEqual([]);
  });
});

describe('a manual approval', { concurrent: true }, () => {
  test('is sent by the running service for an event that no policy allows', async ({ azure, directory, start }) => {
    start();
    await polled(azure, 2);
    const eventId = schedule(azure, [vm], 'Preempt');
    await polled(azure, 2);
    const file = join(directory, 'command.json');
    writeFileSync(file, JSON.stringify(configurationFor(azure, vm, directory)), { mode: 0o600 });
    const { code, out } = await runCommand(['approve', eventId, '--yes', '--config', file]);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('Azure accepted it') });
    expect(approvalsOf(azure, eventId)).toEqual([vm]);
    await until(() => phaseLines(azure).some((line) => line.startsWith('Started')), { what: 'the start' });
    expect(await phaseLinesOf(azure, 3)).toEqual([
      'Scheduled: said-by-azure',
      'Approved: accepted',
      'Started: said-by-azure',
    ]);
  });
});
