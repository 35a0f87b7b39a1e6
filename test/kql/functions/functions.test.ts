import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fleetRows } from '../../support/fleet-rows/demo-fleet.ts';
import { root } from '../../support/source-tree.ts';
import { functionsFolder, kql } from './query.ts';

const names = readdirSync(functionsFolder).map((file) => basename(file, '.kql'));
const textOf = (name: string): string => readFileSync(join(functionsFolder, `${name}.kql`), 'utf8');
const { tables } = JSON.parse(readFileSync(join(root, 'bicep/schema/columns.json'), 'utf8')) as {
  tables: Record<string, { name: string; type: string }[]>;
};
const recordColumns = (tables.VmLifecycle_CL ?? []).map(({ name }) => name);
const columnsOf = (name: string): string[] => kql.bind(`${name}()`).columns.map((column) => column.name);
/** One is made for alert rules, which pass their times in. */
const callOf = (name: string): string => (name === 'VmEventStates' ? 'VmEventStates(ago(14d), ago(14d))' : `${name}()`);
const { now, ...given } = fleetRows();
const fleet = kql.load(given);

test('the functions of the workspace are those that queries and alerts call', () => {
  expect(names.sort()).toEqual([
    'VmBridgeCoverage',
    'VmEventStates',
    'VmEventTimeline',
    'VmLifecycle',
    'VmLifecycleRecords',
    'VmLifecycleSights',
  ]);
});

describe.each(names)('the function %s', (name) => {
  test('is bound without a complaint, by itself and where it is called', () => {
    const times = 'let Lookback = 14d;\nlet RecordsSince = ago(14d);\nlet HeartbeatsSince = ago(14d);\n';
    const body = `${times}${textOf(name)}`;
    for (const query of [body, callOf(name)]) expect(kql.bind(query).diagnostics, query).toEqual([]);
    expect(kql.analyze(body)).toEqual([]);
  });

  test('is written as the formatter writes it', () => {
    expect(textOf(name)).toBe(`${kql.format(textOf(name)).replaceAll('\r\n', '\n').trimEnd()}\n`);
  });

  // https://learn.microsoft.com/azure/azure-monitor/alerts/alerts-log-query
  test('can be called in an alert rule, where neither union nor search is allowed', () => {
    expect(textOf(name)).not.toMatch(/\b(union|search)\b/);
  });

  test('return rows for a fleet, and for one that has sent no records yet', () => {
    const ask = (given: Parameters<typeof kql.execute>[1]['tables']): number =>
      kql.execute(callOf(name), { tables: given, now: now.toISOString() }).rows.length;
    expect(ask(fleet)).toBeGreaterThan(100);
    expect(ask({ VmLifecycle_CL: [], VmLifecycleBridge_CL: [] })).toBe(0);
  });
});

test('records, sightings and steps have every column of a record', () => {
  const added = (name: string): string[] => columnsOf(name).filter((column) => !recordColumns.includes(column));
  for (const name of ['VmLifecycleRecords', 'VmLifecycleSights', 'VmLifecycle']) {
    expect(columnsOf(name), name).toEqual(expect.arrayContaining(recordColumns));
  }
  expect(added('VmLifecycleRecords')).toEqual(['AzureAt']);
  expect(added('VmLifecycleSights')).toEqual(['AzureAt', 'Event', 'IsEnd', 'IsPresumedEnded']);
  expect(added('VmLifecycle')).toEqual(['AzureAt', 'IsPresumedEnded', 'SeenBy']);
});

test('the columns of timeline and coverage are those that others read', () => {
  expect(columnsOf('VmEventTimeline').join(' ')).toBe(
    'EventId EventType EventSource VmName VmId ResourceId SubscriptionId ResourceGroup VmScaleSetName PlacementGroupId Location ' +
      'Zone FaultDomain VmSize VmPriority OsType Tags Description NotBefore DurationInSeconds FirstSeenAt ScheduledAt StartedAt StartSeen EndedAt ' +
      'Outcome Evidence IsOpen PresumedEnded NoticeSeconds StartedSeconds ObservedPauseMs ObservedPauseTotalMs ' +
      'ObservedOutageSeconds OutageFrom OutageUntil PhysicalHost PreviousPhysicalHost ApprovedAt SeenFrom Witness LastObservedAt AffectedResourceCount',
  );
  expect(columnsOf('VmBridgeCoverage').join(' ')).toBe(
    'Computer VmName VmId ResourceId SubscriptionId ResourceGroup VmScaleSetName Location BridgeVersion ConfigHash StreamId ' +
      'State StopReason FirstHeartbeatAt LastHeartbeatAt LastRecordAt IsSilent OldestPendingSeconds DeadLetters ' +
      'ClockOffsetSeconds PollFailureShare OpenEvents LastPosition IntervalMinutes LastDocumentAgeSeconds IsBlind ExpiredRecords ' +
      'NextNotBefore NextEventType NextEventId OsType',
  );
});

test('on the demo fleet every VM that an event ever named is in the timeline once', () => {
  const named = given.VmLifecycle_CL.filter(({ IsTest }) => !IsTest).flatMap(({ EventId, AffectedResources }) =>
    (AffectedResources as string[]).map((vm) => `${EventId} ${vm}`),
  );
  const { rows } = kql.execute('VmEventTimeline() | project EventId, VmName', {
    tables: fleet,
    now: now.toISOString(),
  });
  expect(rows.map((row) => row.join(' ')).sort()).toEqual([...new Set(named)].sort());
});
