import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { typeMismatch } from '../../src/azure-simulator/logs-ingestion/columns.ts';
import { findScenario, scenarios } from '../../src/azure-simulator/scenarios/index.ts';
import { encodeRow, type Row } from '../../src/sinks/log-analytics/encode.ts';
import { fleetRows, generateFleetRows } from '../support/fleet-rows/demo-fleet.ts';
import { playGroup } from '../support/fleet-rows/group-play.ts';
import { rowsOf } from '../support/fleet-rows/scenario-rows.ts';
import { root } from '../support/source-tree.ts';

const { tables } = JSON.parse(readFileSync(join(root, 'bicep/schema/columns.json'), 'utf8')) as {
  tables: Record<'VmLifecycle_CL' | 'VmLifecycleBridge_CL', { name: string; type: string }[]>;
};
const fleet = fleetRows();

describe('the demo fleet', () => {
  test('fits the columns of its tables', () => {
    expect(typeMismatch(fleet.VmLifecycle_CL, tables.VmLifecycle_CL)).toBeNull();
    expect(typeMismatch(fleet.VmLifecycleBridge_CL, tables.VmLifecycleBridge_CL)).toBeNull();
  });

  test('is the same in every run', () => {
    expect(generateFleetRows()).toEqual(fleet);
  });

  test('holds every type and phase there is, copies, late arrivals, tests and a lost position', () => {
    const valuesOf = (column: string) => new Set(fleet.VmLifecycle_CL.map((row) => row[column]));
    expect([...valuesOf('EventType')].sort()).toEqual(
      ['Freeze', 'Preempt', 'Reboot', 'Redeploy', 'Reimage', 'Terminate', 'Test', null].sort(),
    );
    expect([...valuesOf('Phase')].sort()).toEqual([
      'Canceled',
      'Completed',
      'Ended',
      'Scheduled',
      'Snapshot',
      'Started',
      'Updated',
    ]);
    expect(valuesOf('RecordId').size).toBeLessThan(fleet.VmLifecycle_CL.length);
    expect(fleet.VmLifecycle_CL.some(({ TimeGenerated, ObservedAt }) => TimeGenerated !== ObservedAt)).toBe(true);
    const positions = fleet.VmLifecycle_CL.flatMap((row) => (row.VmName === 'web_9' ? [row.Position] : []));
    expect(new Set(positions)).not.toContain(2);
    expect(Math.max(...positions.map(Number))).toBeGreaterThan(2);
  });
});

/**
 * Without times and ids, without the order within one document, which is that of ids, and without the record that a new
 * stream makes after five minutes: only simulated time advances that far.
 */
const inCommon = (rows: readonly Row[]): string[] =>
  rows
    .filter(({ Phase }) => Phase !== 'Snapshot')
    .map(({ VmName, Phase, Evidence, AffectedResources, ObservedPauseMs }) =>
      JSON.stringify([VmName, Phase, Evidence, AffectedResources, ObservedPauseMs]),
    )
    .sort();

const played = scenarios.filter(({ name }) => !['warm-up', 'chaos'].includes(name)).map(({ name }) => name);

test.each(played)('a group of two reports the same of %s, in simulated time and over sockets', async (name) => {
  const scenario = findScenario(name) ?? expect.unreachable(name);
  const count = Math.max(2, scenario.vms?.length ?? 0);
  const names = Array.from({ length: count }, (_, number) => `web_${number}`);
  const vms = names.map((vm, number) => ({ ...scenario.vms?.[number], name: vm }));
  const histories = playGroup({ name, vms, plays: [{ scenario, at: 2 }], witnessRate: 1 }, new Date(), 30 * 24 * 3600);
  const counted = histories.flatMap(({ records }) => records.map(encodeRow));
  const watched = await rowsOf(name, { vms: Object.fromEntries(names.map((vm) => [vm, { witnessRate: 1 }])) });
  expect(inCommon(counted)).toEqual(inCommon(watched.VmLifecycle_CL));
});
