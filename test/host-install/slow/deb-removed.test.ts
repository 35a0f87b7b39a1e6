import { expect, test } from 'vitest';
import { hubRecords } from '../../support/delivered.ts';
import { whyNoMachine } from '../image.ts';
import { versions } from '../packages.ts';
import { command, configuration, installed, openSite } from '../site.ts';

test.skipIf(whyNoMachine)(
  `a removed .deb leaves the state for the next one, and a purge keeps files that were added manually${whyNoMachine}`,
  async () => {
    await using site = await openSite('removed');
    const { machine } = site;
    await machine.ok(`dpkg -i /srv/${versions.first}.deb && ${command} service configure --config ${configuration}`);
    await site.arrives(site.announce());

    await machine.ok(`dpkg -r ${command}`);
    expect(await machine.ok('stat --format="%U:%G %a" /etc/scheduled-events-bridge/config.json')).toBe(
      `root:${command} 640`,
    );
    expect(await machine.ok(`dpkg -i /srv/${versions.first}.deb`)).toContain(
      `Version ${versions.first} runs and is ready`,
    );
    await site.arrives(site.announce());
    expect(new Set(hubRecords(site.azure).map(({ streamId }) => streamId)).size).toBe(1);

    await machine.ok(`dpkg -r ${command}`);
    await installed(site);
    const { service } = await site.status();
    await machine.ok(`dpkg --purge ${command}`);
    expect(await site.status()).toMatchObject({
      version: versions.first,
      service: { active: 'active', pid: service?.pid },
    });
  },
);
