import { expect, test } from 'vitest';
import { rollingMaintenance, type Step } from '../../../src/azure-simulator/scenarios/index.ts';

const stepText = (step: Step): string => ('event' in step ? `${step.do} ${step.event}` : step.do);

test('a rolling maintenance announces the next domain when the one before has started', () => {
  expect(rollingMaintenance(5, 3).steps.map(stepText)).toEqual([
    'schedule domain 0',
    'start domain 0',
    'impact domain 0',
    'schedule domain 1',
    'remove domain 0',
    'start domain 1',
    'impact domain 1',
    'schedule domain 2',
    'remove domain 1',
    'start domain 2',
    'impact domain 2',
    'remove domain 2',
  ]);
});

test('every VM of a rolling maintenance is in exactly one domain', () => {
  const { steps, vms } = rollingMaintenance(7, 3);
  const on = steps.flatMap((step) => (step.do === 'schedule' ? [step.on] : []));
  expect(on).toEqual([
    [0, 3, 6],
    [1, 4],
    [2, 5],
  ]);
  expect(vms?.map(({ updateDomain }) => updateDomain)).toEqual(['0', '1', '2', '0', '1', '2', '0']);
});
