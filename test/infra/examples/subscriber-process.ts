import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AzureSimulator } from '../../../src/azure-simulator/index.ts';
import { cleanEnvironment } from '../../support/program.ts';

/** An example of `infra/examples` in a process of its own. */
export interface SubscriberProcess {
  /** What it did so far, line by line. */
  readonly acts: readonly string[];
  /** What it complained of. */
  readonly complaints: () => string;
  /** Its exit code, null where a signal killed it. */
  readonly ended: Promise<number | null>;
  /** @returns its exit code, null where the signal killed it. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

export interface SubscriberOptions {
  readonly hub: string;
  readonly stateFile: string;
  /** By a token over TLS, or by a connection string in the clear. */
  readonly way?: 'token' | 'connection string';
  /** Default: `infra/examples/subscriber.ts`. */
  readonly command?: readonly string[];
  /** More environment variables. */
  readonly env?: NodeJS.ProcessEnv;
}

export function startSubscriber(
  { eventHubs, imds, caFile }: AzureSimulator,
  {
    hub,
    stateFile,
    way = 'token',
    command = [process.execPath, 'infra/examples/subscriber.ts'],
    env,
  }: SubscriberOptions,
): SubscriberProcess {
  const { fullyQualifiedNamespace, customEndpoint, connectionString } = eventHubs;
  const address =
    way === 'token'
      ? { EVENT_HUBS_NAMESPACE: fullyQualifiedNamespace, EVENT_HUBS_CUSTOM_ENDPOINT: customEndpoint }
      : { EVENT_HUBS_CONNECTION_STRING: connectionString };
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    env: {
      ...cleanEnvironment(),
      NODE_EXTRA_CA_CERTS: caFile,
      AZURE_POD_IDENTITY_AUTHORITY_HOST: imds.url,
      EVENT_HUB_NAME: hub,
      STATE_FILE: stateFile,
      ...address,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    get acts() {
      return output.stdout.split('\n').slice(0, -1);
    },
    complaints: () => output.stderr,
    ended,
    kill(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
