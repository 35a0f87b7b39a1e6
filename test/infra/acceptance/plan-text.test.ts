import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readAssumptions } from '../../../infra/acceptance/assumptions.ts';
import { assumedHours } from '../../../infra/acceptance/azure/prices.ts';
import { runNamed } from '../../../infra/acceptance/begin.ts';
import { durationOf, planOf } from '../../../infra/acceptance/plan.ts';
import { duration, planText, summaryOf } from '../../../infra/acceptance/plan-text.ts';
import { stepsOf } from '../../../infra/acceptance/steps.ts';
import { startCommand } from './command.ts';
import { createFakeAzure } from './fake-azure.ts';
import { fakeStep } from './fake-step.ts';

/** What `--plan` prints of every step, with the register as it is. */
async function printed(...options: readonly string[]): Promise<string> {
  const command = startCommand(['--plan', ...options], {
    azure: createFakeAzure(),
    stepsOf,
    assumptions: readAssumptions(),
  });
  expect([await command.ended, command.errors()]).toEqual([0, '']);
  return command.printed();
}

/** `UPDATE=1 npm run test:unit -- test/infra/acceptance/plan-text.test.ts` writes it again; read it as a person would. */
test('--plan is as in plan.txt', async () => {
  const file = join(import.meta.dirname, 'plan.txt');
  const text = await printed();
  if (process.env.UPDATE) writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
});

test.for([[], ['--windows'], ['--against', 'simulator'], ['--subscription', 'Contoso', '--location', 'westeurope']])(
  '--plan %s has lines of at most 100 columns, and nothing undefined',
  async (options) => {
    const text = await printed(...options);
    expect(text.split('\n').filter((line) => line.length > 100 && !/^\s*\S+$/.test(line))).toEqual([]);
    expect(text).not.toMatch(/undefined|NaN|\[object/);
    expect(text.split('\n').filter((line) => /\s$/.test(line))).toEqual([]);
  },
);

test('a run takes less time than its cost is calculated for', () => {
  expect(durationOf(planOf(stepsOf({ against: 'azure', windows: true })).steps)).toBeLessThan(assumedHours * 60);
});

test('the plan has every step, and every assumption once', async () => {
  const text = await printed();
  const steps = stepsOf({ against: 'azure', windows: true });
  expect(steps.filter(({ id }) => !text.includes(`${id}: `))).toEqual([]);
  const lists = text.slice(text.indexOf('\nAssumptions that these steps'));
  const times = (id: string): number => [...lists.matchAll(new RegExp(`(?<![\\w-])${id}(?![\\w-])`, 'g'))].length;
  // A claim may name another assumption.
  expect(readAssumptions().filter(({ id }) => times(id) === 0)).toEqual([]);
});

test.for([
  { minutes: 0, text: '0 min' },
  { minutes: 0.2, text: '1 min' },
  { minutes: 59, text: '59 min' },
  { minutes: 60, text: '1 h' },
  { minutes: 125, text: '2 h 5 min' },
])('shows $minutes minutes as $text', ({ minutes, text }) => {
  expect(duration(minutes)).toBe(text);
});

test('the summary counts, adds up and says that the simulator is free', () => {
  const step = fakeStep('a', { cost: { usd: 1.234, basis: '' }, minutes: 70 });
  expect(summaryOf([step], 'azure')).toBe('1 step, at most $1.23, about 1 h 10 min');
  expect(summaryOf([step, fakeStep('b')], 'simulator')).toBe('2 steps, free, about 1 h 11 min');
});

test('a step with many commands shows some of them, and says how many more', () => {
  const commands = () => Array.from({ length: 13 }, (_, at) => ['bicep', 'build', '--file', `${at}.bicep`]);
  const text = planText({
    plan: planOf([fakeStep('compile', { commands })]),
    run: runNamed('<run>', { subscription: '<subscription>', location: '<location>', folder: '/runs' }),
    against: 'azure',
    assumptions: [],
  });
  expect(text).toContain('az bicep build --file 9.bicep\n');
  expect(text).not.toContain('10.bicep');
  expect(text).toContain('and 3 more');
});
