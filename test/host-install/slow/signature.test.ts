import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { manifestName, signatureName, signatureOf } from '../../../infra/package/manifest.ts';
import { whyNoMachine } from '../image.ts';
import { versions } from '../packages.ts';
import { command, installed, openSite } from '../site.ts';

test.skipIf(whyNoMachine)(
  `with a key the installed version takes an update only from who has signed it${whyNoMachine}`,
  async () => {
    await using site = await openSite('signed');
    const { machine } = site;
    const [ours, theirs] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
    const put = (name: string, content: string | Buffer): void => writeFileSync(join(machine.media, name), content);
    put('key.pem', ours.publicKey.export({ type: 'spki', format: 'pem' }));
    await installed(site);
    await machine.ok(`cp -r /srv/${versions.next} /var/tmp/next`);
    const update = () => machine.run(`${command} service update --from /var/tmp/next --key /media/key.pem`);
    const sign = async (by: typeof ours): Promise<void> => {
      const manifest = readFileSync(join(inject('packages'), versions.next, manifestName));
      put(signatureName, signatureOf(manifest, by.privateKey));
      await machine.ok(`cp /media/${signatureName} /var/tmp/next/`);
    };

    expect(await update()).toMatchObject({ code: 52, err: expect.stringContaining('the package is not signed') });
    await sign(theirs);
    expect(await update()).toMatchObject({ code: 52, err: expect.stringContaining('not by the owner of this key') });
    expect(await site.status()).toMatchObject({ version: versions.first, versions: [versions.first] });
    await sign(ours);
    expect(await update()).toMatchObject({ code: 0 });
    expect(await site.status()).toMatchObject({ version: versions.next, isAsItWasReady: true });
  },
);
