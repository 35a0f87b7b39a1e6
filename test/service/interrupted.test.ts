import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { apply } from '../../src/service/apply.ts';
import { planFallBack } from '../../src/service/fall-back.ts';
import { inspect } from '../../src/service/linux/inspect.ts';
import { createSystemd } from '../../src/service/linux/systemd.ts';
import { readPackage, sha256 } from '../../src/service/package.ts';
import { plan, type Step } from '../../src/service/plan.ts';
import { createHarness, type Harness, refusalOf, treeOf } from './harness.ts';

const first = (harness: Harness) => ({ from: harness.package('1.0.0'), configuration: harness.configuration('a') });
const second = (harness: Harness) => ({ from: harness.package('2.0.0'), configuration: harness.configuration('b') });

/** Does the first `count` steps of an update, and no more: as an installer that is killed then. */
async function killedAfter(harness: Harness, count: number, from: string, file: string): Promise<readonly Step[]> {
  const systemd = createSystemd(harness.env);
  const [desired, configuration] = [readPackage(from), readFileSync(file)];
  const running = { folder: desired.version, unit: desired.unitSha256, configuration: sha256(configuration) };
  const wantedState = { running, ownUnit: running.unit, namesVersion: true, enable: 'always', start: true } as const;
  const { steps } = plan(inspect(harness.places, await systemd.unit()), wantedState);
  await apply(steps.slice(0, count), harness.machine.system, { package: desired, configuration });
  return steps;
}

/** Everything but what the stand-in of systemd keeps. */
const installed = (harness: Harness) => treeOf(harness.root);

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
    using harness = createHarness();
    await harness.install(first(harness));
    uncut.first = installed(harness);
    await harness.install(second(harness));
    uncut.second = installed(harness);
  });

  test.each(firstSteps.map((name, after) => ({ name, after: after + 1 })))(
    'comes to the same first installation after $name',
    async ({ after, name }) => {
      using cut = createHarness();
      const { from, configuration } = first(cut);
      const steps = await killedAfter(cut, after, from, configuration);
      expect(steps[after - 1]?.do).toBe(name);
      expect(await cut.install(first(cut))).toMatchObject({ outcome: 'becomes-ready' });
      expect(installed(cut)).toEqual(uncut.first);
      expect(cut.runs()).toContain('1.0.0');
    },
  );

  test.each(secondSteps.map((name, after) => ({ name, after: after + 1 })))(
    'comes to the same update after $name',
    async ({ after, name }) => {
      using cut = createHarness();
      await cut.install(first(cut));
      const { from, configuration } = second(cut);
      const steps = await killedAfter(cut, after, from, configuration);
      expect(steps[after - 1]?.do).toBe(name);
      expect(await cut.install(second(cut))).toMatchObject({ outcome: 'becomes-ready' });
      expect(installed(cut)).toEqual(uncut.second);
    },
  );

  test.each(secondSteps.map((name, after) => ({ name, after: after + 1 })))(
    'goes back to what was ready after $name of a version that never is',
    async ({ after }) => {
      using harness = createHarness();
      await harness.install(first(harness));
      const from = harness.package('2.0.0', { behaviour: 'dies' });
      await killedAfter(harness, after, from, harness.configuration('b'));
      const { message } = await refusalOf(harness.install({ from, configuration: harness.configuration('b') }));
      expect(message).toContain('Back to version 1.0.0, which is ready');
      expect(harness.runs()).toContain('1.0.0');
      expect(readFileSync(harness.places.configuration, 'utf8')).toContain('a becomes-ready');
    },
  );

  test('does not prevent an installation of the old version', async () => {
    using harness = createHarness();
    await harness.install(first(harness));
    const before = installed(harness);
    await killedAfter(harness, 99, harness.package('2.0.0', { behaviour: 'dies' }), harness.configuration('b'));
    expect(await harness.install(first(harness))).toMatchObject({ outcome: 'becomes-ready', folder: '1.0.0' });
    expect(installed(harness)).toEqual(before);
  });

  test('leaves unfinished files that the next one does not stumble over', async () => {
    using cut = createHarness();
    const { places } = cut;
    for (const folder of [join(places.versions, '.staging'), places.settings])
      mkdirSync(folder, { recursive: true, mode: 0o755 });
    writeFileSync(join(places.versions, '.staging/node'), 'half');
    writeFileSync(join(places.settings, '.config.json.new'), '{');
    symlinkSync('versions/gone', join(places.home, '.current.new'));
    await cut.install(first(cut));
    expect(installed(cut)).toEqual(uncut.first);
  });

  test('continues the rollback when it was killed during it', async () => {
    using harness = createHarness();
    await harness.install(first(harness));
    const from = harness.package('2.0.0', { behaviour: 'dies' });
    await killedAfter(harness, 99, from, harness.configuration('b'));
    const systemd = createSystemd(harness.env);
    const observed = inspect(harness.places, await systemd.unit());
    const ready = observed.record?.ready;
    expect(ready?.folder).toBe('1.0.0');
    const { steps } = planFallBack(observed, ready ?? { folder: '', unit: '', configuration: null });
    expect(steps.map((step) => step.do)).toEqual([
      'restore-configuration',
      'write-unit',
      'switch',
      'reload',
      'restart',
    ]);
    for (let count = 1; count <= steps.length; count += 1) {
      await apply(steps.slice(0, count), harness.machine.system, { package: null, configuration: null });
      expect(inspect(harness.places, await systemd.unit()).record?.ready.folder).toBe('1.0.0');
    }
    expect(
      await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration('a') }),
    ).toMatchObject({
      folder: '1.0.0',
    });
  });
});
