import { join } from 'node:path';
import { expect, test } from 'vitest';
import { applicationCommands, scriptCommand, scriptModules } from './azure-commands.ts';
import { changes, treeOf } from './file-tree.ts';
import { whyNoMachine } from './image.ts';
import { versions } from './packages.ts';
import { command, openSite } from './site.ts';

/** As the extension of VM applications calls it. https://learn.microsoft.com/azure/virtual-machines/vm-applications#file-naming */
test.skipIf(whyNoMachine)(
  `a VM application is installed, installed again after a reboot, updated and removed${whyNoMachine}`,
  async () => {
    await using site = await openSite('application');
    const { machine } = site;
    const commands = applicationCommands();
    const folder = (version: string): string =>
      `/var/lib/waagent/Microsoft.CPlat.Core.VMApplicationManagerLinux/${command}-europe-x64/${version}`;
    const bring = (version: string): Promise<string> =>
      machine.ok(
        `mkdir -p ${folder(version)} && cp /srv/${version}.tar.gz ${folder(version)}/${commands.packageFileName} && cp /media/config.json ${folder(version)}/${commands.configFileName}`,
      );
    const call = (action: 'install' | 'update' | 'remove', version: string): Promise<string> =>
      machine.ok(`/bin/bash -c '${commands[action]}'`, { cwd: folder(version) });
    await machine.ok('mkdir -p /var/lib/waagent');
    const before = await treeOf(machine);

    await bring(versions.first);
    expect(await call('install', versions.first)).toContain(`Version ${versions.first} runs and is ready`);
    const first = (await site.status()).service?.pid;
    expect(await call('install', versions.first)).toContain('nothing was changed');
    expect((await site.status()).service?.pid).toBe(first);

    await machine.powerOff();
    await machine.boot();
    await site.polled();
    expect(await call('install', versions.first)).toContain('nothing was changed');

    await bring(versions.next);
    expect(await call('update', versions.next)).toContain(`Version ${versions.next} runs and is ready, after`);
    expect(await call('update', versions.next)).toContain('nothing was changed');
    expect(await site.arrives(site.announce())).toMatchObject({ bridgeVersion: versions.next });

    // The platform may have removed the folder of the version before.
    await machine.ok('rm -r /var/lib/waagent/*');
    expect(await machine.ok(`/bin/bash -c '${commands.remove}'`)).toContain('The service is stopped and removed.');
    expect(await machine.ok(`/bin/bash -c '${commands.remove}'`)).toBe('');
    expect(changes(before, await treeOf(machine))).toEqual([]);
  },
);

/** As the extension calls it: https://github.com/Azure/custom-script-extension-linux. */
test.skipIf(whyNoMachine)(
  `a Custom Script extension is installed, and a second run changes nothing${whyNoMachine}`,
  async () => {
    await using site = await openSite('script');
    const { machine } = site;
    const packageFile = `${command}-${versions.first}-linux-x64.tar.gz`;
    const settings = join(machine.media, 'config.json');
    const said: string[] = [];
    for (const [number, module] of scriptModules.entries()) {
      const folder = `/var/lib/waagent/custom-script/download/${number}`;
      // What is fetched is readable by root only, and writable by no user.
      await machine.ok(`install -D -m 0500 /srv/${versions.first}.tar.gz ${folder}/${packageFile}`);
      const { line } = scriptCommand(module, { packageFile, configuration: settings });
      await machine.ok('cat >/run/command', { input: line });
      said.push(await machine.ok('/bin/sh -c "$(cat /run/command)"', { cwd: folder }));
    }
    expect(said[0]).toContain(`Version ${versions.first} runs and is ready`);
    expect(said[1]).toContain('nothing was changed');
    await machine.ok('rm -r /var/lib/waagent');
    expect(await site.arrives(site.announce())).toMatchObject({ phase: 'Scheduled' });
    expect(await machine.ok('stat --format="%U:%G %a" /etc/scheduled-events-bridge/config.json')).toBe(
      `root:${command} 640`,
    );
  },
);

test.each(scriptModules)(
  '%s has its own name, so that Azure does not mistake it for another Custom Script',
  (module) => {
    const { name } = scriptCommand(module, { packageFile: 'package', configuration: '/dev/null' });
    expect(name).toBe(command);
  },
);
