import { expect, test } from 'vitest';
import { whyNoMachine } from '../image.ts';
import { versions } from '../packages.ts';
import { command, configuration, openSite } from '../site.ts';

/** Lets root reach the metadata service and not the account of the service, as a per-user firewall does. */
const forbidding = `/run/systemd/system/${command}.service.d/forbidding.conf`;

test.skipIf(whyNoMachine)(
  `behind a firewall that blocks Azure the service stays installed with exit code 55 until it gets through${whyNoMachine}`,
  async () => {
    await using site = await openSite('forbidden');
    const { machine } = site;
    await machine.ok(`cat >${forbidding}`, { input: '[Service]\nPrivateNetwork=yes\n' });
    const { code, err } = await machine.run(`/srv/${versions.first}/install.sh ${configuration}`);
    expect(code).toBe(55);
    expect(err).toMatch(/^The service is installed and runs, but it gets no connection to the metadata service/);
    expect(await site.status()).toMatchObject({
      version: versions.first,
      enabled: true,
      service: { active: 'active' },
    });

    await machine.ok(`rm ${forbidding} && systemctl daemon-reload && systemctl restart ${command}`);
    await site.polled();
    expect(await site.arrives(site.announce())).toMatchObject({ phase: 'Scheduled' });
  },
);
