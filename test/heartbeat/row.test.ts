import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { misfit } from '../../src/azure-simulator/logs-ingestion/columns.ts';
import { heartbeat, heartbeatRow } from '../../src/heartbeat/row.ts';
import { root } from '../support/source-tree.ts';
import { sampleFacts } from './facts.ts';

const { tables } = JSON.parse(readFileSync(join(root, 'bicep/schema/columns.json'), 'utf8')) as {
  tables: Record<string, { name: string; type: string }[]>;
};
const columns = tables.VmLifecycleBridge_CL ?? [];

test('the columns of the bridge table are those that a heartbeat fills', () => {
  expect(Object.keys(heartbeatRow(sampleFacts())).sort()).toEqual(columns.map(({ name }) => name).sort());
});

test('every value of a heartbeat is of the type that its column declares, whatever is unknown', () => {
  const unknown = sampleFacts({ stopReason: null, oldestPendingAt: null });
  for (const facts of [sampleFacts(), unknown]) expect(misfit([heartbeatRow(facts)], columns)).toBeNull();
  expect(Object.values(heartbeatRow(sampleFacts()))).not.toContain(null);
});

test('a heartbeat tells how long, how far and what waits', () => {
  expect(heartbeat(sampleFacts())).toMatchObject({
    state: 'stopping',
    stopReason: 'asked',
    uptimeSeconds: 3600,
    lastPosition: 17,
    oldestPendingSeconds: 12.5,
    deadLetters: 3,
    failedPolls: { timeout: 2 },
    resourceId: '/subscriptions/s/vm',
    isTest: false,
  });
});

test('a clock that was set back makes no negative age', () => {
  expect(heartbeat(sampleFacts({ oldestPendingAt: '2026-03-14T11:00:00.000Z' })).oldestPendingSeconds).toBe(0);
});
