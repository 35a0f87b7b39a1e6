import { expect, test } from 'vitest';
import { changes, treeOf } from '../file-tree.ts';
import { type System, whyNot } from '../image.ts';
import { versions } from '../packages.ts';
import { command, installed, openSite } from '../site.ts';

const old: readonly System[] = ['Debian 12', 'Debian 11'];

for (const system of old) {
  test.skipIf(whyNot(system))(
    `${system} gets the package, runs it in as much of its sandbox as systemd there knows, and is as before when it was removed${whyNot(system)}`,
    async () => {
      await using site = await openSite('old', system);
      const { machine } = site;
      const before = await treeOf(machine);
      expect(await installed(site)).toContain(`Version ${versions.first} runs and is ready`);
      expect(await site.arrives(site.announce())).toMatchObject({ bootId: machine.bootId, computer: 'old' });
      expect(await site.status()).toMatchObject({ enabled: true, isAsItWasReady: true });
      await machine.ok(`/opt/${command}/remove.sh`);
      expect(changes(before, await treeOf(machine))).toEqual([]);
    },
  );
}
