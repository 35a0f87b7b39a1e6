import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import { farAway } from './far-away.ts';

const folder = import.meta.dirname;
/** Where `prepare` puts what it builds, by language. */
export const cache = join(folder, '../../node_modules/.cache/third-party');

const javaClasses = [join(cache, 'java/classes'), join(cache, 'java/lib/*')].join(delimiter);

/** Programs that share nothing with ours, not even the language. */
export interface Client {
  readonly language: 'python' | 'go' | 'java' | 'rust' | 'debian';
  readonly command: readonly string[];
  /** Has to be there. */
  readonly needs: string;
}

export const clients = {
  python: {
    language: 'python',
    command: [join(cache, 'python/bin/python')],
    needs: join(cache, 'python/recipe'),
  },
  go: { language: 'go', command: [join(cache, 'go/clients')], needs: join(cache, 'go/recipe') },
  java: {
    language: 'java',
    command: ['java', '-cp', javaClasses, 'Clients'],
    needs: join(cache, 'java/recipe'),
  },
  rust: { language: 'rust', command: [join(cache, 'rust/clients')], needs: join(cache, 'rust/recipe') },
} as const satisfies Record<string, Client>;

/** Why a client cannot be run here, to be said where its tests are skipped; empty when it can. */
export function whyNot({ language, needs }: Client): string {
  if (existsSync(needs)) return '';
  const missing = join(cache, `${language}.missing`);
  const reason = existsSync(missing) ? readFileSync(missing, 'utf8').trim() : 'not fetched';
  return ` (skipped: ${reason}; see test/third-party/prepare)`;
}

/** Runs a client on the simulator, as a program that is given only its address. @returns what it saw at each of its checks. */
export async function run(
  azure: AzureSimulator,
  { language, command }: Pick<Client, 'language' | 'command'>,
  ...args: string[]
): Promise<Record<string, unknown>> {
  const { eventHubs, logAnalytics, caFile, imds } = azure;
  const { fullyQualifiedNamespace, plainPort, connectionString } = eventHubs;
  const near = [eventHubs.customEndpoint, eventHubs.websocketEndpoint];
  const endpoints = await Promise.all(
    near.map((one) => (language === 'rust' ? farAway(one) : { endpoint: one, close() {} })),
  );
  const [customEndpoint, websocketEndpoint] = endpoints.map(({ endpoint }) => endpoint);
  const { endpoint, ruleId, streamName } = logAnalytics;
  const [program = '', ...rest] = command;
  const options = language === 'java' ? javaOptions(caFile) : [];
  const ran = promisify(execFile)(program, [...options, ...rest, ...args], {
    env: {
      ...process.env,
      PYTHONUTF8: '1',
      SSL_CERT_FILE: caFile,
      AZURE_POD_IDENTITY_AUTHORITY_HOST: imds.url,
      // For the libraries that read no such variable: they ask at the fixed address, through a proxy where there is one.
      ...(language === 'go' || language === 'rust' ? { HTTP_PROXY: imds.url, NO_PROXY: '' } : {}),
      SIMULATOR: JSON.stringify({
        eventHubs: { fullyQualifiedNamespace, customEndpoint, websocketEndpoint, plainPort, connectionString },
        logAnalytics: { endpoint, ruleId, streamName },
        caFile,
      }),
    },
    timeout: 150_000,
  });
  const failed = (error: Error & { stdout: string }): never => {
    throw new Error(`${error.message}\nafter ${error.stdout}`);
  };
  const { stdout } = await ran.catch(failed).finally(() => {
    for (const endpoint of endpoints) endpoint.close();
  });
  const lines = stdout.trim().split('\n');
  console.info(lines.map((line) => `  ${language} ${args.join(' ')}: ${line}`.slice(0, 200)).join('\n'));
  return Object.fromEntries(
    lines.map((line) => {
      const { check, saw } = JSON.parse(line) as { check: string; saw: unknown };
      return [check, saw];
    }),
  );
}

/** Runs a class that `prepare` compiled. */
export const javaCommand = (caFile: string, name: string): readonly string[] => [
  'java',
  ...javaOptions(caFile),
  '-cp',
  javaClasses,
  name,
];

/** Java reads authorities from a key store only. */
function javaOptions(caFile: string): string[] {
  const store = `${caFile}.p12`;
  if (!existsSync(store)) {
    const import_ = ['-importcert', '-noprompt', '-file', caFile, '-keystore', store, '-storepass', 'simulator'];
    const { status, stdout, stderr } = spawnSync('keytool', import_, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`keytool: ${stdout} ${stderr}`);
  }
  return [`-Djavax.net.ssl.trustStore=${store}`, '-Djavax.net.ssl.trustStorePassword=simulator'];
}
