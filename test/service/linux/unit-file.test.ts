import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { servicePage } from '../../../src/cli/service/page.ts';
import { unitName } from '../../../src/service/linux/places.ts';
import { doneSentences } from '../../../src/service/sentences.ts';
import { serviceStatus } from '../../../src/service/status.ts';
import { createHarness, type Harness, refusalOf } from '../harness.ts';
import { inMountNamespace, noMounting } from '../mounting.ts';

/** As dpkg and rpm place a package: its folder, and its unit in systemd's folder for packages. */
function packagedUnit(harness: Harness, from: string): void {
  mkdirSync(dirname(harness.places.packagedUnit), { recursive: true });
  writeFileSync(harness.places.packagedUnit, readFileSync(join(from, unitName)));
}

/** The places in which there is a unit file. */
const unitFilesIn = ({ places }: Harness): string[] =>
  (['administratorUnit', 'unit', 'packagedUnit'] as const).filter((name) => existsSync(places[name]));

const linkOf = ({ places }: Harness): string => readlinkSync(places.desired);

test('the unit leaves the place free in which systemctl masks and edits it', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  expect(unitFilesIn(harness)).toEqual(['unit']);
  expect(readdirSync(dirname(harness.places.administratorUnit))).toEqual(['multi-user.target.wants']);
  await harness.uninstall();
  expect(existsSync(dirname(dirname(harness.places.unit)))).toBe(false);
});

test('with the unit from a package manager no other unit is written', async () => {
  using harness = createHarness();
  const from = harness.package('1.0.0');
  packagedUnit(harness, from);
  await harness.install({ from, configuration: harness.configuration() });
  expect(unitFilesIn(harness)).toEqual(['packagedUnit']);
  await harness.uninstall();
  expect(unitFilesIn(harness)).toEqual(['packagedUnit']);
});

test('a version that takes the place of one that did not become ready runs with its own unit, until the next package comes', async () => {
  using harness = createHarness();
  const [first, broken, next] = [
    harness.package('1.0.0'),
    harness.package('2.0.0', { behaviour: 'dies' }),
    harness.package('3.0.0'),
  ] as const;
  packagedUnit(harness, first);
  await harness.install({ from: first, configuration: harness.configuration() });
  packagedUnit(harness, broken);
  await refusalOf(harness.install({ from: broken, enable: 'as-it-is' }));
  expect(unitFilesIn(harness)).toEqual(['unit', 'packagedUnit']);
  expect(readFileSync(harness.places.unit, 'utf8')).toContain('of version 1.0.0');
  expect(linkOf(harness)).toBe('/usr/local/lib/systemd/system/scheduled-events-bridge.service');
  packagedUnit(harness, next);
  await harness.install({ from: next, enable: 'as-it-is' });
  expect(unitFilesIn(harness)).toEqual(['packagedUnit']);
  expect(linkOf(harness)).toBe('/usr/lib/systemd/system/scheduled-events-bridge.service');
});

test('a unit edited by an administrator is kept by updates and by the removal, and reported', async () => {
  using harness = createHarness();
  const { administratorUnit } = harness.places;
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  const edited = `${readFileSync(harness.places.unit, 'utf8')}CPUQuota=50%\n`;
  writeFileSync(administratorUnit, edited);
  const done = await harness.install({ from: harness.package('2.0.0') });
  expect(done).toMatchObject({ outcome: 'becomes-ready', editedUnit: administratorUnit.slice(harness.root.length) });
  expect(doneSentences(done, harness.machine.system).at(-1)).toMatch(
    /system\/scheduled-events-bridge\.service is edited and was kept/,
  );
  expect(readFileSync(administratorUnit, 'utf8')).toBe(edited);
  expect(readFileSync(harness.places.unit, 'utf8')).toContain('of version 2.0.0');
  const status = await serviceStatus(harness.machine);
  expect(status).toMatchObject({
    isAsItWasReady: true,
    editedUnit: '/etc/systemd/system/scheduled-events-bridge.service',
  });
  expect(servicePage(status, harness.machine.system.words)).toContain('systemctl revert scheduled-events-bridge');
  expect(await harness.install({ from: harness.package('2.0.0') })).toMatchObject({
    outcome: 'ready-already',
    changed: false,
  });
  expect(await harness.uninstall()).toMatchObject({ left: [administratorUnit] });
  expect(readFileSync(administratorUnit, 'utf8')).toBe(edited);
});

test('a unit that an earlier installer wrote where administrators edit it moves, and nothing is restarted', async () => {
  using harness = createHarness();
  const { administratorUnit, unit, desired } = harness.places;
  const order = { from: harness.package('1.0.0'), configuration: harness.configuration() };
  await harness.install(order);
  writeFileSync(administratorUnit, readFileSync(unit));
  rmSync(desired);
  symlinkSync('/etc/systemd/system/scheduled-events-bridge.service', desired);
  expect(await harness.install(order)).toMatchObject({ outcome: 'ready-already', changed: true, editedUnit: null });
  expect(unitFilesIn(harness)).toEqual(['unit']);
  expect(linkOf(harness)).toBe('/usr/local/lib/systemd/system/scheduled-events-bridge.service');
});

test('with a masked unit a version is installed and not started, and enabling it is refused', async () => {
  using harness = createHarness();
  harness.mark('masked');
  const done = await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  expect(done).toMatchObject({ outcome: 'masked', folder: '1.0.0' });
  expect(doneSentences(done, harness.machine.system)[0]).toContain('systemctl unmask scheduled-events-bridge');
  expect(harness.calls()).not.toContain('enable');
  expect(harness.runs()).toBeNull();
  const { reason, message } = await refusalOf(harness.install({}));
  expect([reason, message]).toEqual(['notDone', expect.stringContaining('systemctl unmask')]);
});

test('in an image a mask of the unit is found without a service manager', async () => {
  using harness = createHarness({ facts: { isLive: false } });
  mkdirSync(dirname(harness.places.administratorUnit), { recursive: true });
  symlinkSync('/dev/null', harness.places.administratorUnit);
  const order = { from: harness.package('1.0.0'), configuration: harness.configuration(), start: false };
  expect(await harness.install(order)).toMatchObject({ outcome: 'masked' });
  expect(readlinkSync(harness.places.administratorUnit)).toBe('/dev/null');
});

test.skipIf(noMounting)(
  `files in a lower layer of an overlay are removed, though their folders cannot be renamed${noMounting}`,
  () => {
    expect(JSON.parse(inMountNamespace('uninstall-overlay.ts'))).toEqual({
      renaming: 'EXDEV',
      left: [],
      isThere: false,
    });
  },
);
