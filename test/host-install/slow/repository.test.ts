import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { makeRepository } from '../../../infra/package/repository.ts';
import { lacking } from '../../infra/package/harness.ts';
import { temporaryDirectory } from '../../support/bridge-process.ts';
import { whyNoMachine } from '../image.ts';
import { type VersionName, versions } from '../packages.ts';
import { command, configuration, openSite } from '../site.ts';

const missing = lacking('gpg', 'apt-ftparchive', 'createrepo_c', 'rpmsign');
const whyNot = whyNoMachine || (missing === null ? '' : ` (skipped: ${missing})`);

test.skipIf(whyNot)(
  `a machine takes the bridge and its next version from a repository, by apt and over HTTP${whyNot}`,
  async () => {
    using directory = temporaryDirectory('repository');
    await using site = await openSite('repository');
    const { machine } = site;
    const folder = join(directory.path, 'web');
    const env = { ...process.env, GNUPGHOME: join(directory.path, 'gnupg') };
    mkdirSync(env.GNUPGHOME, { mode: 0o700 });
    const name = 'packager@example.com';
    execFileSync('gpg', ['--batch', '--passphrase', '', '--quick-generate-key', name, 'rsa3072', 'sign', 'never'], {
      env,
    });
    await using server = createServer((request, response) => {
      try {
        response.end(readFileSync(join(folder, decodeURIComponent(request.url ?? ''))));
      } catch {
        response.writeHead(404).end();
      }
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const publish = async (version: VersionName): Promise<void> => {
      const packages = join(directory.path, version);
      mkdirSync(packages);
      copyFileSync(
        join(inject('packages'), `${versions[version]}.deb`),
        join(packages, `${command}_${versions[version]}_amd64.deb`),
      );
      await makeRepository({ folder, packages, key: name, url, env });
    };
    const apt = 'apt-get --assume-yes -o Dir::Etc::SourceList=/dev/null';
    try {
      await publish('first');
      for (const file of [`${command}.asc`, `${command}.sources`])
        copyFileSync(join(folder, file), join(machine.media, file));
      await machine.ok(
        `mkdir -p /etc/apt/keyrings && cp /media/${command}.asc /etc/apt/keyrings/ && cp /media/${command}.sources /etc/apt/sources.list.d/`,
      );
      await machine.ok(`${apt} update && ${apt} install ${command}`);
      await machine.ok(`${command} service configure --config ${configuration}`);
      await publish('next');
      expect(await machine.ok(`${apt} update && ${apt} upgrade`)).toContain(
        `Version ${versions.next} runs and is ready`,
      );
      expect(await site.arrives(site.announce())).toMatchObject({ bridgeVersion: versions.next });
    } finally {
      spawnSync('gpgconf', ['--kill', 'all'], { env });
    }
  },
);
