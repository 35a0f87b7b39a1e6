import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { profileIn } from '../../../src/service/windows/profile.ts';
import { createWindowsHarness } from './harness.ts';

/** As `reg query KEY /v ProfileImagePath` prints it: https://learn.microsoft.com/windows-server/administration/windows-commands/reg-query */
const printed = (path: string): string =>
  `\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\…\\S-1-5-80-1\r\n    ProfileImagePath    REG_EXPAND_SZ    ${path}\r\n\r\n`;

test.each([
  ['/Users/scheduled-events-bridge', '/Users/scheduled-events-bridge'],
  ['/Users/My Folders/Scheduled-Events-Bridge.VM7', '/Users/My Folders/Scheduled-Events-Bridge.VM7'],
  ['/Users/Administrator', null],
  ['/', null],
  ['scheduled-events-bridge', null],
  ['%SystemDrive%/Users/scheduled-events-bridge', '/disk/Users/scheduled-events-bridge'],
  ['%NotSet%/scheduled-events-bridge', null],
])('the profile %s is removed as %s', (path, folder) => {
  expect(profileIn(printed(path), { SYSTEMDRIVE: '/disk' })).toBe(folder);
});

test('an uninstallation removes the profile that Windows has made for the account', async () => {
  using harness = createWindowsHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration('a') });
  const profile = join(harness.path, 'Users', 'scheduled-events-bridge');
  mkdirSync(join(profile, 'AppData'), { recursive: true });
  writeFileSync(join(profile, 'NTUSER.DAT'), '');
  harness.windows.setProfile(profile);
  expect(await harness.uninstall()).toMatchObject({ left: [], problems: [] });
  expect([existsSync(profile), harness.windows.profile()]).toEqual([false, null]);
});
