import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contentsOf } from '../../../infra/package/contents.ts';
import { sourcesHere } from '../../../infra/package/make-packages.ts';
import { rpmOf, whyNoRpm } from '../../../infra/package/rpm.ts';
import { version } from '../../../src/process/version.ts';
import { hubRecords } from '../../support/delivered.ts';
import { changes, treeOf } from '../file-tree.ts';
import { whyNoMachine } from '../image.ts';
import { command, configuration, openSite } from '../site.ts';

const noRpm = await whyNoRpm();
const whyNot = whyNoMachine || (noRpm === null ? '' : ` (skipped: ${noRpm})`);

test.skipIf(whyNot)(
  `a machine gets the .rpm, runs it again when it had been erased, and is as before when all was removed${whyNot}`,
  async () => {
    await using site = await openSite('rpm');
    const { machine } = site;
    const { program, runtimeOf } = await sourcesHere();
    const about = { platform: 'linux-x64', at: new Date('2026-01-02T03:04:05Z') } as const;
    const files = contentsOf({ ...about, program, runtime: await runtimeOf('linux-x64'), key: null });
    const rpm = await rpmOf(files, { ...about, version, licences: ['MIT'] });
    writeFileSync(join(machine.media, 'bridge.rpm'), rpm ?? '');
    const before = await treeOf(machine);

    // On Debian rpm knows none of the installed libraries.
    const flags = '--nodeps';
    expect(await machine.ok(`rpm --install ${flags} /media/bridge.rpm`)).toContain('waits for its configuration');
    await machine.ok(`${command} service configure --config ${configuration}`);
    expect(await site.arrives(site.announce())).toMatchObject({ phase: 'Scheduled', bridgeVersion: version });
    await machine.ok(`rpm --upgrade --replacepkgs ${flags} /media/bridge.rpm`);
    expect(await site.status()).toMatchObject({ enabled: true, isAsItWasReady: true, service: { active: 'active' } });

    // What it knew and how it was configured stay, for the next one.
    expect(await machine.ok(`rpm --erase --nodeps ${command}`)).toContain('The service is stopped and removed.');
    await machine.ok(`rpm --install ${flags} /media/bridge.rpm`);
    await site.arrives(site.announce());
    expect(new Set(hubRecords(site.azure).map(({ streamId }) => streamId)).size).toBe(1);

    await machine.ok(`/opt/${command}/remove.sh`);
    await machine.ok(`rpm --erase --nodeps ${command}`);
    expect(changes(before, await treeOf(machine))).toEqual([]);
  },
);
