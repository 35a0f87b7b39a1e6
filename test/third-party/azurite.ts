import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContainerClient, type StoragePipelineOptions } from '@azure/storage-blob';
import { until } from '../support/until.ts';
import { cache } from './clients.ts';

const program = join(cache, 'azurite/node_modules/azurite/dist/src/blob/main.js');

/** Why Azurite cannot be run here, to be said where its tests are skipped; empty when it can. */
export function whyNoAzurite(): string {
  if (existsSync(join(cache, 'azurite/recipe')) && existsSync(program)) return '';
  const missing = join(cache, 'azurite.missing');
  const reason = existsSync(missing) ? readFileSync(missing, 'utf8').trim() : 'not fetched';
  return ` (skipped: ${reason}; see test/third-party/prepare)`;
}

/** Microsoft's emulator of blob storage, in memory. */
export interface Azurite {
  readonly connectionString: string;
  /** A container that is made. */
  container(name: string, options?: StoragePipelineOptions): Promise<ContainerClient>;
  close(): void;
}

export async function startAzurite(): Promise<Azurite> {
  const options = ['--blobHost', '127.0.0.1', '--blobPort', '0', '--inMemoryPersistence', '--disableTelemetry'];
  const child = spawn(process.execPath, [program, ...options], { env: { PATH: process.env.PATH } });
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output.text += chunk;
    });
  const address = await until(() => /successfully listens on (http:\/\/127\.0\.0\.1:\d+)/.exec(output.text)?.[1], {
    what: 'Azurite listens',
    timeoutMs: 120_000,
  }).catch((error) => {
    child.kill('SIGKILL');
    throw new Error(`${error.message}; it said: ${output.text}`);
  });
  // The account that every Azurite has. https://learn.microsoft.com/azure/storage/common/storage-use-azurite
  const key = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';
  const connectionString = `DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=${key};BlobEndpoint=${address}/devstoreaccount1`;
  return {
    connectionString,
    async container(name, options) {
      const container = new ContainerClient(connectionString, name, options);
      await container.createIfNotExists();
      return container;
    },
    close: () => void child.kill('SIGKILL'),
  };
}
