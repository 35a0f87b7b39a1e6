import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRig, refusalOf } from './rig.ts';

const groups = (rig: { places: { group: string } }) => readFileSync(rig.places.group, 'utf8');

test('the group of the account goes with it, also where userdel leaves groups alone, and one that was left is taken', async () => {
  using rig = createRig();
  const order = { from: rig.package('1.0.0'), configuration: rig.configuration() };
  rig.mark('groups-stay');
  writeFileSync(rig.places.group, 'scheduled-events-bridge:x:977:\n', { flag: 'a' });
  expect(await rig.install(order)).toMatchObject({ outcome: 'becomes-ready' });
  expect(await rig.uninstall()).toMatchObject({ troubles: [] });
  expect(groups(rig)).toBe('root:x:0:\n');
  expect(await rig.install(order)).toMatchObject({ outcome: 'becomes-ready' });
});

test('accounts that another program holds are told as busy, which is to be tried again', async () => {
  using rig = createRig();
  const lock = join(rig.root, 'etc/passwd.lock');
  writeFileSync(lock, '');
  const order = { from: rig.package('1.0.0'), configuration: rig.configuration() };
  const { reason, message } = await refusalOf(rig.install(order));
  expect([reason, message]).toEqual([
    'busy',
    'Another program works on the accounts of this machine, a package manager perhaps (useradd: cannot lock /etc/passwd; try again later).',
  ]);
  expect(existsSync(rig.places.configuration)).toBe(false);
  rmSync(lock);
  expect(await rig.install(order)).toMatchObject({ outcome: 'becomes-ready' });
});

test('a group that others are in stays, and is named with them', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration() });
  writeFileSync(rig.places.group, groups(rig).replace(/^(scheduled-events-bridge:.*)$/m, '$1al,jo'));
  rig.mark('groups-stay');
  expect(await rig.uninstall()).toMatchObject({
    hasAccount: false,
    troubles: ['The group scheduled-events-bridge stays, since others are in it: al, jo.'],
  });
  expect(groups(rig)).toMatch(/^scheduled-events-bridge:.*:al,jo$/m);
});
