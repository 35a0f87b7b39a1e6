import { expect, test } from 'vitest';
import { inWords, listScenarios, scenariosJson } from '../../../src/azure-simulator/cli/list.ts';
import { scenarios } from '../../../src/azure-simulator/scenarios/index.ts';

test('every scenario is in one line with how long it takes, and the columns are aligned', () => {
  const [head = '', ...lines] = listScenarios().trimEnd().split('\n');
  expect(lines.length).toBe(scenarios.length);
  const column = head.indexOf('WHAT HAPPENS');
  for (const [index, { name, description, demoSpeed }] of scenarios.entries()) {
    const line = lines[index] ?? '';
    expect(line.slice(column)).toBe(description);
    expect(line.slice(0, column)).toMatch(new RegExp(`^${name} +[\\d.]+ (s|min|h|d) +\\d+ s +${demoSpeed}x +$`));
  }
});

test('on a terminal of 80 columns a long description wraps within its column', () => {
  const lines = listScenarios(80).trimEnd().split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  const column = lines[0]?.indexOf('WHAT HAPPENS') ?? 0;
  const [first] = scenarios;
  const words = lines.slice(1).map((line) => line.slice(column));
  expect(words.join(' ')).toContain(`${first?.description} `);
  expect(lines[2]?.slice(0, column).trim()).toBe('');
});

test('the JSON list has a version and every scenario with the same facts', () => {
  const { listVersion, scenarios: listed } = JSON.parse(scenariosJson());
  expect(listVersion).toBe(1);
  expect(listed.map(({ name }: { name: string }) => name)).toEqual(scenarios.map(({ name }) => name));
  expect(listed[0]).toEqual({
    name: 'freeze',
    description: expect.any(String),
    realSeconds: 1500,
    demoSeconds: expect.any(Number),
    demoSpeed: 240,
    vms: 1,
  });
});

test.for([
  [4.2, '4 s'],
  [60, '1 min'],
  [90, '90 s'],
  [1505, '25.1 min'],
  [5400, '90 min'],
  [7200, '2 h'],
  [260_400, '3 d'],
] as const)('%s seconds are %s', ([seconds, words]) => {
  expect(inWords(seconds)).toBe(words);
});
