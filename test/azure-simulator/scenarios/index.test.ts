import { expect, test } from 'vitest';
import { findScenario, type Scenario, type Step, scenarios } from '../../../src/azure-simulator/scenarios/index.ts';

/** So that a bridge that polls once a second sees every step. */
const minimumStepSeconds = 2;
const secondsOf = ({ steps }: Scenario, speed: number, least = 0): number =>
  steps.reduce((sum, { afterSeconds }) => sum + (afterSeconds === 0 ? 0 : Math.max(afterSeconds / speed, least)), 0);

test('scenarios have distinct names, one sentence each, and can be watched within half a minute', () => {
  expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
  for (const scenario of scenarios) {
    const { name, description, demoSpeed } = scenario;
    expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(description, name).toMatch(/^[A-Z][^.]+\.$/);
    expect(secondsOf(scenario, demoSpeed, minimumStepSeconds), name).toBeLessThan(40);
  }
});

test('an unknown scenario is not found', () => {
  expect(findScenario('freeze')?.name).toBe('freeze');
  expect(findScenario('earthquake')).toBeUndefined();
});

test('a freeze in real time is announced for 15 minutes, pauses for 7 seconds, and is listed for 10 minutes', () => {
  const freeze = findScenario('freeze');
  const [announced, started, paused, removed] = freeze?.steps ?? [];
  expect(announced).toMatchObject({ do: 'schedule', noticeSeconds: 900 });
  expect(started).toMatchObject({ do: 'start', afterSeconds: 900 });
  expect(paused).toMatchObject({ do: 'impact', kind: 'freeze', seconds: 7 });
  expect((paused?.afterSeconds ?? 0) + (removed?.afterSeconds ?? 0)).toBe(600);
});

/** https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#event-scheduling */
const minimumNotice: Readonly<Record<string, number>> = {
  Freeze: 900,
  Reboot: 900,
  Redeploy: 600,
  Preempt: 30,
  Terminate: 300,
};
const announcements = scenarios
  .filter(({ name }) => name !== 'chaos')
  .flatMap(({ steps }) => steps)
  .filter((step): step is Extract<Step, { do: 'schedule' }> => step.do === 'schedule');

test('outside of chaos nothing is announced with less notice than Azure promises', () => {
  for (const { eventType, noticeSeconds } of announcements) {
    if (noticeSeconds !== null) expect(noticeSeconds, eventType).toBeGreaterThanOrEqual(minimumNotice[eventType] ?? 0);
  }
  expect(new Set(announcements.map(({ eventType }) => eventType))).toEqual(
    new Set([...Object.keys(minimumNotice), 'Reimage']),
  );
});
