import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { producer, useSimulator } from '../azure-simulator/sdk-clients.ts';
import { playHistories } from '../infra/examples/histories/play.ts';
import { startSubscriber } from '../infra/examples/subscriber-process.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { cache, clients, javaCommand, whyNot } from './clients.ts';

interface Example {
  readonly reason: string;
  command(azure: AzureSimulator): readonly string[];
  env?(azure: AzureSimulator): NodeJS.ProcessEnv;
}

const examples: Readonly<Record<string, Example>> = {
  JavaScript: { reason: '', command: () => [process.execPath, 'infra/examples/subscriber.ts'] },
  Python: {
    reason: whyNot(clients.python),
    command: () => [...clients.python.command, 'infra/examples/python/subscriber.py'],
    env: ({ caFile }) => ({ SSL_CERT_FILE: caFile, PYTHONDONTWRITEBYTECODE: '1' }),
  },
  Go: {
    reason: whyNot(clients.go),
    command: () => [join(cache, 'go/subscriber')],
    // It asks for tokens at the fixed address, through a proxy where there is one.
    env: ({ caFile, imds }) => ({ SSL_CERT_FILE: caFile, HTTP_PROXY: imds.url }),
  },
  Java: { reason: whyNot(clients.java), command: ({ caFile }) => javaCommand(caFile, 'Subscriber') },
};

const directory = temporaryDirectory('subscribers');
let azure: AzureSimulator;
beforeAll(async () => {
  azure = await startAzureSimulator({ hubs: Object.keys(examples).map((name) => ({ name })) });
  useSimulator(azure);
});
afterAll(async () => {
  await azure.close();
  directory[Symbol.dispose]();
  expect(azure.errors).toEqual([]);
});

describe('the example subscriber', { concurrent: true }, () => {
  for (const [language, { reason, command, env }] of Object.entries(examples)) {
    test.skipIf(reason)(`in ${language} does what the histories demand, killed after each run${reason}`, async () => {
      const stateFile = join(directory.path, `${language}.json`);
      const client = producer(azure, { hub: language });
      const running: { kill(signal: 'SIGKILL'): unknown }[] = [];
      const start = () => {
        const subscriber = startSubscriber(azure, {
          hub: language,
          stateFile,
          command: command(azure),
          ...(env && { env: env(azure) }),
        });
        running.push(subscriber);
        return subscriber;
      };
      try {
        const complaints = await playHistories({ client, stateFile, start });
        // Of the two messages that claim to be records and are none, each time that they are read.
        const lines = complaints.split('\n').filter((line) => /partition \d, message/.test(line));
        expect(lines.length, complaints).toBeGreaterThan(1);
        expect(complaints).not.toMatch(/Traceback|panic|Exception in thread/);
      } finally {
        await Promise.all(running.map((one) => one.kill('SIGKILL')));
        await client.close();
      }
    });
  }
});
