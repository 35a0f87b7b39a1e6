import { expect, test } from 'vitest';
import { FleetView, type LifecycleRecord } from '../../src/consumer/index.ts';
import type { LifecycleRecord as Written } from '../../src/lifecycle/record.ts';
import { columnOf, encodeRow } from '../../src/sinks/log-analytics/encode.ts';
import { epochMs } from '../fleet-model/world.ts';
import { kql } from '../kql/functions/query.ts';
import { fleetOf, seeds } from '../kql/ground-truth/fleet.ts';
import { reportedIn } from '../kql/ground-truth/known.ts';
import { tablesOf } from '../kql/ground-truth/rows.ts';
import { validatorOf } from '../support/published-schema.ts';
import { runs } from '../support/runs.ts';
import { sampleRecord } from '../support/sample-record.ts';
import { historyOf } from './worlds.ts';

const viewOf = (records: readonly LifecycleRecord[]): FleetView => {
  const fleet = new FleetView();
  for (const record of records) fleet.add(record);
  return fleet;
};

/** `VmEventStates`, a row a line: event, VM, phase, whether it is open. */
function statesByKql(records: readonly LifecycleRecord[], now: string): string[] {
  const { rows } = kql.execute(
    'VmEventStates(ago(400d), ago(400d)) | project tolower(EventId), tolower(VmId), Phase, IsOpen',
    {
      tables: { VmLifecycle_CL: records.map((record) => encodeRow(record as Written)), VmLifecycleBridge_CL: [] },
      now,
    },
  );
  return rows.map((row) => row.join(' ')).sort();
}

const statesByView = (records: readonly LifecycleRecord[]): string[] =>
  viewOf(records)
    .events()
    .flatMap(({ eventId, views }) =>
      views
        .filter(({ isAffected }) => isAffected)
        .map(({ vmId, last, isOpen }) => [eventId, vmId, last.phase, isOpen].join(' ')),
    )
    .sort();

test('the view and VmEventStates say the same of what each VM of a random fleet reported last', {
  timeout: 600_000,
}, () => {
  const last = runs('histories in both', { quick: 10, full: 150 });
  let states = 0;
  for (let seed = 1; seed <= last; seed += 1) {
    const { world, arrivals } = historyOf(seed);
    const now = new Date(epochMs + world.lengthMs + 86_400_000).toISOString();
    const expected = statesByKql(arrivals, now);
    expect(statesByView(arrivals), `seed ${seed}`).toEqual(expected);
    states += expected.length;
  }
  expect(states).toBeGreaterThan(2 * last);
});

/** Rows of the ground truth as the records that they would have been made of. */
function recordsOf(rows: readonly Readonly<Record<string, unknown>>[]): LifecycleRecord[] {
  const blank = Object.fromEntries(Object.entries(sampleRecord()).map(([field]) => [field, null]));
  const basis = {
    ...blank,
    schemaVersion: '1.1',
    imdsApiVersion: '2020-07-01',
    rawEvent: {},
    changes: [],
    repeat: 0,
    documentIncarnation: 1,
    affectedResourceCount: 0,
  };
  return rows.map((row) => {
    const fields = Object.entries(columnOf).map(([field, column]) => [field, row[column]] as const);
    return {
      ...basis,
      position: 1,
      streamId: 'of a test',
      transitionId: row.RecordId,
      ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)),
    } as unknown as LifecycleRecord;
  });
}

test.each(seeds)('the view of fleet %i holds open what truly is, as far as any bridge could observe it', (seed) => {
  const fleet = fleetOf(seed);
  const records = recordsOf(tablesOf(fleet, seed).VmLifecycle_CL);
  const problemsOf = validatorOf('lifecycle-record.v1.json');
  expect(records.flatMap(problemsOf)).toEqual([]);
  const view = viewOf(records);
  /** One that lost its state and polled again after the event had ended. */
  const isForgotten = ({ removedAt, vms, group }: (typeof fleet.events)[number]): boolean =>
    fleet.vms.some(
      (vm) =>
        vm.group === group &&
        vms.includes(vm.name) &&
        vm.stateLostAt !== null &&
        removedAt < vm.stateLostAt &&
        vm.stateLostAt < fleet.now,
    );
  /** The VM is removed and cannot report the end. */
  const isTaken = ({ type, notBefore }: (typeof fleet.events)[number]): boolean =>
    type === 'Preempt' && (notBefore ?? Number.POSITIVE_INFINITY) + 10 * 60_000 < fleet.now;
  const expected = reportedIn(fleet).map(({ event, vm, isOver }) => [
    event.id.toLowerCase(),
    vm.resourceGroup,
    vm.name,
    !isOver && !isForgotten(event) && !isTaken(event),
  ]);
  const isOpen = (eventId: string, resourceGroup: string | null, name: string): boolean => {
    const state = view.event(eventId);
    if (state?.presumedOverAt != null && state.presumedOverAt.getTime() < fleet.now) return false;
    return state?.affected.some((vm) => vm.resourceGroup === resourceGroup && vm.name === name) ?? false;
  };
  expect(reportedIn(fleet).filter(({ event, isOver }) => isTaken(event) && !isOver).length).toBeGreaterThan(0);
  expect(expected.filter(([, , , open]) => open).length).toBeGreaterThan(5);
  for (const [eventId, resourceGroup, name, open] of expected as [string, string, string, boolean][])
    expect([eventId, name, isOpen(eventId, resourceGroup, name)]).toEqual([eventId, name, open]);
});
