import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createHarness, refusalOf } from '../harness.ts';

const groups = (harness: { places: { group: string } }) => readFileSync(harness.places.group, 'utf8');

test('the group of the account is removed too, even when userdel keeps it, and an existing one is reused', async () => {
  using harness = createHarness();
  const order = { from: harness.package('1.0.0'), configuration: harness.configuration() };
  harness.mark('groups-stay');
  writeFileSync(harness.places.group, 'scheduled-events-bridge:x:977:\n', { flag: 'a' });
  expect(await harness.install(order)).toMatchObject({ outcome: 'becomes-ready' });
  expect(await harness.uninstall()).toMatchObject({ problems: [] });
  expect(groups(harness)).toBe('root:x:0:\n');
  expect(await harness.install(order)).toMatchObject({ outcome: 'becomes-ready' });
});

test('accounts locked by another program are reported as busy, to be retried', async () => {
  using harness = createHarness();
  const lock = join(harness.root, 'etc/passwd.lock');
  writeFileSync(lock, '');
  const order = { from: harness.package('1.0.0'), configuration: harness.configuration() };
  const { reason, message } = await refusalOf(harness.install(order));
  expect([reason, message]).toEqual([
    'busy',
    'Another program, perhaps a package manager, is changing the accounts of this machine (useradd: cannot lock /etc/passwd; try again later). Wait until it ends, then try again.',
  ]);
  expect(existsSync(harness.places.configuration)).toBe(false);
  rmSync(lock);
  expect(await harness.install(order)).toMatchObject({ outcome: 'becomes-ready' });
});

test('a group that others are in stays, and is named with them', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  writeFileSync(harness.places.group, groups(harness).replace(/^(scheduled-events-bridge:.*)$/m, '$1al,jo'));
  harness.mark('groups-stay');
  expect(await harness.uninstall()).toMatchObject({
    hasAccount: false,
    problems: ['The group scheduled-events-bridge stays, since others are in it: al, jo.'],
  });
  expect(groups(harness)).toMatch(/^scheduled-events-bridge:.*:al,jo$/m);
});
