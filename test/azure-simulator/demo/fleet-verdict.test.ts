import { expect, test } from 'vitest';
import type { SentRecord } from '../../../src/azure-simulator/demo/model.ts';
import { summarize } from '../../../src/azure-simulator/demo/summary.ts';
import { compare, type Issued, type Verdict } from '../../../src/azure-simulator/demo/verdict.ts';
import type { Phase } from '../../../src/lifecycle/record.ts';
import { toText } from '../../../src/terminal/styled-text.ts';
import { fleetAt, record } from './maintenance.ts';

const resources = ['web_0', 'web_2'];
const issued = (['scheduled', 'started', 'removed'] as const).map(
  (step): Issued => ({ eventId: 'D0', eventType: 'Reboot', step, resources }),
);
const ofVm = (vm: string, ...phases: Phase[]): SentRecord[] =>
  phases.map((phase, n) => record('d0', vm, phase, 10 + n));
const all = resources.flatMap((vm) => ofVm(vm, 'Scheduled', 'Started', 'Completed'));
const withoutStart = resources.flatMap((vm) => ofVm(vm, 'Scheduled', 'Completed'));

test.for<{ name: string; hub: SentRecord[]; table?: SentRecord[]; differences: string[]; complete: number }>([
  { name: 'a fleet that reports every step agrees with Azure', hub: all, differences: [], complete: 2 },
  {
    name: 'a step that one VM did not see is reported by the others',
    hub: [...ofVm('web_0', 'Scheduled', 'Started', 'Completed'), ...ofVm('web_2', 'Scheduled', 'Completed')],
    differences: [],
    complete: 1,
  },
  {
    name: 'ends that VMs know differently well are one transition',
    hub: [...ofVm('web_0', 'Scheduled', 'Started', 'Completed'), ...ofVm('web_2', 'Scheduled', 'Started', 'Ended')],
    differences: [],
    complete: 2,
  },
  {
    name: 'a step that no VM reported is a difference',
    hub: withoutStart,
    differences: [
      'Reboot D0: step "started" is missing on the event hub.',
      'Reboot D0: step "started" is missing in the table.',
    ],
    complete: 0,
  },
  {
    name: 'a row that the table lost is a difference though its step is there',
    hub: all,
    table: all.slice(1),
    differences: ['1 record is on the event hub, but not in the table.'],
    complete: 2,
  },
  {
    name: 'records that only the table has are a difference',
    hub: all,
    table: [...all, ...ofVm('web_4', 'Scheduled', 'Completed')],
    differences: ['2 records are in the table, but not on the event hub.'],
    complete: 2,
  },
])('$name', ({ hub, table = hub, differences, complete }) => {
  const verdict = compare(issued, hub, table);
  expect(verdict.differences).toEqual(differences);
  expect(verdict.events).toMatchObject([{ eventId: 'D0', affected: 2, complete }]);
});

const summary = (verdict: Verdict): string[] =>
  summarize(verdict, fleetAt(18)).map((row) => toText(row, false).trimEnd());

test('the summary of a fleet counts transitions and the VMs that reported them all', () => {
  const [first = record('d0', 'web_0', 'Scheduled', 10)] = all;
  expect(summary(compare(issued, [...all, first], all))).toEqual([
    '',
    '   Issued by Azure                                    Folded     VMs complete',
    '   Reboot of 2 VMs       scheduled, started, removed  3 of 3     2 of 2',
    '',
    '   They agree: 3 steps, 6 records on the event hub and 6 in the table;',
    '   folded to 3 transitions, which is what Azure issued.',
    '   1 arrived again with the same recordId.',
    '',
  ]);
  const verdict = compare(issued, all, all);
  const [event] = verdict.events;
  if (!event) throw new Error('there is no event');
  const events = [event, { ...event, eventId: 'D1' }, { ...event, eventId: 'D2', complete: 1 }];
  expect(summary({ ...verdict, events }).slice(2, 5)).toEqual([
    '   2 x Reboot of 2 VMs   scheduled, started, removed  3 of 3     2 of 2',
    '   Reboot of 2 VMs       scheduled, started, removed  3 of 3     1 of 2',
    '',
  ]);
  expect(summary(compare(issued, all, all.slice(1))).slice(-2)).toEqual([
    '   1 record is on the event hub, but not in the table.',
    '',
  ]);
});
