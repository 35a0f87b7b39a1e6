import { expect, test } from 'vitest';
import { durationOf, maxCostOf, planOf } from '../../../infra/acceptance/plan.ts';
import type { Step } from '../../../infra/acceptance/step.ts';
import { fakeStep } from './fake-step.ts';

const ids = (steps: readonly Step[]): string => steps.map(({ id }) => id).join(' ');

const steps = [
  fakeStep('restart', { phase: 'events', needs: ['vm'] }),
  fakeStep('vm', { phase: 'deploy', needs: ['platform', 'network'] }),
  fakeStep('platform', { phase: 'deploy', needs: ['login'] }),
  fakeStep('network', { phase: 'deploy', needs: ['login'] }),
  fakeStep('tables', { phase: 'read', needs: ['platform'] }),
  fakeStep('login', { phase: 'prepare' }),
];

test('orders steps by phase, and within a phase by what they need', () => {
  expect(ids(planOf(steps).steps)).toBe('login platform network vm restart tables');
  expect(planOf(steps).leftOut).toEqual([]);
});

test.for([
  { selection: { only: ['tables'] }, expected: 'login platform tables' },
  { selection: { only: ['vm', 'vm'] }, expected: 'login platform network vm' },
  { selection: { without: ['vm'] }, expected: 'login platform network tables' },
  { selection: { without: ['login'] }, expected: '' },
  { selection: { only: ['restart', 'tables'], without: [] }, expected: 'login platform network vm restart tables' },
])('selects $selection', ({ selection, expected }) => {
  const plan = planOf(steps, selection);
  expect(ids(plan.steps)).toBe(expected);
  expect(plan.steps.length + plan.leftOut.length).toBe(steps.length);
});

test.for([
  { selection: { only: ['restrat'] }, message: 'There is no step restrat. Did you mean restart?' },
  { selection: { without: ['plat'] }, message: 'There is no step plat. Did you mean platform?' },
  {
    selection: { only: ['eviction'] },
    message: /^There is no step eviction\. --plan lists the steps: login, platform/,
  },
  { selection: { only: ['vm'], without: ['network'] }, message: /^--without leaves out vm, or a step that it needs/ },
])('refuses $selection', ({ selection, message }) => {
  expect(() => planOf(steps, selection)).toThrow(message);
  expect(() => planOf(steps, selection)).toThrow(expect.objectContaining({ reason: 'usage' }));
});

test.for([
  { steps: [fakeStep('a'), fakeStep('a')], message: 'same id' },
  { steps: [fakeStep('a', { needs: ['b'] })], message: 'a needs b, which does not exist' },
  { steps: [fakeStep('a', { needs: ['b'] }), fakeStep('b', { needs: ['a'] })], message: 'in a circle: a, b, a' },
  { steps: [fakeStep('a', { needs: ['b'] }), fakeStep('b', { phase: 'read' })], message: 'of a later phase' },
])('reports lists of steps that cannot be carried out: $message', ({ steps, message }) => {
  expect(() => planOf(steps)).toThrow(message);
});

test.for([
  { name: 'one after the other', steps: [fakeStep('a', { minutes: 3 }), fakeStep('b', { minutes: 4 })], minutes: 7 },
  {
    name: 'lanes of one phase at the same time',
    steps: [fakeStep('a', { minutes: 3, lane: 'x' }), fakeStep('b', { minutes: 4, lane: 'y' })],
    minutes: 4,
  },
  {
    name: 'a lane in its order',
    steps: ['x', 'y', 'x'].map((lane, at) => fakeStep(`s${at}`, { minutes: 3, lane })),
    minutes: 6,
  },
  {
    name: 'a step without a lane waits for those before it, and those after it wait',
    steps: [
      fakeStep('a', { minutes: 3, lane: 'x' }),
      fakeStep('b', { minutes: 4, lane: 'y' }),
      fakeStep('c', { minutes: 1 }),
      fakeStep('d', { minutes: 2, lane: 'x' }),
    ],
    minutes: 7,
  },
  {
    name: 'a step waits for what it needs in another lane',
    steps: [fakeStep('a', { minutes: 3, lane: 'x' }), fakeStep('b', { minutes: 4, lane: 'y', needs: ['a'] })],
    minutes: 7,
  },
  {
    name: 'phases one after the other',
    steps: [fakeStep('a', { minutes: 3, lane: 'x' }), fakeStep('b', { minutes: 4, lane: 'y', phase: 'events' })],
    minutes: 7,
  },
])('calculates the duration: $name', ({ steps, minutes }) => {
  expect(durationOf(steps)).toBe(minutes);
});

test('adds up the most that the steps can cost', () => {
  const cost = (usd: number) => ({ cost: { usd, basis: '' } });
  expect(maxCostOf([fakeStep('a', cost(0.25)), fakeStep('b', cost(1.5)), fakeStep('c')])).toBe(1.75);
});
