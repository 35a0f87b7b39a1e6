import { expect, test } from 'vitest';
import type { FleetRecord } from '../../../../src/azure-simulator/demo/fleet/moment.ts';
import { fleetPlainLine } from '../../../../src/azure-simulator/demo/fleet/plain-line.ts';
import { summarizeFleet } from '../../../../src/azure-simulator/demo/fleet/summary.ts';
import { compareFleet, type FleetSaid, type FleetVerdict } from '../../../../src/azure-simulator/demo/fleet/verdict.ts';
import { toText } from '../../../../src/azure-simulator/demo/picture/ink.ts';
import type { Phase } from '../../../../src/lifecycle/record.ts';
import { fleetAt, maintenance, record } from './maintenance.ts';

const resources = ['web_0', 'web_2'];
const said = (['scheduled', 'started', 'removed'] as const).map(
  (step): FleetSaid => ({ eventId: 'D0', eventType: 'Reboot', step, resources }),
);
const ofVm = (vm: string, ...phases: Phase[]): FleetRecord[] =>
  phases.map((phase, n) => record('d0', vm, phase, 10 + n));
const wholeStory = resources.flatMap((vm) => ofVm(vm, 'Scheduled', 'Started', 'Completed'));
const ids = (records: readonly FleetRecord[]): string[] => records.map(({ recordId }) => recordId);

test.for<{ name: string; records: FleetRecord[]; rows?: string[]; complaints: string[]; toldAll: number }>([
  { name: 'a fleet that tells every step agrees with Azure', records: wholeStory, complaints: [], toldAll: 2 },
  {
    name: 'a step that one VM did not see is told by the others',
    records: [...ofVm('web_0', 'Scheduled', 'Started', 'Completed'), ...ofVm('web_2', 'Scheduled', 'Completed')],
    complaints: [],
    toldAll: 1,
  },
  {
    name: 'ends that VMs know differently well are one transition',
    records: [...ofVm('web_0', 'Scheduled', 'Started', 'Completed'), ...ofVm('web_2', 'Scheduled', 'Started', 'Ended')],
    complaints: [],
    toldAll: 2,
  },
  {
    name: 'a step that nobody told is a complaint',
    records: resources.flatMap((vm) => ofVm(vm, 'Scheduled', 'Completed')),
    complaints: ['Reboot D0: Azure issued scheduled, started, end; the records fold to scheduled, end.'],
    toldAll: 0,
  },
  {
    name: 'a row that the table lost is a complaint',
    records: wholeStory,
    rows: ids(wholeStory).slice(1),
    complaints: ['1 record is on the event hub, but not in the table.'],
    toldAll: 2,
  },
  {
    name: 'records that only the table has are a complaint',
    records: wholeStory,
    rows: [...ids(wholeStory), 'x', 'y'],
    complaints: ['2 records are in the table, but not on the event hub.'],
    toldAll: 2,
  },
])('$name', ({ records, rows = ids(records), complaints, toldAll }) => {
  const verdict = compareFleet(said, records, rows);
  expect(verdict.complaints).toEqual(complaints);
  expect(verdict.events).toMatchObject([{ eventId: 'D0', affected: 2, toldAll }]);
});

test('an event that Azure never issued is a complaint of the fleet', () => {
  const stray = [record('x9', 'web_0', 'Scheduled', 1)];
  expect(compareFleet([], stray, ids(stray)).complaints).toEqual([
    'an event that Azure never issued, x9: Azure issued nothing; the records fold to scheduled.',
  ]);
});

const summary = (verdict: FleetVerdict): string[] =>
  summarizeFleet(verdict, fleetAt(18)).map((row) => toText(row, false).trimEnd());

test('the summary of a fleet counts transitions, and the VMs that told them all', () => {
  expect(summary(compareFleet(said, wholeStory, ids(wholeStory)))).toEqual([
    '',
    '   What Azure said                                    Folded     VMs complete',
    '   Reboot of 2 VMs       scheduled, started, removed  3 of 3     2 of 2',
    '',
    '   They agree: 6 records on the event hub, the same in the table, 1 copy;',
    '   folded to 3 transitions, which is what Azure issued.',
    '',
  ]);
  const [event] = compareFleet(said, wholeStory, ids(wholeStory)).events;
  if (!event) throw new Error('there is no event');
  const events = [event, { ...event, eventId: 'D1' }, { ...event, eventId: 'D2', toldAll: 1 }];
  expect(summary({ events, onHub: 18, inTable: 18, complaints: [] }).slice(2, 5)).toEqual([
    '   2 x Reboot of 2 VMs   scheduled, started, removed  3 of 3     2 of 2',
    '   Reboot of 2 VMs       scheduled, started, removed  3 of 3     1 of 2',
    '',
  ]);
  expect(summary(compareFleet(said, wholeStory, [])).slice(-3)).toEqual([
    '   6 records on the event hub, 0 in the table.',
    '   6 records are on the event hub, but not in the table.',
    '',
  ]);
});

test('without a terminal a fleet is a line for each step of Azure', () => {
  const lines = maintenance.map((moment) => fleetPlainLine(moment, fleetAt(moment.at - 1), 5));
  expect(lines.filter((line) => line !== null)).toEqual([
    '   4.0 s  5 bridges look',
    '   5.0 s  Azure: Reboot of 3 VMs scheduled; so far 0 records on the event hub, 0 in the table, 0 transitions',
    '  10.0 s  Azure: Reboot of 3 VMs started; so far 4 records on the event hub, 4 in the table, 1 transition',
    '  10.0 s  Azure: Reboot of 2 VMs scheduled; so far 4 records on the event hub, 4 in the table, 1 transition',
    '  15.0 s  Azure: Reboot of 3 VMs removed; so far 9 records on the event hub, 9 in the table, 3 transitions',
  ]);
});
