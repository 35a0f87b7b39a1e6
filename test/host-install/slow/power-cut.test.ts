import { expect, test } from 'vitest';
import { whyNoMachine } from '../image.ts';
import { versions } from '../packages.ts';
import { command, configuration, installed, openSite, type Site } from '../site.ts';

const home = `/opt/${command}`;

/** Runs a command line, cuts the power from inside as soon as a condition of the shell holds, and boots again. */
async function cutWhen({ machine }: Site, holds: string, line: string): Promise<void> {
  const watch = `until ${holds}; do kill -0 $! 2>/dev/null || { cat /run/said; exit; }; done; reboot -ff --no-sync; sleep 60`;
  const { code, out } = await machine.run(`{ (${line}) >/run/said 2>&1 & } && ${watch}`);
  expect({ code, out }, 'the power is cut before it has ended').toEqual({ code: null, out: '' });
  await machine.cutPower();
  await machine.boot();
}

const moments = [
  { moment: 'while it is copied', holds: `[ -e ${home}/versions/.staging ]` },
  { moment: 'when it has its name', holds: `[ -e ${home}/versions/${versions.next} ]` },
  { moment: 'when it is the present one', holds: `[ "$(readlink ${home}/current)" = versions/${versions.next} ]` },
] as const;

test.skipIf(whyNoMachine)(
  `a power cut during updates always leaves a running version, and the next update completes${whyNoMachine}`,
  async () => {
    await using site = await openSite('cut');
    const { machine } = site;
    for (const { holds } of moments) {
      await installed(site);
      await cutWhen(site, holds, `/srv/${versions.next}/update.sh ${configuration}`);
      await site.polled();
      expect(await machine.ok(`/srv/${versions.next}/update.sh ${configuration}`)).toContain(
        `Version ${versions.next} runs and is ready`,
      );
      expect(await site.status()).toMatchObject({
        version: versions.next,
        versions: [versions.first, versions.next],
        isAsItWasReady: true,
      });
      await machine.ok(`${home}/remove.sh`);
    }
  },
);

test.skipIf(whyNoMachine)(
  `a power cut during the first installation is completed by the same command${whyNoMachine}`,
  async () => {
    await using site = await openSite('first');
    for (const { holds } of [
      { holds: `[ -e ${home}/versions/.staging ]` },
      { holds: `[ -e /etc/systemd/system/${command}.service ]` },
    ]) {
      await cutWhen(site, holds, `/srv/${versions.first}/install.sh ${configuration}`);
      expect(await installed(site)).toContain(`Version ${versions.first} runs and is ready`);
      await site.polled();
      await site.machine.ok(`${home}/remove.sh`);
    }
  },
);
