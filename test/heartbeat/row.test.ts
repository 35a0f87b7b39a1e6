import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { typeMismatch } from '../../src/azure-simulator/logs-ingestion/columns.ts';
import { heartbeat, heartbeatRow } from '../../src/heartbeat/row.ts';
import { noCounters } from '../../src/outbox/outbox.ts';
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
  const unknown = sampleFacts({ stopReason: null, oldestPendingAt: null, next: null });
  for (const facts of [sampleFacts(), unknown]) expect(typeMismatch([heartbeatRow(facts)], columns)).toBeNull();
  expect(Object.values(heartbeatRow(sampleFacts()))).not.toContain(null);
});

test('a heartbeat has the uptime, the progress and the number of pending records', () => {
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

test('a heartbeat carries what is planned next, how the last polls went, and what was discarded', () => {
  const sinks = {
    'event-hubs': { ...noCounters, accepted: 17, delivered: 13, expired: 4 },
    'log-analytics': { ...noCounters, accepted: 17, delivered: 15, expired: 2 },
  };
  expect(heartbeat(sampleFacts({ sinks }))).toMatchObject({
    intervalMinutes: 60,
    tags: { owner: 'web-team' },
    lastDocumentAgeSeconds: 1.25,
    recentPolls: 3600,
    recentFailedPolls: 2,
    expiredRecords: 6,
    nextNotBefore: '2026-03-16T10:00:00.000Z',
    nextEventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
    nextEventType: 'Redeploy',
    nextEventSource: 'Platform',
  });
});

test('a heartbeat without a planned event has none of its fields', () => {
  const { nextNotBefore, nextEventId, nextEventType, nextEventSource } = heartbeat(sampleFacts({ next: null }));
  expect([nextNotBefore, nextEventId, nextEventType, nextEventSource]).toEqual([null, null, null, null]);
});

test('a clock that was set back makes no negative age', () => {
  expect(heartbeat(sampleFacts({ oldestPendingAt: '2026-03-14T11:00:00.000Z' })).oldestPendingSeconds).toBe(0);
});
