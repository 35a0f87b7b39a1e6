import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { createRuntimeStats } from '../../src/health/runtime-stats.ts';
import { takeSnapshot } from '../../src/health/snapshot.ts';
import { serveStatus } from '../../src/health/status-server.ts';
import { silentLog } from '../../src/log.ts';
import type { Outbox } from '../../src/outbox/outbox.ts';
import { until } from './until.ts';

/** Answers for this outbox as a service would that has just seen a document. */
export async function serveStatusOf(outbox: Outbox, directory: string): Promise<{ close(): Promise<void> }> {
  const clock = systemClock;
  const imds = { timeoutSeconds: 10, firstTimeoutSeconds: 130 };
  const runtimeStats = createRuntimeStats({ imds, holdSeconds: {} }, clock);
  runtimeStats.recordPoll({
    pollResult: { kind: 'unchanged', azureTime: null, clockOffsetSeconds: 0 },
    appeared: { seen: 0, ours: 0 },
  });
  const sources = {
    ...{ runtimeStats, outbox, clock, version: '1.2.3', holdSeconds: {}, stop: new AbortController().signal },
    relays: [],
    senderFacts: () => [],
    imds: { ...imds, intervalSeconds: 1, isWarm: () => true },
  };
  const served = serveStatus({ directory, snapshot: () => takeSnapshot(sources), clock, log: silentLog });
  await until(() => existsSync(join(directory, 'status.sock')), { what: 'the socket' });
  return served;
}
