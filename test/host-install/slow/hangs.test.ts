import { expect, test } from 'vitest';
import { whyNoMachine } from '../image.ts';
import { versions } from '../packages.ts';
import { installed, openSite } from '../site.ts';

test.skipIf(whyNoMachine)(
  `a version that never becomes ready is rolled back after the time-out${whyNoMachine}`,
  async () => {
    await using site = await openSite('hangs');
    const { machine } = site;
    await installed(site);
    const { code, out, err } = await machine.run(`/srv/${versions.hangs}/update.sh`);
    expect(code).toBe(22);
    expect(out).toContain(`Going back to version ${versions.first}.`);
    expect(err).toContain(`Back to version ${versions.first}, which is ready; nothing is lost.`);
    expect(await site.status()).toMatchObject({ version: versions.first, isAsItWasReady: true });
    expect(await site.arrives(site.announce())).toMatchObject({ bridgeVersion: versions.first });
  },
);
