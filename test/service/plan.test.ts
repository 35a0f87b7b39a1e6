import { describe, expect, test } from 'vitest';
import { planFallBack } from '../../src/service/fall-back.ts';
import {
  type Desired,
  type Observed,
  type Plan,
  plan,
  planSettling,
  type Running,
  type Step,
} from '../../src/service/plan.ts';

const nothing: Observed = {
  current: null,
  folders: [],
  unit: null,
  ownUnit: null,
  isUnitEdited: false,
  configuration: null,
  isGuarded: false,
  keptConfiguration: null,
  record: null,
  account: false,
  remover: false,
  command: 'absent',
  service: { enabled: false, active: false, isStale: true, isMasked: false },
};
const one: Running = { folder: '1', unit: 'unit-1', configuration: 'a' };
const two: Running = { folder: '2', unit: 'unit-2', configuration: 'a' };
const runsOne: Observed = {
  ...nothing,
  current: '1',
  folders: ['1'],
  unit: 'unit-1',
  ownUnit: 'unit-1',
  configuration: 'a',
  isGuarded: true,
  record: { ready: one, isSettled: true, previous: null, refused: null },
  account: true,
  remover: true,
  command: 'ours',
  service: { enabled: true, active: true, isStale: false, isMasked: false },
};
const stopped = { enabled: true, active: false, isStale: false, isMasked: false };
const disabled = { enabled: false, active: false, isStale: false, isMasked: false };
const wants = (running: Running): Omit<Desired, 'enable'> => ({
  running,
  ownUnit: running.unit,
  namesVersion: true,
  start: true,
});
const install = (running: Running): Desired => ({ ...wants(running), enable: 'always' });
const update = (running: Running): Desired => ({ ...wants(running), enable: 'as-it-is' });
const words = (steps: readonly Step[]): string => steps.map((step) => step.do).join(' ');

const everything =
  'place make-account write-configuration write-unit switch write-remover link-command reload enable restart';
const unsettledOne = { ready: one, isSettled: false, previous: null, refused: null };
const cases: readonly {
  name: string;
  observed: Observed;
  desired: Desired;
  outcome: Plan['outcome'];
  steps: string;
  back?: Running;
}[] = [
  { name: 'nothing is there', observed: nothing, desired: install(one), outcome: 'becomes-ready', steps: everything },
  {
    name: 'the configuration is readable by others, or not by the service',
    observed: { ...runsOne, isGuarded: false },
    desired: update(one),
    outcome: 'ready-already',
    steps: 'write-configuration',
  },
  {
    name: 'nothing is there and it is updated',
    observed: nothing,
    desired: update(one),
    outcome: 'becomes-ready',
    steps: everything,
  },
  { name: 'everything is there', observed: runsOne, desired: install(one), outcome: 'ready-already', steps: '' },
  {
    name: 'it was stopped',
    observed: { ...runsOne, service: stopped },
    desired: update(one),
    outcome: 'becomes-ready',
    steps: 'record restart',
  },
  {
    name: 'it was disabled',
    observed: { ...runsOne, service: disabled },
    desired: update(one),
    outcome: 'rests',
    steps: 'record',
  },
  {
    name: 'it was disabled and is to be installed',
    observed: { ...runsOne, service: disabled },
    desired: install(one),
    outcome: 'becomes-ready',
    steps: 'record enable restart',
  },
  {
    name: 'it was disabled and started manually',
    observed: { ...runsOne, service: { ...disabled, active: true } },
    desired: update(two),
    outcome: 'becomes-ready',
    steps: 'place record write-unit switch reload restart',
    back: one,
  },
  {
    name: 'the version is another',
    observed: runsOne,
    desired: update(two),
    outcome: 'becomes-ready',
    steps: 'place record write-unit switch reload restart',
    back: one,
  },
  {
    name: 'only the program is another',
    observed: runsOne,
    desired: update({ ...two, unit: 'unit-1' }),
    outcome: 'becomes-ready',
    steps: 'place record switch restart',
    back: one,
  },
  {
    name: 'only the unit is another',
    observed: runsOne,
    desired: update({ ...one, unit: 'unit-2' }),
    outcome: 'becomes-ready',
    steps: 'record write-unit reload restart',
    back: one,
  },
  {
    name: 'only the configuration is another',
    observed: runsOne,
    desired: update({ ...one, configuration: 'b' }),
    outcome: 'becomes-ready',
    steps: 'record keep-configuration write-configuration restart',
    back: one,
  },
  {
    name: 'the new configuration was half way',
    observed: { ...runsOne, configuration: 'b', keptConfiguration: 'a', record: unsettledOne },
    desired: update({ ...one, configuration: 'b' }),
    outcome: 'becomes-ready',
    steps: 'restart',
    back: one,
  },
  {
    name: 'the one kept is not replaced by one that was never ready',
    observed: { ...runsOne, configuration: 'b', keptConfiguration: 'a', record: unsettledOne },
    desired: update({ ...one, configuration: 'c' }),
    outcome: 'becomes-ready',
    steps: 'write-configuration restart',
    back: one,
  },
  {
    name: 'the running version is unknown',
    observed: { ...runsOne, record: unsettledOne },
    desired: update(one),
    outcome: 'becomes-ready',
    steps: 'restart',
  },
  {
    name: 'the unit was edited',
    observed: { ...runsOne, unit: 'changed', ownUnit: 'changed' },
    desired: install(one),
    outcome: 'becomes-ready',
    steps: 'record write-unit reload restart',
  },
  {
    name: 'an administrator has edited the unit, and the version is another',
    observed: {
      ...runsOne,
      unit: 'edited',
      isUnitEdited: true,
      record: { ...runsOne.record, ready: { ...one, unit: 'edited' } } as Observed['record'],
    },
    desired: { ...update({ ...two, unit: 'edited' }), ownUnit: 'unit-2' },
    outcome: 'becomes-ready',
    steps: 'place record write-unit switch reload restart',
    back: { ...one, unit: 'edited' },
  },
  {
    name: 'the unit is masked, and the version is another',
    observed: { ...runsOne, service: { ...stopped, isMasked: true } },
    desired: update(two),
    outcome: 'masked',
    steps: 'place record write-unit switch reload',
    back: one,
  },
  {
    name: 'the unit is masked before the first installation',
    observed: { ...nothing, service: { ...nothing.service, isMasked: true } },
    desired: install(one),
    outcome: 'masked',
    steps: 'place make-account write-configuration write-unit switch write-remover link-command reload',
  },
  {
    name: 'systemd has not read the unit',
    observed: { ...runsOne, service: { ...runsOne.service, isStale: true } },
    desired: update(one),
    outcome: 'ready-already',
    steps: 'reload',
  },
  {
    name: 'there is no configuration',
    observed: nothing,
    desired: install({ ...one, configuration: null }),
    outcome: 'waits',
    steps: 'place make-account write-unit switch write-remover link-command reload',
  },
  {
    name: 'it is an image',
    observed: nothing,
    desired: { ...install(one), start: false },
    outcome: 'later',
    steps: 'place make-account write-configuration write-unit switch write-remover link-command enable',
  },
  {
    name: 'the previous version is missing',
    observed: { ...runsOne, folders: ['0'] },
    desired: update(two),
    outcome: 'becomes-ready',
    steps: 'place record write-unit switch reload restart',
  },
  {
    name: 'the running version has no entry in the installation record',
    observed: { ...runsOne, record: null },
    desired: update(two),
    outcome: 'becomes-ready',
    steps: 'place write-unit switch reload restart',
    back: one,
  },
  {
    name: 'the command belongs to another product',
    observed: { ...runsOne, command: 'foreign' },
    desired: update(one),
    outcome: 'ready-already',
    steps: '',
  },
];

test.each(cases)('the plan where $name', ({ observed, desired, outcome, steps, back = null }) => {
  const planned = plan(observed, desired);
  expect({ outcome: planned.outcome, steps: words(planned.steps), back: planned.fallBackTo }).toEqual({
    outcome,
    steps,
    back,
  });
});

describe('when it is ready', () => {
  const settled = (observed: Observed, desired: Desired) => planSettling(observed, desired, plan(observed, desired));

  test('it is recorded with the version that was ready before', () => {
    expect(settled({ ...runsOne, folders: ['0', '1', '2'] }, update(two))).toEqual([
      { do: 'record', record: { ready: two, isSettled: true, previous: '1', refused: null } },
      { do: 'prune', folders: ['0'] },
    ]);
  });

  test('another configuration costs no version that is kept', () => {
    const observed = {
      ...runsOne,
      folders: ['0', '1'],
      keptConfiguration: 'a',
      record: { ready: one, isSettled: true, previous: '0', refused: null },
    };
    expect(settled(observed, update({ ...one, configuration: 'b' }))).toEqual([
      {
        do: 'record',
        record: { ready: { ...one, configuration: 'b' }, isSettled: true, previous: '0', refused: null },
      },
      { do: 'forget-configuration' },
    ]);
  });

  const refusedTwo = { version: '2', because: 'It ended.' };
  const didNotGetTwo = { ...runsOne, record: { ready: one, isSettled: true, previous: null, refused: refusedTwo } };

  test('a refused version is forgotten when a version is named', () => {
    expect(settled(didNotGetTwo, update(one))).toEqual([
      { do: 'record', record: { ready: one, isSettled: true, previous: null, refused: null } },
    ]);
    expect(settled({ ...didNotGetTwo, service: disabled }, update(one))).toEqual([
      { do: 'record', record: { ready: one, isSettled: true, previous: null, refused: null } },
    ]);
  });

  test('a refused version is remembered while only the configuration changes', () => {
    const desired = { ...update({ ...one, configuration: 'b' }), namesVersion: false };
    expect(settled(didNotGetTwo, desired)).toEqual([
      {
        do: 'record',
        record: { ready: { ...one, configuration: 'b' }, isSettled: true, previous: null, refused: refusedTwo },
      },
    ]);
  });

  test('nothing is written down of what was not started, and what was ready is kept', () => {
    const observed = {
      ...runsOne,
      folders: ['-1', '0', '1', '2'],
      service: disabled,
      record: { ready: one, isSettled: true, previous: '0', refused: null },
    };
    expect(settled(observed, update(two))).toEqual([{ do: 'prune', folders: ['-1'] }]);
  });
});

const ways: readonly { name: string; observed: Observed; steps: string; keepsNew?: true }[] = [
  {
    name: 'everything',
    observed: { ...runsOne, current: '2', unit: 'unit-2', configuration: 'b', keptConfiguration: 'a' },
    steps: 'restore-configuration write-unit switch reload restart',
  },
  {
    name: 'a version whose unit an administrator has edited',
    observed: { ...runsOne, current: '2', unit: 'edited', ownUnit: 'unit-2', isUnitEdited: true },
    steps: 'write-unit switch reload restart',
  },
  {
    name: 'a configuration, where an administrator has edited the unit',
    observed: { ...runsOne, unit: 'edited', isUnitEdited: true },
    steps: 'restart',
  },
  { name: 'the program only', observed: { ...runsOne, current: '2' }, steps: 'switch restart' },
  { name: 'nothing, for it was just restarted', observed: runsOne, steps: 'restart' },
  {
    name: 'a configuration without a kept copy',
    observed: { ...runsOne, configuration: 'b' },
    steps: 'restart',
    keepsNew: true,
  },
];

test.each(ways)('the way back from $name', ({ observed, steps, keepsNew = false }) => {
  const back = planFallBack(observed, one);
  expect({ steps: words(back.steps), keepsNew: back.keepsNewConfiguration }).toEqual({ steps, keepsNew });
});
