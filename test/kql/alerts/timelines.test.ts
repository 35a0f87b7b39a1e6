import { expect, test } from 'vitest';
import type { Scenario } from '../../../src/azure-simulator/scenarios/index.ts';
import { readAlerts } from '../../support/alerts/read-alerts.ts';
import { rowsOfScene, type Scene, sceneAt } from '../../support/alerts/scene.ts';
import { type Arriving, arrivingAfter, metPeriods } from '../../support/alerts/watch.ts';
import { type GivenRow, openKql } from '../../tools/kql/index.ts';

/**
 * What happens to each VM, minute by minute, and between which evaluations of each rule its condition has to be met. The expectations are
 * calculated manually from what happens and from what on-call.md says; the sum is beside each. Minutes count from 06:00; a row can be
 * queried 90 s after it is made. Heartbeats come every hour, spread over the VMs of the set: of 20 VMs, web_3 sends its own at :09.
 */
const kql = openKql({ functionsFrom: ['infra/kql/functions'] });
const alerts = readAlerts();
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

type Step = Scenario['steps'][number];
/** Announced at 0, for `dueAt`; begins at `startsAt` and leaves the document at `endsAt`, in minutes, where it does. */
function planned({
  eventType,
  dueAt,
  startsAt,
  endsAt,
}: {
  readonly eventType: 'Reboot' | 'Redeploy' | 'Freeze' | 'Preempt';
  readonly dueAt: number;
  readonly startsAt?: number;
  readonly endsAt?: number;
}): Scenario {
  const steps: Step[] = [{ afterSeconds: 0, do: 'schedule', event: 'one', eventType, noticeSeconds: minute * dueAt }];
  if (startsAt !== undefined) steps.push({ afterSeconds: minute * startsAt, do: 'start', event: 'one' });
  if (endsAt !== undefined)
    steps.push({ afterSeconds: minute * (endsAt - (startsAt ?? 0)), do: 'remove', event: 'one' });
  return { name: 'planned', description: 'planned', demoSpeed: 1, steps };
}

const play = (number: number, given: Parameters<typeof planned>[0], at = 0) => ({
  scenario: planned(given),
  at: minute * at,
  on: [`web_${number}`],
});

const first = (count: number): readonly number[] => Array.from({ length: count }, (_, number) => number);
const numbersFrom = (from: number, to: number): readonly number[] => first(to).slice(from);

/** The same to each of these VMs. */
const each = <T>(numbers: readonly number[], value: (number: number) => T): Record<number, T> =>
  Object.fromEntries(numbers.map((number) => [number, value(number)]));

const periods = (tables: Arriving, minutes = 7 * 60): string[] =>
  metPeriods(kql, alerts, tables, { from: sceneAt(0), to: sceneAt(minutes) }).sort();

const cases: readonly { name: string; scene: Scene; met: readonly string[] }[] = [
  {
    name: 'a VM that goes down before it observes the start of its reboot, and does not return',
    // Due at 15. Its last word is the heartbeat of minute 9.
    scene: { plays: [play(3, { eventType: 'Reboot', dueAt: 15 })], of: { 3: { leavesAt: 10 * minute } } },
    // Half an hour after 15, for as long as the six hours of the rule hold its record.
    met: ['A2 web_3 45-360'],
  },
  {
    name: 'a reboot that Azure starts 85 minutes late, on a healthy VM',
    scene: { plays: [play(3, { eventType: 'Reboot', dueAt: 15, startsAt: 100, endsAt: 108 })] },
    // Until the heartbeat of minute 69, which arrives before the evaluation of 75, shows that the VM is up.
    met: ['A2 web_3 45-60'],
  },
  {
    name: 'a reboot that starts on time, and whose VM is back after an hour',
    scene: { plays: [play(3, { eventType: 'Reboot', dueAt: 15, startsAt: 15, endsAt: 75 })] },
    // It is seen to begin within the second after 15, so at 45 half an hour is not over.
    met: ['A2 web_3 60-75'],
  },
  {
    name: 'five VMs of a set announced 80 minutes ahead',
    scene: { plays: first(5).map((n) => play(n, { eventType: 'Reboot', dueAt: 80, startsAt: 82, endsAt: 92 })) },
    met: [
      ...first(5).flatMap((n) => [
        // The announcement counts for half an hour; every 15 minutes.
        `A10 web_${n} 15-30`,
        // Within the hour from 20 on, begun at 82.
        `A1-due web_${n} 30-75`,
      ]),
      // From 20 on. They end at 92, and what has ended counts for half an hour.
      'A3 web 20-120',
    ],
  },
  {
    name: 'two VMs of a set announced 80 minutes ahead, which are canceled after 40',
    scene: { plays: first(2).map((n) => play(n, { eventType: 'Reboot', dueAt: 80, endsAt: 40 })) },
    met: first(2).flatMap((n) => [`A10 web_${n} 15-30`, `A1-due web_${n} 30-30`]),
  },
  {
    name: 'eight evictions in a Spot set of twenty, of which forty others came and went in the hours before',
    scene: {
      vms: 60,
      traits: { priority: 'Spot' },
      of: {
        ...each(numbersFrom(20, 60), () => ({ leavesAt: -2 * hour })),
        ...each(first(8), (n) => ({ leavesAt: 45 + 30 * n })),
      },
      reportsStop: numbersFrom(20, 60),
      plays: first(8).map((n) => play(n, { eventType: 'Preempt', dueAt: 0.5 }, n / 2)),
    },
    // 35 % of twenty at 5, when seven have arrived; each counts for half an hour.
    met: ['A1-preempt web 5-30'],
  },
  {
    name: 'three evictions in a Spot set of twenty, of which forty others came and went in the hours before',
    scene: {
      vms: 60,
      traits: { priority: 'Spot' },
      of: { ...each(numbersFrom(20, 60), () => ({ leavesAt: -2 * hour })) },
      reportsStop: numbersFrom(20, 60),
      plays: first(3).map((n) => play(n, { eventType: 'Preempt', dueAt: 0.5 }, n / 2)),
    },
    met: [],
  },
  {
    name: 'all eight bridges of a set that fall silent at minute 5',
    // Of eight VMs the heartbeats are 7.5 minutes apart: the last ones are those of 0 and of -52.5 to -7.5.
    scene: { vms: 8, of: each(first(8), () => ({ leavesAt: 5 * minute })) },
    // Missing for two and a half hours at 97.5, 105, 112.5, … and 150: three at 120, the other five at 180, and no other from then on.
    met: ['A6 web 120-180'],
  },
  {
    name: 'one VM of twenty that sees no document from minute 20 to 200',
    scene: { blind: { 3: [20, 200] } },
    // Its heartbeats of 69, 129 and 189 say so, that of 249 no more; each hour.
    met: ['A21 web 120-240'],
  },
  {
    name: 'one VM that sees no document for seven minutes around a heartbeat',
    scene: { blind: { 3: [65, 72] } },
    met: [],
  },
  {
    name: 'two records that a VM discards at minutes 30 and 200',
    scene: { discards: { 3: [30, 200] } },
    // In the heartbeats of 69 and of 249.
    met: ['A22 westeurope 120-120', 'A22 westeurope 300-300'],
  },
  {
    name: 'a bridge that starts with records that it discarded before',
    scene: { discards: { 3: [-300] } },
    met: [],
  },
];

test.for(cases)('$name', ({ scene, met }) => {
  expect(periods(rowsOfScene(scene))).toEqual([...met].sort());
});

test('a host that fails before its announced day, one whose day comes, one that is approved early, one that dies first and one that dies when it is due', () => {
  const scene: Scene = {
    vms: 5,
    hours: 80,
    plays: [
      // Announced for the fourth day; it begins on the third, without an approval.
      play(0, { eventType: 'Redeploy', dueAt: 4320, startsAt: 2880, endsAt: 2900 }),
      play(1, { eventType: 'Redeploy', dueAt: 4320, startsAt: 4322, endsAt: 4332 }),
      play(2, { eventType: 'Redeploy', dueAt: 4320, startsAt: 1440, endsAt: 1450 }),
      // Its host fails on the second day, before it can see anything begin.
      play(3, { eventType: 'Redeploy', dueAt: 4320 }),
      play(4, { eventType: 'Redeploy', dueAt: 4000 }),
    ],
    of: { 3: { leavesAt: 2000 * minute }, 4: { leavesAt: 3990 * minute } },
  };
  const tables = rowsOfScene(scene);
  const approved = (tables.VmLifecycle_CL ?? [])
    .filter(({ VmName, Phase }) => VmName === 'web_2' && Phase === 'Started')
    .map((row) => {
      const at = new Date(Date.parse(String(row.ObservedAt)) - 2000).toISOString();
      return { ...row, Phase: 'Approved', Evidence: ['accepted'], ObservedAt: at, TimeGenerated: at };
    });
  expect(approved).toHaveLength(1);
  const records = [...(tables.VmLifecycle_CL ?? []), ...arrivingAfter(90, approved)];
  const found = periods({ ...tables, VmLifecycle_CL: records }, (3 * day) / minute + 120);
  expect(found).toEqual(
    [
      ...first(5).map((n) => `A10 web_${n} 15-30`),
      // All five at once, a day and more ahead: nothing to page for yet.
      'A5 web_0 2885-2910',
      // Within the hour from 4260 on, from the heartbeat, since the record is three days old. It begins at 4322.
      'A1-due web_1 4260-4320',
      // Within the hour from 3940 on; half an hour past 4000 it is no longer about to happen.
      'A1-due web_4 3945-4020',
      // Last heartbeat at 1956, silent 150 minutes later, until that heartbeat is six hours old, at 2316.
      'A2 web_3 2115-2310',
      // No heartbeat since 3948, until that heartbeat is six hours old, at 4308.
      'A2 web_4 4035-4305',
    ].sort(),
  );
}, 120_000);

/** Rows of one VM as a clock that is wrong makes them: their times are behind, and the offset says by how much. */
const slow = (tables: Arriving, minutes: number): Arriving => {
  const behind = (value: unknown): string => new Date(Date.parse(String(value)) - 60_000 * minutes).toISOString();
  const late = (row: GivenRow, ...times: readonly string[]): GivenRow => ({
    ...row,
    ...Object.fromEntries(times.flatMap((name) => (row[name] ? [[name, behind(row[name])]] : []))),
    ClockOffsetSeconds: 60 * minutes,
  });
  return {
    ...tables,
    VmLifecycle_CL: (tables.VmLifecycle_CL ?? []).map((row) =>
      late(row, 'TimeGenerated', 'ObservedAt', 'StartedAt', 'FirstSeenAt'),
    ),
    VmLifecycleBridge_CL: (tables.VmLifecycleBridge_CL ?? []).map((row) => late(row, 'TimeGenerated')),
  };
};

test.for([
  {
    name: 'an event three days ahead',
    plays: [play(3, { eventType: 'Redeploy', dueAt: 3 * 24 * 60 })],
  },
  {
    name: 'a reboot that never finishes',
    plays: [play(3, { eventType: 'Reboot', dueAt: 15, startsAt: 15 })],
  },
  {
    name: 'reboots of three VMs of a set',
    plays: [3, 4, 8].map((n) => play(n, { eventType: 'Reboot', dueAt: 15, startsAt: 15, endsAt: 25 })),
  },
])('clocks that are 40 minutes slow change nothing for $name', ({ plays }) => {
  const tables = rowsOfScene({ plays });
  const expected = periods(tables, 300);
  expect(expected.length).toBeGreaterThan(0);
  expect(periods(slow(tables, 40), 300)).toEqual(expected);
});
