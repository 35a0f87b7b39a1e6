import { describe, expect, test } from 'vitest';
import { findScenario, type Scenario } from '../../../src/azure-simulator/scenarios/index.ts';
import { readAlerts } from '../../support/alerts/read-alerts.ts';
import { rowsOfScene, type Scene, sceneAt, sceneEnds, sceneStarts } from '../../support/alerts/scene.ts';
import { type Arriving, arrivingAfter, arrivingAt, watch } from '../../support/alerts/watch.ts';
import type { Play } from '../../support/fleet-rows/group-play.ts';
import { type GivenRow, openKql } from '../../tools/kql/index.ts';

const kql = openKql({ functionsFrom: ['infra/kql/functions'] });
const alerts = readAlerts();
const minute = 60;
const hour = 60 * minute;

function scenario(name: string): Scenario {
  const found = findScenario(name);
  if (found === undefined) throw new Error(`there is no scenario ${name}`);
  return found;
}

const made = (name: string, steps: Scenario['steps']): Scenario => ({ name, description: name, demoSpeed: 1, steps });

/** To each of the VMs, one every half minute. */
const toEach = (name: string | Scenario, numbers: readonly number[]): Play[] =>
  numbers.map((number, n) => ({
    scenario: typeof name === 'string' ? scenario(name) : name,
    at: 30 * n,
    on: [`web_${number}`],
  }));

const first = (count: number): readonly number[] => Array.from({ length: count }, (_, number) => number);

/** Restarted, and never listed as over. */
const stuck = made('stuck', [
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Reboot', noticeSeconds: 15 * minute },
  { afterSeconds: 15 * minute, do: 'start', event: 'one' },
  { afterSeconds: 5, do: 'impact', event: 'one', kind: 'restart', seconds: 2 * minute },
]);

const becomesReboot = made('becomes a reboot', [
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Freeze', noticeSeconds: 20 * minute },
  { afterSeconds: 5 * minute, do: 'change', event: 'one', eventType: 'Reboot' },
  { afterSeconds: 15 * minute, do: 'start', event: 'one' },
  { afterSeconds: 2 * minute, do: 'remove', event: 'one' },
]);

const broughtForward = made('brought forward', [
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Redeploy', noticeSeconds: 48 * hour },
  { afterSeconds: 2 * hour, do: 'change', event: 'one', noticeSeconds: 15 * minute },
  { afterSeconds: 15 * minute, do: 'start', event: 'one' },
  { afterSeconds: 10 * minute, do: 'remove', event: 'one' },
]);

/** The VMs poll at every report. */
const farAhead = made('far ahead', [
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Freeze', noticeSeconds: 48 * hour },
  { afterSeconds: 6 * minute, do: 'change', event: 'one', noticeSeconds: 47 * hour },
]);

/** It takes a second VM with it when it has begun. */
const spreads = made('spreads', [
  { afterSeconds: 0, do: 'schedule', event: 'one', eventType: 'Reboot', noticeSeconds: 15 * minute, on: [0] },
  { afterSeconds: 15 * minute, do: 'start', event: 'one' },
  { afterSeconds: minute, do: 'change', event: 'one', on: [0, 1] },
  { afterSeconds: 8 * minute, do: 'remove', event: 'one' },
]);

const raisedBy = (tables: Arriving, time = { from: sceneStarts, to: sceneEnds }): string[] =>
  [...new Set(watch(kql, alerts, tables, time).map(({ name, on }) => `${name} ${on}`))].sort();

interface Case {
  readonly name: string;
  readonly scene: Scene;
  readonly raises: readonly string[];
}

const announced: readonly Case[] = [
  { name: 'nothing happens', scene: {}, raises: [] },
  { name: 'a reboot', scene: { plays: toEach('reboot', [3]) }, raises: ['A1 web_3'] },
  { name: 'a redeploy', scene: { plays: toEach('redeploy', [3]) }, raises: ['A1 web_3'] },
  { name: 'a freeze of seven seconds', scene: { plays: toEach('freeze', [3]) }, raises: [] },
  { name: 'a freeze of 25 seconds', scene: { plays: toEach('unknown-duration', [3]) }, raises: ['A4 web_3'] },
  { name: 'freezes of half the set', scene: { plays: toEach('freeze', first(10)) }, raises: [] },
  { name: 'a live migration that is canceled', scene: { plays: toEach('canceled', [3]) }, raises: [] },
  {
    name: 'a freeze that becomes a reboot',
    scene: { plays: toEach(becomesReboot, [3]) },
    raises: ['A1 web_3'],
  },
  { name: 'a failed host', scene: { plays: toEach('hardware-failure', [3]) }, raises: ['A5 web_3'] },
  { name: 'a host that will fail', scene: { plays: toEach('degraded-host', [3]) }, raises: ['A10 web_3'] },
  {
    name: 'a host that fails earlier than announced',
    scene: { plays: toEach(broughtForward, [3]) },
    raises: ['A1 web_3', 'A10 web_3'],
  },
  {
    name: 'a reboot that affects a second VM after its start',
    scene: { plays: [{ scenario: spreads, at: 0, on: ['web_3', 'web_4'] }] },
    raises: ['A1 web_3', 'A5 web_4'],
  },
  { name: 'a reboot without end', scene: { plays: toEach(stuck, [3]) }, raises: ['A1 web_3', 'A2 web_3'] },
  {
    name: 'a reboot from which the VM does not come back, though its neighbours see the end',
    scene: { plays: toEach('reboot', [3]), of: { 3: { leavesAt: 15 * minute + 5 } }, witnessRate: 1 },
    raises: ['A1 web_3', 'A2 web_3'],
  },
  {
    name: 'a reboot whose end a VM misses that comes back without its state and does not see it',
    scene: {
      plays: [...toEach('reboot', [3]), { scenario: farAhead, at: 31 * minute, on: ['web_8'] }],
      of: { 3: { silentFrom: 15 * minute + 30, silentTo: 30 * minute, losesStateAt: 30 * minute } },
    },
    raises: ['A1 web_3'],
  },
  {
    name: 'a reboot of a VM without a bridge, seen by its neighbours',
    scene: { plays: toEach('reboot', [3]), of: { 3: { leavesAt: -5 * hour } }, reportsStop: [3], witnessRate: 1 },
    raises: [],
  },
  {
    name: 'a restart that a user requested',
    scene: { plays: toEach('user-reboot', [3]) },
    raises: ['A1-user web_3'],
  },
  {
    name: 'a VM that is deleted with notice',
    scene: { plays: toEach('terminate', [3]), of: { 3: { leavesAt: 5 * minute + 5 } } },
    raises: ['A1-terminate web_3'],
  },
];

const together: readonly Case[] = [
  {
    name: 'reboots of two VMs of twenty',
    scene: { plays: toEach('reboot', [3, 4]) },
    raises: ['A1 web_3', 'A1 web_4'],
  },
  {
    name: 'reboots of three VMs of twenty',
    scene: { plays: toEach('reboot', [3, 4, 8]) },
    raises: ['A1 web_3', 'A1 web_4', 'A1 web_8', 'A3 web'],
  },
  {
    name: 'reboots of three VMs of forty',
    scene: { vms: 40, plays: toEach('reboot', [3, 4, 8]) },
    raises: ['A1 web_3', 'A1 web_4', 'A1 web_8'],
  },
  {
    name: 'hosts of three VMs that will fail next week',
    scene: { plays: toEach('degraded-host', [3, 4, 8]) },
    raises: ['A10 web_3', 'A10 web_4', 'A10 web_8'],
  },
  {
    name: 'evictions of three Spot VMs of twenty',
    scene: { traits: { priority: 'Spot' }, plays: toEach('preempt', first(3)) },
    raises: [],
  },
  {
    name: 'evictions of four Spot VMs of twenty',
    scene: { traits: { priority: 'Spot' }, plays: toEach('preempt', first(4)) },
    raises: ['A1-preempt web'],
  },
  {
    name: 'the eviction of the only Spot VM',
    scene: { vms: 1, traits: { priority: 'Spot' }, plays: toEach('preempt', [0]) },
    raises: [],
  },
  {
    name: 'evictions of four Spot VMs that are deleted by then',
    scene: {
      traits: { priority: 'Spot' },
      plays: toEach('preempt', first(4)),
      of: Object.fromEntries(first(4).map((n) => [n, { leavesAt: 30 * n + 45 }])),
    },
    raises: ['A1-preempt web'],
  },
];

const gone = (numbers: readonly number[]): NonNullable<Scene['of']> =>
  Object.fromEntries(numbers.map((number) => [number, { leavesAt: minute }]));

const pipeline: readonly Case[] = [
  { name: 'one bridge of twenty falls silent', scene: { of: gone([3]) }, raises: [] },
  { name: 'two bridges of twenty fall silent', scene: { of: gone([3, 4]) }, raises: ['A6 web'] },
  { name: 'two bridges of forty fall silent', scene: { vms: 40, of: gone([3, 4]) }, raises: [] },
  { name: 'five bridges report their stop', scene: { of: gone(first(5)), reportsStop: first(5) }, raises: [] },
  {
    name: 'three VMs outside of any set fall silent',
    scene: { traits: { scaleSet: null }, of: gone(first(3)) },
    raises: ['A6 (single VMs)'],
  },
  {
    name: 'the event hub takes no records of one VM',
    scene: { plays: toEach('freeze', [3]), hubBehind: { 3: 600 } },
    raises: [],
  },
  {
    name: 'the event hub takes no records of three VMs of twenty',
    scene: { plays: toEach('freeze', first(3)), hubBehind: { 0: 600, 1: 600, 2: 600 } },
    raises: ['A7-waiting westeurope'],
  },
  {
    name: 'records of ten freezes arrive after six minutes',
    scene: { plays: toEach('freeze', first(10)), latencySeconds: 6 * minute },
    raises: ['A7 westeurope'],
  },
  {
    name: 'records of one freeze arrive after six minutes',
    scene: { plays: toEach('freeze', [3]), latencySeconds: 6 * minute },
    raises: [],
  },
];

describe('alerts on VMs', () => {
  test.for([...announced, ...together])('$name', ({ scene, raises }) => {
    expect(raisedBy(rowsOfScene(scene))).toEqual(raises);
  });
});

describe('alerts on bridges and the way to the tables', () => {
  test.for(pipeline)('$name', ({ scene, raises }) => {
    expect(raisedBy(rowsOfScene(scene))).toEqual(raises);
  });

  /** Rows of a table with some of their values changed. */
  const changing = (tables: Arriving, name: string, change: (row: GivenRow, place: number) => GivenRow): Arriving => ({
    ...tables,
    [name]: (tables[name] ?? []).map((row, place) => ({ ...row, ...change(row, place) })),
  });

  test('VMs whose clocks are ten minutes slow are not late', () => {
    const slow = changing(rowsOfScene({ plays: toEach('freeze', first(10)) }), 'VmLifecycle_CL', ({ ObservedAt }) => ({
      ObservedAt: new Date(Date.parse(String(ObservedAt)) - 600_000).toISOString(),
      ClockOffsetSeconds: 600,
    }));
    expect(raisedBy(slow)).toEqual([]);
    const unaware = changing(slow, 'VmLifecycle_CL', () => ({ ClockOffsetSeconds: 0 }));
    expect(raisedBy(unaware)).toEqual(['A7 westeurope']);
  });

  test('a version that was refused on some VMs raises one alert, which ends when another one is installed there', () => {
    const isThird = (row: GivenRow): boolean => String(row.ResourceId).endsWith('/3');
    const refusedOn = (until: Date) =>
      changing(rowsOfScene({}), 'VmLifecycleBridge_CL', (row) =>
        isThird(row) && new Date(String(row.TimeGenerated)) < until ? { RefusedVersion: '2.0.0' } : {},
      );
    expect(raisedBy(refusedOn(sceneEnds)).map((raised) => raised.split(' ').slice(0, 2).join(' '))).toEqual([
      'A20 2.0.0',
    ]);
    expect(raisedBy(refusedOn(new Date(0)))).toEqual([]);
  });

  test('a version that was refused on Linux and on Windows raises an alert for each', () => {
    const refused = changing(rowsOfScene({}), 'VmLifecycleBridge_CL', ({ ResourceId }) => {
      const vm = /\/([34])$/.exec(String(ResourceId))?.[1];
      return vm === undefined ? {} : { RefusedVersion: '2.0.0', OsType: vm === '3' ? 'Linux' : 'Windows' };
    });
    const raised = watch(kql, alerts, refused, { from: sceneStarts, to: sceneEnds });
    expect(raised.map(({ name, on }) => `${name} ${on}`)).toEqual(['A20 2.0.0', 'A20 2.0.0']);
  });

  test('a scale set that its VMs spell in two ways is one', () => {
    const spelled = changing(rowsOfScene({ vms: 40, of: gone(first(5)) }), 'VmLifecycleBridge_CL', (row, place) =>
      place % 2 === 0 ? { ResourceGroup: String(row.ResourceGroup).toUpperCase(), VmScaleSetName: 'Web' } : {},
    );
    expect(raisedBy(spelled)).toEqual(['A6 web']);
  });

  test('an end whose time is before the start, since the clock of the VM was set back, is an end', () => {
    const rows = rowsOfScene({ plays: toEach('reboot', [3]) });
    const setBack = changing(rows, 'VmLifecycle_CL', ({ Phase, ObservedAt }) =>
      Phase === 'Completed' ? { ObservedAt: new Date(Date.parse(String(ObservedAt)) - 900_000).toISOString() } : {},
    );
    expect(raisedBy(setBack)).toEqual(['A1 web_3']);
  });

  test('silent bridges whose VMs are silent to the Azure Monitor agent too are not counted', () => {
    const tables = rowsOfScene({ of: gone(first(5)) });
    const ids = new Set((tables.VmLifecycleBridge_CL ?? []).map((row) => String(row.ResourceId)));
    const isSilent = (id: string): boolean => /\/[0-4]$/.test(id);
    expect([...ids].filter(isSilent)).toHaveLength(5);
    const agents = (on: (id: string) => boolean) =>
      Array.from({ length: 42 }, (_, n) => sceneAt(10 * n).toISOString()).flatMap((TimeGenerated) =>
        [...ids].filter(on).map((id) => ({ TimeGenerated, _ResourceId: id.toUpperCase() })),
      );
    expect(raisedBy(tables)).toEqual(['A6 web']);
    const withAgents = (on: (id: string) => boolean) => ({ ...tables, Heartbeat: arrivingAfter(60, agents(on)) });
    expect(raisedBy(withAgents((id) => !isSilent(id)))).toEqual([]);
    expect(raisedBy(withAgents(() => true))).toEqual(['A6 web']);
  });

  test.for([
    ['Custom-VmLifecycle_CL', ['A8 Custom-VmLifecycle_CL']],
    ['Custom-SomebodyElse_CL', []],
  ] as const)('a data collection rule that refuses records by %s raises its alert', ([InputStreamId, raises]) => {
    const row = {
      TimeGenerated: new Date(sceneStarts.getTime() + 60_000).toISOString(),
      InputStreamId,
      OperationName: 'Transformation',
      Message: 'A value does not fit its column.',
      _ResourceId: '/subscriptions/x/resourcegroups/y/providers/microsoft.insights/datacollectionrules/dcr-1',
    };
    expect(raisedBy({ ...rowsOfScene({}), DCRLogErrors: arrivingAfter(60, [row]) })).toEqual(raises);
  });
});

/** Everything that raises an alert on VMs, at once. */
const everything: Scene = {
  traits: { priority: 'Spot' },
  plays: [
    ...toEach('reboot', [0, 1, 2]),
    ...toEach('hardware-failure', [3]),
    ...toEach('unknown-duration', [4]),
    ...toEach('degraded-host', [5]),
    ...toEach(stuck, [6]),
    ...toEach('user-reboot', [7]),
    ...toEach('terminate', [8]),
    ...toEach('preempt', [9, 10, 11, 12]),
  ],
};

describe('a backlog', () => {
  const live = rowsOfScene(everything);
  const records = live.VmLifecycle_CL ?? [];
  const later = (hours: number): Date => new Date(sceneEnds.getTime() + 3_600_000 * hours);

  test('raises every alert on VMs when it arrives in time', () => {
    const names = new Set(watch(kql, alerts, live, { from: sceneStarts, to: sceneEnds }).map(({ name }) => name));
    expect([...names].sort()).toEqual(['A1', 'A1-preempt', 'A1-terminate', 'A1-user', 'A10', 'A2', 'A3', 'A4', 'A5']);
  });

  test.for([
    ['three days', 72],
    ['two days', 49],
    ['half a day', 12],
    ['an hour', 1],
  ] as const)('that arrives %s late raises no alert', ([, hours]) => {
    const moment = later(hours);
    const tables = {
      VmLifecycle_CL: arrivingAt(moment, records),
      VmLifecycleBridge_CL: [],
      Heartbeat: [],
      DCRLogErrors: [],
    };
    expect(tables.VmLifecycle_CL.length).toBeGreaterThan(30);
    const time = { from: new Date(moment.getTime() - 60_000), to: new Date(moment.getTime() + 2 * 3_600_000) };
    expect(watch(kql, alerts, tables, time)).toEqual([]);
  });

  test('of tests raises no alert, however recent', () => {
    const tests = records.map((row) => ({ ...row, IsTest: true }));
    const quiet = rowsOfScene({ traits: { priority: 'Spot' } });
    expect(raisedBy({ ...quiet, VmLifecycle_CL: tests })).toEqual([]);
  });

  test('that arrives twice raises each alert of a query once', () => {
    const queries = { rowAlerts: [], logAlerts: alerts.logAlerts };
    const time = { from: sceneStarts, to: sceneEnds };
    const twice = { ...live, VmLifecycle_CL: [...records, ...records] };
    expect(watch(kql, queries, twice, time)).toEqual(watch(kql, queries, live, time));
  });
});

test('an alert on a VM carries the mark of its owner, and one on the platform none', () => {
  const raised = watch(kql, alerts, rowsOfScene({ ...everything, of: gone([13, 14]) }), {
    from: sceneStarts,
    to: sceneEnds,
  });
  const marks = new Map(raised.map(({ name, route }) => [name, route]));
  expect(marks.get('A6')).toBe('');
  marks.delete('A6');
  expect([...new Set(marks.values())]).toEqual(['owner:web-team;']);
});
