import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { python } from '../../../azure-cli/azure-cli.ts';
import { bicep, createBicepProject } from './bicep.ts';
import { subscriptionId, tenantId } from './kinds.ts';
import { userObjectId } from './replies/account.ts';

/** The programs `az` and `bicep` in a folder of their own, carried out by a process that has loaded the Azure CLI. */
export interface AzureCli {
  /**
   * Variables for a program that calls them. Each time with the profile of a new login.
   * @param address of the stand-in for Azure
   */
  environment(address: string): Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** @param folder an empty one, for programs, sockets and the profile of the account that is logged in */
export async function startAzureCli(folder: string): Promise<AzureCli> {
  const programs = join(folder, 'bin');
  let profiles = 0;
  const newProfile = (): string => {
    profiles += 1;
    const profile = join(folder, `profile-${profiles}`);
    writeProfile(profile);
    return profile;
  };
  const sockets = { az: join(folder, 'az.sock'), bicep: join(folder, 'bicep.sock') };
  mkdirSync(programs);
  const client = readFileSync(join(import.meta.dirname, 'client.py'), 'utf8');
  for (const name of ['az', 'bicep']) {
    // Without the packages of the CLI Python starts in 20 ms.
    writeFileSync(join(programs, name), `#!${python} -ISE\n${client}`);
    chmodSync(join(programs, name), 0o755);
  }
  const compiler = serveBicep(sockets.bicep);
  const server = spawn(python, [join(import.meta.dirname, 'server.py'), sockets.az], {
    env: { PATH: process.env.PATH, HOME: folder, AZURE_CONFIG_DIR: newProfile() },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await ready(server);
  return {
    environment: (address) => ({
      PATH: `${programs}:${process.env.PATH}`,
      AZURE_CONFIG_DIR: newProfile(),
      AZ_STAND_IN: address,
      AZ_STAND_IN_SOCKET: sockets.az,
      BICEP_STAND_IN_SOCKET: sockets.bicep,
    }),
    async close() {
      if (server.exitCode === null) {
        const ended = new Promise((resolve) => server.once('exit', resolve));
        server.stdin?.end();
        await ended;
      }
      await new Promise((resolve) => compiler.close(resolve));
    },
  };
}

async function ready(server: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.stdout?.once('data', () => resolve());
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`server.py ends with ${code}`)));
  });
}

/** Answers the program `bicep`: its exit code as one byte, then what it prints. */
function serveBicep(path: string) {
  const project = createBicepProject();
  return createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on('data', (part: Buffer) => {
      received = Buffer.concat([received, part]);
      if (received.length < 4 || received.length < 4 + received.readUInt32BE()) return;
      const [cwd = '', count, ...words] = received.subarray(4).toString().split('\0');
      const args = words.slice(0, Number(count));
      try {
        socket.end(`\0${bicep(project, args, cwd)}`);
      } catch (error) {
        socket.end(`\x01${error instanceof Error ? error.message : error}\n`);
      }
    });
    socket.on('error', () => socket.destroy());
  }).listen(path);
}

/** What `az login` of a user leaves. MSAL takes a token for each service by the refresh token. */
function writeProfile(folder: string): void {
  mkdirSync(folder);
  const subscription = {
    id: subscriptionId,
    name: 'Test',
    state: 'Enabled',
    user: { name: 'user@example.com', type: 'user' },
    isDefault: true,
    tenantId,
    homeTenantId: tenantId,
    environmentName: 'AzureCloud',
    managedByTenants: [],
  };
  const account = {
    home_account_id: `${userObjectId}.${tenantId}`,
    environment: 'login.microsoftonline.com',
  };
  const client = '04b07795-8ddb-461a-bbee-02f9e1bf7b46';
  const cache = {
    Account: {
      [`${account.home_account_id}-${account.environment}-${tenantId}`]: {
        ...account,
        realm: tenantId,
        local_account_id: userObjectId,
        username: 'user@example.com',
        authority_type: 'MSSTS',
      },
    },
    RefreshToken: {
      [`${account.home_account_id}-${account.environment}-refreshtoken-${client}--`]: {
        ...account,
        credential_type: 'RefreshToken',
        secret: 'refresh',
        client_id: client,
        target: '',
      },
    },
  };
  writeFileSync(
    join(folder, 'azureProfile.json'),
    JSON.stringify({ installationId: userObjectId, subscriptions: [subscription] }),
  );
  writeFileSync(join(folder, 'msal_token_cache.json'), JSON.stringify(cache));
  const settings = ['[core]', 'encrypt_token_cache = false', '[bicep]', 'use_binary_from_path = true'];
  writeFileSync(join(folder, 'config'), `${settings.join('\n')}\n`);
}
