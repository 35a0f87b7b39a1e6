import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { whyNoMachine } from './image.ts';
import { versions } from './packages.ts';
import { command, configuration, openSite } from './site.ts';

const unit = `${command}.service`;

test.skipIf(whyNoMachine)(
  `the unit of the .deb can be masked and edited, and shows a wrong configuration as failed${whyNoMachine}`,
  async () => {
    await using site = await openSite('unit');
    const { machine } = site;
    const property = (name: string): Promise<string> => machine.ok(`systemctl show ${unit} --property=${name} --value`);
    await machine.ok(`dpkg -i /srv/${versions.first}.deb && ${command} service configure --config ${configuration}`);
    expect(await machine.ok(`dpkg -S ${await property('FragmentPath')}`)).toMatch(`${command}: `);

    // What the service can write, it cannot execute.
    await machine.ok(`install -m 0755 /bin/true /var/lib/${command}/planted`);
    const planted = await machine.run(`nsenter -t ${await property('MainPID')} -m /var/lib/${command}/planted`);
    expect([planted.code, planted.err]).toEqual([126, expect.stringContaining('Permission denied')]);
    await machine.ok(`rm /var/lib/${command}/planted`);

    // A masked unit prevents no installation, and is not started.
    await machine.ok(`systemctl mask --now ${unit}`);
    expect(await machine.ok(`dpkg -i /srv/${versions.next}.deb`)).toContain('The unit is masked');
    expect(await site.status()).toMatchObject({ version: versions.next, service: { active: 'inactive' } });
    await machine.ok(`systemctl unmask ${unit} && ${command} service enable`);
    expect(await site.status()).toMatchObject({ version: versions.next, isAsItWasReady: true, enabled: true });

    // As `systemctl edit --full` writes it.
    const quota = await property('CPUQuotaPerSecUSec');
    await machine.ok(
      `sed 's/^CPUQuota=.*/CPUQuota=77%/' /usr/lib/systemd/system/${unit} >/etc/systemd/system/${unit} && systemctl daemon-reload`,
    );
    expect(await machine.ok(`dpkg -i /srv/${versions.first}.deb`)).toContain(
      `/etc/systemd/system/${unit} is edited and was kept`,
    );
    expect(await site.status()).toMatchObject({ version: versions.first, editedUnit: `/etc/systemd/system/${unit}` });
    expect(await property('CPUQuotaPerSecUSec')).toBe('770ms');
    await machine.ok(`systemctl revert ${unit}`);
    expect(await property('CPUQuotaPerSecUSec')).toBe(quota);

    // Written directly, without the installer: it is tried once, and stays failed until it is corrected.
    await machine.ok(`cp /etc/${command}/config.json /run/right.json && echo '{}' >/etc/${command}/config.json`);
    await machine.run(`systemctl restart ${unit}`);
    await until(async () => (await property('ActiveState')) === 'failed', { what: 'a failed service' });
    expect([await property('ExecMainStatus'), await property('NRestarts')]).toEqual(['78', '0']);
    await machine.ok(`cat /run/right.json >/etc/${command}/config.json && systemctl restart ${unit}`);
    await site.polled();
  },
);
