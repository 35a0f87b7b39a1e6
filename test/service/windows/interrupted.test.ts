import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { apply } from '../../../src/service/apply.ts';
import { readPackage, sha256 } from '../../../src/service/package.ts';
import { plan, type Step } from '../../../src/service/plan.ts';
import { refusalOf, treeOf } from '../harness.ts';
import { createWindowsHarness, type WindowsHarness } from './harness.ts';

const first = (harness: WindowsHarness) => ({
  from: harness.package('1.0.0'),
  configuration: harness.configuration('a'),
});
const second = (harness: WindowsHarness) => ({
  from: harness.package('2.0.0'),
  configuration: harness.configuration('b'),
});

/** Does the first `count` steps of an installation, and no more: as an installer that is killed then. */
async function killedAfter(
  harness: WindowsHarness,
  count: number,
  { from, configuration: file }: { readonly from: string; readonly configuration: string },
): Promise<readonly Step[]> {
  const { system } = harness.machine;
  const [desired, configuration] = [readPackage(from), readFileSync(file)];
  const running = { folder: desired.version, unit: desired.unitSha256, configuration: sha256(configuration) };
  const wanted = { running, ownUnit: running.unit, namesVersion: true, enable: 'always', start: true } as const;
  const { steps } = plan(await system.inspect(await system.manager.unit()), wanted);
  await apply(steps.slice(0, count), system, { package: desired, configuration });
  return steps;
}

/** Files, and what the service control manager knows; without what changes with each start. */
const installed = (harness: WindowsHarness) => ({
  ...treeOf(harness.places.home),
  ...Object.fromEntries(
    Object.entries(treeOf(harness.places.data)).filter(([path]) => !path.endsWith('service.state')),
  ),
  known: JSON.stringify(harness.windows.service()).replaceAll(harness.path, ''),
});

const firstSteps = [
  'place',
  'make-account',
  'write-configuration',
  'write-unit',
  'switch',
  'write-remover',
  'link-command',
  'reload',
  'enable',
  'restart',
];
const secondSteps = [
  'place',
  'record',
  'keep-configuration',
  'write-configuration',
  'write-unit',
  'switch',
  'reload',
  'restart',
];

describe('an installer that is killed and run again', () => {
  const uncut = { first: {}, second: {} };
  beforeAll(async () => {
    using harness = createWindowsHarness();
    await harness.install(first(harness));
    uncut.first = installed(harness);
    await harness.install(second(harness));
    uncut.second = installed(harness);
  });

  test.each(firstSteps.map((name, after) => ({ name, after: after + 1 })))(
    'comes to the same first installation on Windows after $name',
    async ({ after, name }) => {
      using cut = createWindowsHarness();
      const steps = await killedAfter(cut, after, first(cut));
      expect(steps[after - 1]?.do).toBe(name);
      expect(await cut.install(first(cut))).toMatchObject({ outcome: 'becomes-ready' });
      expect(installed(cut)).toEqual(uncut.first);
      expect(cut.windows.registered.join()).toContain('1.0.0');
    },
  );

  test.each(secondSteps.map((name, after) => ({ name, after: after + 1 })))(
    'comes to the same update on Windows after $name',
    async ({ after, name }) => {
      using cut = createWindowsHarness();
      await cut.install(first(cut));
      const steps = await killedAfter(cut, after, second(cut));
      expect(steps[after - 1]?.do).toBe(name);
      expect(await cut.install(second(cut))).toMatchObject({ outcome: 'becomes-ready' });
      expect(installed(cut)).toEqual(uncut.second);
    },
  );

  test.each(secondSteps.map((name, after) => ({ name, after: after + 1 })))(
    'goes back to what was ready on Windows after $name of a version that never is',
    async ({ after }) => {
      using harness = createWindowsHarness();
      await harness.install(first(harness));
      const bad = {
        from: harness.package('2.0.0', { behaviour: 'dies' }),
        configuration: harness.configuration('b'),
      };
      await killedAfter(harness, after, bad);
      expect((await refusalOf(harness.install(bad))).message).toContain('Back to version 1.0.0, which is ready');
      expect(harness.runs()).toContain('1.0.0');
      expect(harness.windows.service()?.image).toContain('1.0.0');
      expect(readFileSync(harness.places.configuration, 'utf8')).toContain('a becomes-ready');
    },
  );
});
