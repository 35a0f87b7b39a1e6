import { expect, test } from 'vitest';
import { findScenario, scenarios } from '../../src/azure-simulator/scenarios.ts';

test('scenarios have distinct names, a sentence each, and can be watched within half a minute', () => {
  expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
  for (const { name, description, demoSpeed, steps } of scenarios) {
    expect(description, name).toMatch(/\.$/);
    const seconds = steps.reduce((sum, { afterSeconds }) => sum + afterSeconds, 0);
    expect(seconds / demoSpeed, name).toBeLessThan(30);
  }
});

test('a scenario that nobody wrote is not found', () => {
  expect(findScenario('freeze')?.name).toBe('freeze');
  expect(findScenario('earthquake')).toBeUndefined();
});
