import { expect, test } from 'vitest';
import type { FleetAnswer } from '../../src/fleet-page/answers.ts';
import { ms, pageOf, report, time } from './vm-reports.ts';

const dayMs = 24 * 3_600_000;
const tilesOf = ({ tiles }: FleetAnswer): unknown => Object.fromEntries(tiles.map(({ name, vms }) => [name, vms]));
const laneOf = ({ swimlanes }: FleetAnswer, vm: string) => swimlanes.rows.find(({ name }) => name === vm)?.lanes[0];
const panelOf = ({ capacity }: FleetAnswer, by: string) => capacity.find((panel) => panel.by === by);
const namesIn = (page: FleetAnswer, by: string) =>
  panelOf(page, by)?.groups.map(({ name, knownVms }) => [name, knownVms]);

const started = { startedAt: time('11:00:00'), startSeen: true };

test('an event that has not started 40 minutes after it was due still is to come, and stuck', () => {
  const page = pageOf([report('web_0', 'Scheduled', '10:00:00', { affectedResources: ['web_0'] })], '11:40:00');
  expect(tilesOf(page)).toEqual({ 'In the next hour': 1, Announced: 1, 'In progress': 0, Stuck: 1 });
  expect(page.open.rows[0]?.state).toBe('stuck');
  expect(page.trace?.outcome).toBe('Open: it is due, and no start was reported');
});

test('an event that no VM has reported for a day is no longer in progress', () => {
  const records = [report('web_0', 'Started', '11:00:00', { ...started, affectedResources: ['web_0'] })];
  const hour = pageOf(records, ms('11:00:00') + dayMs - 60_000, 'window=3d');
  expect(hour.open.rows[0]?.state).toBe('stuck');
  const later = pageOf(records, ms('11:00:00') + dayMs + 60_000, 'window=3d');
  expect(later.open.rows[0]).toMatchObject({ state: 'nothing reported', silentSince: ms('11:00:00') });
  expect(tilesOf(later)).toEqual({ 'In the next hour': 0, Announced: 0, 'In progress': 0, Stuck: 0 });
  expect(laneOf(later, 'web_0')).toMatchObject({ overAt: null, silentSince: ms('11:00:00') });
  // Work that was reported until eleven is not work of the next day.
  for (const panel of later.capacity)
    for (const group of panel.groups) expect(group.inProgress.steps.at(-1)?.[1]).toBe(0);
  expect(pageOf(records, ms('11:00:00') + 20 * dayMs).swimlanes.rows).toEqual([]);
});

test('an event that no VM reports any more is below one that is announced, and not in the calendar', () => {
  const gone = report('web_0', 'Scheduled', '10:00:00', { affectedResources: ['web_0'] });
  const next = {
    eventId: 'two',
    affectedResources: ['web_1'],
    notBefore: new Date(ms('12:00:00') + 3 * dayMs).toISOString(),
  };
  const page = pageOf([gone, report('web_1', 'Scheduled', '10:00:00', next)], ms('11:00:00') + 2 * dayMs);
  expect(page.open.rows.map(({ vms, state }) => [vms[0], state])).toEqual([
    ['web_1', 'announced'],
    ['web_0', 'nothing reported'],
  ]);
  expect(page.calendar.rows.flatMap(({ cells }) => cells.flat())).toHaveLength(1);
});

test('an end that another VM revoked is not the outcome of the VM that reported it', () => {
  const records = [
    report('web_0', 'Scheduled', '10:00:00'),
    report('web_1', 'Scheduled', '10:00:00'),
    report('web_0', 'Completed', '10:01:40'),
    report('web_1', 'Updated', '10:03:20', { evidence: ['reappeared'], sequence: 2 }),
    report('web_1', 'Ended', '11:06:40', { sequence: 3 }),
  ];
  expect(laneOf(pageOf(records, '11:30:00'), 'web_0')).toMatchObject({ outcome: 'Ended', overAt: ms('11:06:40') });
});

test('an event that left one VM is neither canceled nor presumed to have ended', () => {
  const left = { evidence: ['left-resources'], affectedResources: ['web_1'], observerAffected: false };
  const records = [
    report('web_0', 'Scheduled', '10:00:00'),
    report('web_1', 'Scheduled', '10:00:00'),
    report('web_0', 'Updated', '10:05:00', left),
  ];
  const page = pageOf(records, '10:30:00', 'vm=web_0');
  expect(laneOf(page, 'web_0')).toMatchObject({ outcome: 'no longer affected', overAt: ms('10:05:00') });
  expect(page.past.rows.map(({ outcome }) => outcome)).toEqual(['no longer affected']);
  expect(pageOf(records, '10:30:00').past.rows).toEqual([]);
});

test('a VM that an event left is no witness, even when it reported the event again since', () => {
  const left = { affectedResources: ['web_1'], observerAffected: false };
  const records = [
    report('web_0', 'Scheduled', '10:00:00'),
    report('web_1', 'Scheduled', '10:00:00'),
    report('web_9', 'Scheduled', '10:00:00', { observerAffected: false }),
    report('web_0', 'Updated', '10:05:00', { ...left, evidence: ['left-resources'] }),
    report('web_0', 'Started', '11:00:00', { ...left, ...started, sequence: 3 }),
  ];
  const roles = pageOf(records, '11:05:00').trace?.views.rows.map(({ vm, role }) => [vm, role]);
  expect(Object.fromEntries(roles ?? [])).toEqual({ web_0: 'no longer affected', web_1: 'affected', web_9: 'witness' });
});

test('an event of which the hub holds only the end has a lane', () => {
  const end = { ...started, affectedResources: [], affectedResourceCount: 0, observedOutageSeconds: 60 };
  const page = pageOf([report('web_0', 'Completed', '11:05:00', end)], '11:30:00');
  expect(laneOf(page, 'web_0')).toMatchObject({ outcome: 'Completed', overAt: ms('11:05:00') });
  expect(page.past.rows[0]).toMatchObject({ vms: ['web_0'], downSeconds: { value: 60, isAmbiguous: false } });
});

test('a measurement that may belong to another event says so', () => {
  const end = { ...started, observedOutageSeconds: 300, observedPauseTotalMs: 40 };
  const records = [
    report('web_0', 'Started', '11:00:00', started),
    report('web_0', 'Completed', '11:05:00', { ...end, evidence: ['impact-ambiguous'], sequence: 3 }),
    report('web_1', 'Completed', '11:05:00', { ...end, observedOutageSeconds: 100 }),
  ];
  const page = pageOf(records, '11:30:00');
  expect(page.past.rows[0]).toMatchObject({
    downSeconds: { value: 300, isAmbiguous: true },
    // The other VM measured the same, without doubt.
    pausedMs: { value: 40, isAmbiguous: false },
  });
  expect(laneOf(page, 'web_0')?.isAmbiguous).toBe(true);
});

test('a start that no VM saw is the latest possible time in the lists too', () => {
  const late = { startedAt: time('11:10:00'), startSeen: false };
  const records = [report('web_0', 'Started', '11:10:00', late)];
  expect(pageOf(records, '11:12:00').open.rows[0]).toMatchObject({ startedAt: ms('11:10:00'), isStartSeen: false });
  const over = pageOf([...records, report('web_0', 'Completed', '11:20:00', { ...late, sequence: 3 })], '11:30:00');
  expect(over.past.rows[0]).toMatchObject({ startedAt: ms('11:10:00'), isStartSeen: false });
});

test('a list of VMs that was cut says how many are not in it, and a test that it is one', () => {
  const cut = { affectedResources: ['web_0', 'web_1', 'web_2'], affectedResourceCount: 1500, isTest: true };
  const page = pageOf([report('web_0', 'Scheduled', '10:00:00', cut)], '10:30:00');
  expect(page.open.rows[0]).toMatchObject({ vmCount: 3, unnamedVms: 1497, isTest: true });
});

test('the calendar counts together only what begins in the same minute, and dates what was due on another day', () => {
  const one = (vm: string, eventId: string, notBefore: string) =>
    report(vm, 'Scheduled', '10:00:00', { eventId, notBefore, affectedResources: [vm] });
  const records = [
    one('web_0', 'a', time('11:00:00')),
    one('web_1', 'b', time('22:00:10')),
    one('web_2', 'c', time('22:00:40')),
  ];
  const textsOf = (page: FleetAnswer): string[] =>
    page.calendar.rows.flatMap(({ cells }) => cells.flat().map(({ time: at, label }) => `${at} ${label}`));
  expect(textsOf(pageOf(records, '10:30:00'))).toEqual(['11:00 Reboot', '22:00 Reboot × 2']);
  expect(textsOf(pageOf(records, ms('10:30:00') + dayMs))).toEqual(['11-20 11:00 Reboot', '11-20 22:00 Reboot × 2']);
});

test('VMs without a scale set share no fault domain', () => {
  const alone = { ...started, vmScaleSetName: null, faultDomain: '0' };
  const records = ['web_0', 'web_1'].map((vm) => report(vm, 'Started', '11:00:00', alone));
  expect(namesIn(pageOf(records, '11:05:00'), 'Fault domain')).toEqual([]);
});

test('zones of two subscriptions are compared by their physical zone', () => {
  const vmIn = (vm: string, subscriptionId: string, zone: string, physicalZone: string | null) =>
    report(vm, 'Started', '11:00:00', {
      ...{ ...started, eventId: vm, subscriptionId, zone, physicalZone },
      affectedResources: [vm],
    });
  const west = 'westeurope-az2';
  const one = vmIn('web_0', 'sub-a', '1', west);
  expect(namesIn(pageOf([one], '11:05:00'), 'Zone')).toEqual([['westeurope, zone 1', 1]]);
  // A record without it is placed by another one of its subscription.
  const same = [one, vmIn('web_1', 'sub-b', '3', west), vmIn('web_2', 'sub-b', '3', null)];
  expect(namesIn(pageOf(same, '11:05:00'), 'Zone')).toEqual([['physical zone westeurope-az2', 3]]);
  const unknown = [vmIn('web_0', 'sub-a', '1', null), vmIn('web_1', 'sub-b', '1', null)];
  expect(namesIn(pageOf(unknown, '11:05:00'), 'Zone')).toEqual([
    ['westeurope, zone 1 of subscription sub-a', 1],
    ['westeurope, zone 1 of subscription sub-b', 1],
  ]);
});

test('VMs in progress that have no bridge are counted as of an unknown place', () => {
  const records = [
    report('web_0', 'Started', '11:00:00', { ...started, affectedResources: ['web_0', 'web_1', 'web_2'] }),
  ];
  const page = pageOf(records, '11:05:00');
  expect(page.capacity.map(({ by, unplacedVms }) => [by, unplacedVms])).toEqual([
    ['Scale set', 0],
    ['Zone', 2],
    ['Fault domain', 2],
  ]);
  expect(namesIn(page, 'Scale set')).toEqual([['web', 3]]);
});

test('records that are not in the hub and lost state are noted, once they can no longer be on their way', () => {
  const records = [
    report('web_0', 'Scheduled', '10:00:00', { position: 1 }),
    report('web_0', 'Started', '11:00:00', { ...started, position: 40 }),
    report('web_1', 'Scheduled', '10:00:00', { streamId: 'before' }),
    report('web_1', 'Started', '11:00:00', { ...started, streamId: 'after', sequence: 1 }),
  ];
  expect(pageOf(records, '11:00:30').notes).toEqual(['web_1 lost its state after 10:00:00.']);
  expect(pageOf(records, '11:01:30').notes).toEqual([
    '38 records of web_0 are not in the hub.',
    'web_1 lost its state after 10:00:00.',
  ]);
});

test('many VMs with the same loss are one note', () => {
  const records = [0, 1, 2, 3, 4].flatMap((number) => [
    report(`web_${number}`, 'Scheduled', '10:00:00', { position: 1 }),
    report(`web_${number}`, 'Started', '11:00:00', { ...started, position: 3 }),
  ]);
  expect(pageOf(records, '11:30:00').notes).toEqual([
    expect.stringMatching(/^(1 record of web_\d is not in the hub; ){3}and the same of 2 more VMs\.$/),
  ]);
});
