import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { current, from, type MaintainerCase, maintainerScript, program, remover } from './maintainer-script.ts';

const maintained: readonly MaintainerCase[] = [
  {
    name: 'the first installation installs',
    script: 'deb/postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder' },
    calls: [`scheduled-events-bridge service install ${from}`],
  },
  {
    name: 'an upgrade updates',
    script: 'deb/postinst',
    args: ['configure', '3.2.0'],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder', [current]: 'folder' },
    calls: [`scheduled-events-bridge service update ${from}`],
  },
  {
    name: 'in an image no service is started',
    script: 'deb/postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 0' },
    calls: [`scheduled-events-bridge service install ${from} --no-start`],
  },
  {
    name: 'where an administrator forbids it nothing is started',
    script: 'deb/postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder', '/usr/sbin/policy-rc.d': 'exit 101' },
    calls: ['policy-rc.d scheduled-events-bridge start', `scheduled-events-bridge service install ${from} --no-start`],
  },
  {
    name: 'where a policy allows it the service is started',
    script: 'deb/postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 0', '/run/systemd/system': 'folder', '/usr/sbin/policy-rc.d': 'exit 104' },
    calls: ['policy-rc.d scheduled-events-bridge start', `scheduled-events-bridge service install ${from}`],
  },
  {
    name: 'an unsupported machine fails dpkg',
    script: 'deb/postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 51', '/run/systemd/system': 'folder' },
    calls: [`scheduled-events-bridge service install ${from}`],
    status: 51,
  },
  {
    name: 'a machine whose firewall keeps the service from Azure is no failure',
    script: 'deb/postinst',
    args: ['configure', ''],
    there: { [program]: 'exit 55', '/run/systemd/system': 'folder' },
    calls: [`scheduled-events-bridge service install ${from}`],
  },
  ...[22, 51, 52, 53].map((code) => ({
    name: `an update that was refused with ${code}, while the version before runs, does not keep apt from its work`,
    script: 'deb/postinst' as const,
    args: ['configure', '3.2.0'],
    there: { [program]: `exit ${code}`, '/run/systemd/system': 'folder', [current]: 'folder' },
    calls: [`scheduled-events-bridge service update ${from}`],
  })),
  {
    name: 'an update while another installer is at work is tried again by dpkg',
    script: 'deb/postinst',
    args: ['configure', '3.2.0'],
    there: { [program]: 'exit 56', '/run/systemd/system': 'folder', [current]: 'folder' },
    calls: [`scheduled-events-bridge service update ${from}`],
    status: 56,
  },
  {
    name: 'account, rights and unit are those that systemd and Debian know, before the installer comes',
    script: 'deb/postinst',
    args: ['configure', '3.2.0'],
    there: {
      [program]: 'exit 0',
      [current]: 'folder',
      '/run/systemd/system': 'folder',
      '/bin/systemd-sysusers': 'exit 0',
      '/bin/systemd-tmpfiles': 'exit 0',
      '/bin/deb-systemd-helper': 'exit 0',
    },
    calls: [
      'systemd-sysusers scheduled-events-bridge.conf',
      'systemd-tmpfiles --create scheduled-events-bridge.conf',
      'deb-systemd-helper debian-installed scheduled-events-bridge.service',
      'deb-systemd-helper unmask scheduled-events-bridge.service',
      'deb-systemd-helper --quiet was-enabled scheduled-events-bridge.service',
      'deb-systemd-helper enable scheduled-events-bridge.service',
      'deb-systemd-helper update-state scheduled-events-bridge.service',
      `scheduled-events-bridge service update ${from}`,
    ],
  },
  {
    name: 'a service that was never enabled is not enabled by an update',
    script: 'deb/postinst',
    args: ['configure', '3.2.0'],
    there: {
      [program]: 'exit 0',
      [current]: 'folder',
      '/run/systemd/system': 'folder',
      '/bin/deb-systemd-helper': 'exit 1',
    },
    calls: [
      'deb-systemd-helper debian-installed scheduled-events-bridge.service',
      'deb-systemd-helper update-state scheduled-events-bridge.service',
      `scheduled-events-bridge service update ${from}`,
    ],
  },
  {
    name: 'before a removal the service is stopped',
    script: 'deb/prerm',
    args: ['remove'],
    there: { '/run/systemd/system': 'folder', '/bin/deb-systemd-invoke': 'exit 0' },
    calls: ['deb-systemd-invoke stop scheduled-events-bridge.service'],
  },
  {
    name: 'before an upgrade nothing is stopped: the installer does it for as long as it has to',
    script: 'deb/prerm',
    args: ['upgrade', '3.3.0'],
    there: { '/run/systemd/system': 'folder', '/bin/deb-systemd-invoke': 'exit 0' },
    calls: [],
  },
  {
    name: 'a purge forgets whether the service was enabled',
    script: 'deb/postrm',
    args: ['purge'],
    there: { '/bin/deb-systemd-helper': 'exit 0', '/bin/getent': 'exit 2' },
    calls: [
      'deb-systemd-helper purge scheduled-events-bridge.service',
      'getent passwd scheduled-events-bridge',
      'getent group scheduled-events-bridge',
    ],
  },
  {
    name: 'an upgrade that is taken back',
    script: 'deb/postinst',
    args: ['abort-upgrade', '3.2.1'],
    there: {},
    calls: [],
  },
  {
    name: 'a removal uninstalls',
    script: 'deb/postrm',
    args: ['remove'],
    there: { [remover]: 'exit 0' },
    calls: ['remove.sh --keep-state --keep-configuration'],
  },
  {
    name: 'a failing removal fails dpkg',
    script: 'deb/postrm',
    args: ['remove'],
    there: { [remover]: 'exit 22' },
    calls: ['remove.sh --keep-state --keep-configuration'],
    status: 22,
  },
  { name: 'a removal of what is not there', script: 'deb/postrm', args: ['remove'], there: {}, calls: [] },
  {
    name: 'an upgrade removes nothing',
    script: 'deb/postrm',
    args: ['upgrade', '3.3.0'],
    there: { [remover]: 'exit 0' },
    calls: [],
  },
  {
    name: 'a word that dpkg does not know',
    script: 'deb/postinst',
    args: ['konfigure'],
    there: {},
    calls: [],
    status: 1,
  },
];

test.each(maintained)('$name, with dpkg', ({ script, args, there, calls, status = 0 }) => {
  const done = maintainerScript(script, args, there);
  expect({ status: done.status, calls: done.calls }).toEqual({ status, calls });
});

/** Prints how it was called, and then what exists. */
const getent = (members = ''): string => `#!/bin/sh\necho "getent $*" >> "$ROOT/calls"\necho "$2:x:977:${members}"\n`;

const removed = {
  '/var/lib/scheduled-events-bridge/outbox.sqlite': 'records',
  '/etc/scheduled-events-bridge/config.json': '{}',
  '/bin/getent': getent(),
  '/bin/userdel': 'exit 0',
  '/bin/groupdel': 'exit 0',
} as const;

test('a purge after a removal takes state, configuration and account, and nothing beside them', () => {
  const { status, calls, root } = maintainerScript('deb/postrm', ['purge'], {
    ...removed,
    '/var/lib/other/file': 'of another program',
  });
  expect({ status, calls }).toEqual({
    status: 0,
    calls: [
      'getent passwd scheduled-events-bridge',
      'userdel scheduled-events-bridge',
      'getent group scheduled-events-bridge',
      'groupdel scheduled-events-bridge',
    ],
  });
  expect(existsSync(join(root, 'var/lib/scheduled-events-bridge'))).toBe(false);
  expect(existsSync(join(root, 'etc/scheduled-events-bridge'))).toBe(false);
  expect(existsSync(join(root, 'var/lib/other/file'))).toBe(true);
});

test('a purge keeps other files beside the configuration', () => {
  const certificate = '/etc/scheduled-events-bridge/authority.pem';
  const { status, root } = maintainerScript('deb/postrm', ['purge'], {
    ...removed,
    [certificate]: 'PEM',
  });
  expect(status).toBe(0);
  expect(readdirSync(join(root, 'etc/scheduled-events-bridge'))).toEqual(['authority.pem']);
});

test('a purge of remaining files keeps a bridge that was installed in another way since', () => {
  const { status, calls, root } = maintainerScript('deb/postrm', ['purge'], {
    ...removed,
    [current]: 'folder',
    [remover]: 'exit 0',
  });
  expect({ status, calls }).toEqual({ status: 0, calls: [] });
  expect(existsSync(join(root, 'var/lib/scheduled-events-bridge/outbox.sqlite'))).toBe(true);
  expect(existsSync(join(root, 'etc/scheduled-events-bridge/config.json'))).toBe(true);
});

test('a purge continues when the account cannot be removed, and reports it', () => {
  const { status, stdout, stderr, root } = maintainerScript('deb/postrm', ['purge'], {
    ...removed,
    '/bin/userdel': 'exit 8',
  });
  expect(stdout).toMatch(/^The state in .* is removed, with what was not delivered\.$/m);
  expect({ status, stderr }).toEqual({
    status: 0,
    stderr: 'To be done manually: userdel scheduled-events-bridge\n',
  });
  expect(existsSync(join(root, 'var/lib/scheduled-events-bridge'))).toBe(false);
});

test('a purge keeps a group that has other members, and reports it', () => {
  const { status, stdout, calls } = maintainerScript('deb/postrm', ['purge'], {
    ...removed,
    '/bin/getent': getent('al,jo'),
  });
  expect(status).toBe(0);
  expect(stdout).toContain('The group scheduled-events-bridge stays, since others are in it: al,jo.');
  expect(calls).toContain('userdel scheduled-events-bridge');
  expect(calls).not.toContain('groupdel scheduled-events-bridge');
});

test('a purge without an account succeeds', () => {
  const { status, calls } = maintainerScript('deb/postrm', ['purge'], { '/bin/getent': 'exit 2' });
  expect({ status, calls }).toEqual({
    status: 0,
    calls: ['getent passwd scheduled-events-bridge', 'getent group scheduled-events-bridge'],
  });
});
