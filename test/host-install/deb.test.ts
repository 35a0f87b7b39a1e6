import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Report } from '../../src/cli/check/report.ts';
import { root } from '../support/source-tree.ts';
import { changes, treeOf } from './file-tree.ts';
import { whyNoMachine } from './image.ts';
import { versions } from './packages.ts';
import { command, configuration, openSite } from './site.ts';

const unit = readFileSync(join(root, 'infra/systemd/scheduled-events-bridge.service'), 'utf8');

/** The unit with the same sandbox around another program, which ends. */
const unitFor = (...lines: readonly string[]): string =>
  unit
    .replace(/^(Type|NotifyAccess|WatchdogSec|Restart|RestartSec|ExecStart)=.*\n/gm, '')
    .replace(
      '[Service]\n',
      `[Service]\nType=oneshot\nStandardOutput=journal\n${lines.map((line) => `ExecStart=${line}\n`).join('')}`,
    );

test.skipIf(whyNoMachine)(
  `a machine gets the .deb, runs it in its sandbox, delivers, and is as before when it was purged${whyNoMachine}`,
  async () => {
    await using site = await openSite('deb');
    const { machine } = site;
    const before = await treeOf(machine);

    const unpacked = await machine.ok(`dpkg -i /srv/${versions.first}.deb`);
    expect(unpacked).toContain('waits for its configuration');
    expect(await site.status()).toMatchObject({ installed: true, enabled: false, version: versions.first });

    const configured = await machine.ok(`${command} service configure --config ${configuration}`);
    expect(configured).toContain(`Version ${versions.first} runs and is ready`);
    expect(await site.status()).toMatchObject({ enabled: true, isAsItWasReady: true, service: { active: 'active' } });
    expect(await machine.ok(`${command} service configure --config ${configuration}`)).toContain('nothing was changed');

    const record = await site.arrives(site.announce());
    expect(record).toMatchObject({ bootId: machine.bootId, computer: 'deb', bridgeVersion: versions.first });

    // What it compiled runs again, and its pending records are its own.
    const files = await machine.ok(
      `set -o pipefail; find /var/lib/${command} /var/cache/${command} -printf '%u:%g %m %y\\n' | sort -u`,
    );
    expect(files.split('\n')).toEqual(['600 f', '600 s', '700 d'].map((mode) => `${command}:${command} ${mode}`));

    const inside = unitFor(
      `/opt/${command}/current/${command} check --json --config /etc/${command}/config.json`,
      '/bin/cat /proc/sys/kernel/random/boot_id',
      '/bin/hostname',
    );
    await machine.ok('cat >/run/systemd/system/look.service', { input: inside });
    await machine.ok(
      `cp -r /run/systemd/system/${command}.service.d /run/systemd/system/look.service.d && systemctl daemon-reload`,
    );
    await machine.ok('systemctl start look.service');
    const output = await machine.ok('journalctl --quiet --output=cat --unit=look.service _TRANSPORT=stdout');
    const report = JSON.parse(output.slice(0, output.lastIndexOf('}') + 1)) as Report;
    expect(report.findings.filter(({ verdict }) => verdict === 'problem')).toEqual([]);
    expect(
      output
        .slice(output.lastIndexOf('}') + 1)
        .trim()
        .split('\n'),
    ).toEqual([machine.bootId, 'deb']);
    await machine.ok('rm -r /run/systemd/system/look.service*');

    const removed = await machine.ok(`dpkg --purge ${command}`);
    expect(removed).toContain('Azure disables Scheduled Events for this VM after 24 h without a request');
    expect(removed).toMatch(/The state in \S+ is removed, with what was not delivered, and the account [\w-]+\.$/m);
    expect(changes(before, await treeOf(machine))).toEqual([]);
  },
);
