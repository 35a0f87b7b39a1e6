import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { configurationFor, startBridge, temporaryDirectory } from '../support/bridge-process.ts';
import { hubRecords, tableRows } from '../support/delivered.ts';
import { until } from '../support/until.ts';

let azure: AzureSimulator;
beforeAll(async () => {
  azure = await startAzureSimulator();
});
afterAll(() => azure.close());

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
const isThere = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};
const quiet = { heartbeat: { everyMinutes: 0 } };
const delivered = (eventId: string): boolean =>
  hubRecords(azure).some((record) => record.eventId === eventId) &&
  tableRows(azure).some((row) => row.EventId === eventId);
const schedule = (minutes: number): string =>
  azure.imds.schedule({
    eventType: 'Freeze',
    resources: ['web_0'],
    notBefore: new Date(Date.now() + minutes * 60_000),
  });

test.skipIf(process.platform !== 'linux')(
  'a quiet VM has one process; near an event there are two more; killed ones are started again; none outlives the bridge',
  async () => {
    using directory = temporaryDirectory('senders');
    const bridge = startBridge(configurationFor(azure, 'web_0', directory.path, quiet));
    const pid = bridge.child.pid ?? 0;
    await until(() => azure.imds.requests('token') >= 2 && childrenOf(pid).length === 0, { what: 'the quiet bridge' });
    const first = schedule(15);
    await until(() => delivered(first), { what: 'the first record at both' });
    const senders = childrenOf(pid);
    expect(senders).toHaveLength(2);
    for (const sender of senders) process.kill(sender, 'SIGKILL');
    await until(() => senders.every((sender) => !isThere(sender)), { what: 'their end' });
    const polls = azure.imds.requests('scheduledevents');
    const second = schedule(16);
    // A batch that was in flight when its sender was killed is one failure; on a busy machine the next start may be another.
    await until(() => delivered(second), { timeoutMs: 60_000, what: 'the second record at both' });
    expect(azure.imds.requests('scheduledevents')).toBeGreaterThan(polls);
    const later = childrenOf(pid);
    expect(later).toHaveLength(2);
    bridge.kill('SIGKILL');
    await bridge.exited;
    await until(() => later.every((sender) => !isThere(sender)), { what: 'the end of what it had started' });
  },
);
