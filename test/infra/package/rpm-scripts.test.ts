import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { current, from, type MaintainerCase, maintainerScript, program, remover } from './maintainer-script.ts';

const byRpm: readonly MaintainerCase[] = [
  {
    name: 'the first installation installs',
    script: 'rpm/post',
    args: ['1'],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder' },
    calls: [`scheduled-events-bridge service install ${from}`],
  },
  {
    name: 'account, rights and the preset of the unit are those that systemd knows, before the installer comes',
    script: 'rpm/post',
    args: ['1'],
    there: {
      [program]: 'exit 0',
      '/run/systemd/system': 'folder',
      '/bin/systemd-sysusers': 'exit 0',
      '/bin/systemd-tmpfiles': 'exit 0',
      '/usr/lib/systemd/systemd-update-helper': 'exit 0',
    },
    calls: [
      'systemd-sysusers scheduled-events-bridge.conf',
      'systemd-tmpfiles --create scheduled-events-bridge.conf',
      'systemd-update-helper install-system-units scheduled-events-bridge.service',
      `scheduled-events-bridge service install ${from}`,
    ],
  },
  {
    name: 'an older systemd applies the preset of the unit',
    script: 'rpm/post',
    args: ['1'],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder', '/bin/systemctl': 'exit 1' },
    calls: [
      'systemctl --no-reload preset scheduled-events-bridge.service',
      `scheduled-events-bridge service install ${from}`,
    ],
  },
  {
    name: 'before a removal the service is stopped',
    script: 'rpm/preun',
    args: ['0'],
    there: { '/usr/lib/systemd/systemd-update-helper': 'exit 0' },
    calls: ['systemd-update-helper remove-system-units scheduled-events-bridge.service'],
  },
  {
    name: 'before a removal an older systemd stops the service',
    script: 'rpm/preun',
    args: ['0'],
    there: { '/bin/systemctl': 'exit 0' },
    calls: ['systemctl --no-reload disable --now scheduled-events-bridge.service'],
  },
  {
    name: 'before the old version goes after an update nothing is stopped',
    script: 'rpm/preun',
    args: ['1'],
    there: { '/bin/systemctl': 'exit 0' },
    calls: [],
  },
  {
    name: 'an upgrade updates',
    script: 'rpm/post',
    args: ['2'],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder', [current]: 'folder' },
    calls: [`scheduled-events-bridge service update ${from}`],
  },
  {
    name: 'in an image no service is started',
    script: 'rpm/post',
    args: ['1'],
    there: { [program]: 'exit 0' },
    calls: [`scheduled-events-bridge service install ${from} --no-start`],
  },
  {
    name: 'a machine whose firewall keeps the service from Azure is no failure',
    script: 'rpm/post',
    args: ['1'],
    there: { [program]: 'exit 55', '/run/systemd/system': 'folder' },
    calls: [`scheduled-events-bridge service install ${from}`],
  },
  {
    name: 'an unsupported machine fails rpm',
    script: 'rpm/post',
    args: ['1'],
    there: { [program]: 'exit 51', '/run/systemd/system': 'folder' },
    calls: [`scheduled-events-bridge service install ${from}`],
    status: 51,
  },
  {
    name: 'the old version that goes after an update removes nothing',
    script: 'rpm/postun',
    args: ['1'],
    there: { [remover]: 'exit 0' },
    calls: [],
  },
  {
    name: 'a removal uninstalls, and leaves what was not delivered',
    script: 'rpm/postun',
    args: ['0'],
    there: { [remover]: 'exit 0' },
    calls: ['remove.sh --keep-state --keep-configuration'],
  },
  { name: 'a removal when the files are missing', script: 'rpm/postun', args: ['0'], there: {}, calls: [] },
];

test.each(byRpm)('$name, with rpm', ({ script, args, there, calls, status = 0 }) => {
  const done = maintainerScript(script, args, there);
  expect({ status: done.status, calls: done.calls }).toEqual({ status, calls });
});

test('a removal with rpm removes the folder of the configuration where it is empty', () => {
  const folder = '/etc/scheduled-events-bridge';
  for (const [there, stays] of [
    [{ [folder]: 'folder' }, false],
    [{ [`${folder}/config.json`]: '{}' }, true],
  ] as const) {
    const { status, root, stderr } = maintainerScript('rpm/postun', ['0'], there);
    expect({ status, stderr, isThere: existsSync(join(root, folder)) }).toEqual({
      status: 0,
      stderr: '',
      isThere: stays,
    });
  }
});
