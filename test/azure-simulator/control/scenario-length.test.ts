import { expect, test } from 'vitest';
import { scenarioSeconds } from '../../../src/azure-simulator/control/scenario-length.ts';
import type { Scenario } from '../../../src/azure-simulator/scenarios/index.ts';

const scenario: Scenario = {
  name: 'x',
  description: '',
  demoSpeed: 100,
  steps: [
    { afterSeconds: 0, do: 'schedule', event: 'e', eventType: 'Freeze', noticeSeconds: 900 },
    { afterSeconds: 900, do: 'start', event: 'e' },
    { afterSeconds: 5, do: 'remove', event: 'e' },
  ],
};

test('a scenario takes as long as its steps wait, each at least the shortest wait but those that follow at once', () => {
  expect(scenarioSeconds(scenario, { speed: 1 })).toBe(905);
  expect(scenarioSeconds(scenario, { speed: 100, minimumStepSeconds: 2 })).toBe(11);
});
