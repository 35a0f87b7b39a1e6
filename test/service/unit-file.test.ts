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
import { servicePage } from '../../src/cli/service/page.ts';
import { doneSentences } from '../../src/cli/service/sentences.ts';
import { unitName } from '../../src/service/places.ts';
import { serviceStatus } from '../../src/service/status.ts';
import { inMountNamespace, noMounting } from './mounting.ts';
import { createRig, type Rig, refusalOf } from './rig.ts';

/** As dpkg and rpm place a package: its folder, and its unit where systemd looks for those of packages. */
function packagedUnit(rig: Rig, from: string): void {
  mkdirSync(dirname(rig.places.packagedUnit), { recursive: true });
  writeFileSync(rig.places.packagedUnit, readFileSync(join(from, unitName)));
}

/** The places in which there is a unit file. */
const unitFilesIn = ({ places }: Rig): string[] =>
  (['administratorUnit', 'unit', 'packagedUnit'] as const).filter((name) => existsSync(places[name]));

const linkOf = ({ places }: Rig): string => readlinkSync(places.desired);

test('the unit leaves the place free in which systemctl masks and edits it', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration() });
  expect(unitFilesIn(rig)).toEqual(['unit']);
  expect(readdirSync(dirname(rig.places.administratorUnit))).toEqual(['multi-user.target.wants']);
  await rig.uninstall();
  expect(existsSync(dirname(dirname(rig.places.unit)))).toBe(false);
});

test('where a package manager has placed the unit of the version, none is written beside it', async () => {
  using rig = createRig();
  const from = rig.package('1.0.0');
  packagedUnit(rig, from);
  await rig.install({ from, configuration: rig.configuration() });
  expect(unitFilesIn(rig)).toEqual(['packagedUnit']);
  await rig.uninstall();
  expect(unitFilesIn(rig)).toEqual(['packagedUnit']);
});

test('a version that takes the place of one that did not become ready runs with its own unit, until the next package comes', async () => {
  using rig = createRig();
  const [first, broken, next] = [
    rig.package('1.0.0'),
    rig.package('2.0.0', { behaviour: 'dies' }),
    rig.package('3.0.0'),
  ] as const;
  packagedUnit(rig, first);
  await rig.install({ from: first, configuration: rig.configuration() });
  packagedUnit(rig, broken);
  await refusalOf(rig.install({ from: broken, enable: 'as-it-is' }));
  expect(unitFilesIn(rig)).toEqual(['unit', 'packagedUnit']);
  expect(readFileSync(rig.places.unit, 'utf8')).toContain('of version 1.0.0');
  expect(linkOf(rig)).toBe('/usr/local/lib/systemd/system/scheduled-events-bridge.service');
  packagedUnit(rig, next);
  await rig.install({ from: next, enable: 'as-it-is' });
  expect(unitFilesIn(rig)).toEqual(['packagedUnit']);
  expect(linkOf(rig)).toBe('/usr/lib/systemd/system/scheduled-events-bridge.service');
});

test('what an administrator has edited is kept by updates and by the removal, and is said', async () => {
  using rig = createRig();
  const { administratorUnit } = rig.places;
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration() });
  const edited = `${readFileSync(rig.places.unit, 'utf8')}CPUQuota=50%\n`;
  writeFileSync(administratorUnit, edited);
  const done = await rig.install({ from: rig.package('2.0.0') });
  expect(done).toMatchObject({ outcome: 'becomes-ready', editedUnit: administratorUnit.slice(rig.root.length) });
  expect(doneSentences(done, rig.places).at(-1)).toMatch(
    /system\/scheduled-events-bridge\.service is edited and was kept/,
  );
  expect(readFileSync(administratorUnit, 'utf8')).toBe(edited);
  expect(readFileSync(rig.places.unit, 'utf8')).toContain('of version 2.0.0');
  const status = await serviceStatus(rig.machine);
  expect(status).toMatchObject({
    isAsItWasReady: true,
    editedUnit: '/etc/systemd/system/scheduled-events-bridge.service',
  });
  expect(servicePage(status)).toContain('systemctl revert scheduled-events-bridge');
  expect(await rig.install({ from: rig.package('2.0.0') })).toMatchObject({ outcome: 'ready-already', changed: false });
  expect(await rig.uninstall()).toMatchObject({ left: [administratorUnit] });
  expect(readFileSync(administratorUnit, 'utf8')).toBe(edited);
});

test('a unit that an earlier installer wrote where administrators edit it moves, and nothing is restarted', async () => {
  using rig = createRig();
  const { administratorUnit, unit, desired } = rig.places;
  const order = { from: rig.package('1.0.0'), configuration: rig.configuration() };
  await rig.install(order);
  writeFileSync(administratorUnit, readFileSync(unit));
  rmSync(desired);
  symlinkSync('/etc/systemd/system/scheduled-events-bridge.service', desired);
  expect(await rig.install(order)).toMatchObject({ outcome: 'ready-already', changed: true, editedUnit: null });
  expect(unitFilesIn(rig)).toEqual(['unit']);
  expect(linkOf(rig)).toBe('/usr/local/lib/systemd/system/scheduled-events-bridge.service');
});

test('with a masked unit a version is installed and not started, and enabling it is refused', async () => {
  using rig = createRig();
  rig.mark('masked');
  const done = await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration() });
  expect(done).toMatchObject({ outcome: 'masked', folder: '1.0.0' });
  expect(doneSentences(done, rig.places)[0]).toContain('systemctl unmask scheduled-events-bridge');
  expect(rig.calls()).not.toContain('enable');
  expect(rig.runs()).toBeNull();
  const { reason, message } = await refusalOf(rig.install({}));
  expect([reason, message]).toEqual(['notDone', expect.stringContaining('systemctl unmask')]);
});

test('in an image a mask of the unit is seen without a service manager', async () => {
  using rig = createRig({ facts: { isLive: false } });
  mkdirSync(dirname(rig.places.administratorUnit), { recursive: true });
  symlinkSync('/dev/null', rig.places.administratorUnit);
  const order = { from: rig.package('1.0.0'), configuration: rig.configuration(), start: false };
  expect(await rig.install(order)).toMatchObject({ outcome: 'masked' });
  expect(readlinkSync(rig.places.administratorUnit)).toBe('/dev/null');
});

test.skipIf(noMounting)(
  `what lies in a lower layer of an overlay is removed, though its folders cannot be renamed${noMounting}`,
  () => {
    expect(JSON.parse(inMountNamespace('uninstall-overlay.ts'))).toEqual({
      renaming: 'EXDEV',
      left: [],
      isThere: false,
    });
  },
);
