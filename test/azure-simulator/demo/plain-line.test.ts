import { expect, test } from 'vitest';
import { beginningOf, fold, type Show } from '../../../src/azure-simulator/demo/model.ts';
import { plainLine } from '../../../src/azure-simulator/demo/plain-line.ts';
import { fleetAt, maintenance } from './maintenance.ts';
import { performance } from './performance.ts';

test('without a terminal the show is a line for each moment', () => {
  let show: Show = beginningOf(['web_0']);
  const lines = performance.map((moment) => {
    const line = plainLine(moment, show);
    show = fold(show, moment);
    return line;
  });
  expect(lines).toEqual([
    '   0.0 s  bridge     starts',
    '   1.0 s  bridge     runs',
    '   1.0 s  Azure      Freeze scheduled (incarnation 2)',
    '   2.0 s  event hub  Freeze Scheduled: said-by-azure',
    '   2.0 s  table      Freeze Scheduled',
    '   3.0 s  Azure      Freeze 2 scheduled (incarnation 3)',
    '   3.5 s  event hub  Freeze 2 Scheduled: said-by-azure',
    '   6.0 s  Azure      Freeze 2 removed (incarnation 4)',
    '   6.5 s  event hub  Freeze 2 Canceled: left-before-not-before',
    '   7.0 s  Azure      Freeze started (incarnation 5)',
    '   9.0 s  bridge     is frozen (SIGSTOP)',
    '  10.5 s  bridge     runs',
    '  12.0 s  Azure      Freeze removed (incarnation 6)',
    '  12.5 s  event hub  Freeze Completed: left-after-started, not-before-passed; paused 1.48 s',
    '  13.0 s  Azure      Reboot scheduled (incarnation 7)',
    '  13.5 s  event hub  Reboot Scheduled: said-by-azure',
    '  14.0 s  event hub  refuses connections',
    '  16.0 s  Azure      Reboot started (incarnation 8)',
    '  16.5 s  table      Reboot Started',
    '  16.5 s  bridge     1 record pending for the event hub',
    '  18.0 s  bridge     is killed (kill -9)',
    '  20.0 s  bridge     starts',
    '  20.5 s  bridge     runs',
    '  20.5 s  table      Reboot Started (duplicate)',
    '  21.0 s  event hub  accepts connections again',
    '  21.5 s  event hub  Reboot Started: said-by-azure',
    null,
  ]);
});

test('without a terminal a fleet is a line for each step of Azure', () => {
  const lines = maintenance.map((moment) => plainLine(moment, fleetAt(moment.at - 1)));
  expect(lines.filter((line) => line !== null)).toEqual([
    '   4.0 s  bridges    all 5 poll',
    '   5.0 s  Azure      Reboot of 3 VMs scheduled; so far 0 records on the event hub, 0 in the table, 0 transitions',
    '  10.0 s  Azure      Reboot of 3 VMs started; so far 4 records on the event hub, 4 in the table, 1 transition',
    '  10.0 s  Azure      Reboot of 2 VMs scheduled; so far 4 records on the event hub, 4 in the table, 1 transition',
    '  15.0 s  Azure      Reboot of 3 VMs removed; so far 9 records on the event hub, 9 in the table, 3 transitions',
  ]);
});
