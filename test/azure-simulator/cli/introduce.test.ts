import { afterAll, beforeAll, expect, test } from 'vitest';
import { introduce } from '../../../src/azure-simulator/cli/introduce.ts';
import { type AzureSimulator, startAzureSimulator } from '../../../src/azure-simulator/index.ts';

let azure: AzureSimulator;
beforeAll(async () => {
  azure = await startAzureSimulator({ vms: [{ name: 'web_0' }, { name: 'web_1' }] });
});
afterAll(() => azure.close());

const introduction = (entry: string, keepsFiles = false): string =>
  introduce(azure, {
    vm: 'web_0',
    control: 'http://127.0.0.1:16930',
    files: '/tmp/local-azure-AbCdEf',
    keepsFiles,
    entry,
  });

test('the introduction fits on a terminal of 80 columns and 24 lines', () => {
  const lines = introduction('/src/main.ts').split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  // With two lines before it, five for the keys, two for what begins, and the cursor.
  expect(lines.length).toBeLessThanOrEqual(24 - 10);
});

test.for([
  {
    entry: '/src/main.ts',
    commands: [
      'npm start -- run --config /tmp/local-azure-AbCdEf/bridge.json',
      '(. /tmp/local-azure-AbCdEf/variables.sh; npm run subscriber)',
    ],
  },
  {
    entry: '/opt/scheduled-events-bridge/current/scheduled-events-bridge.cjs',
    commands: [
      'scheduled-events-bridge run --config /tmp/local-azure-AbCdEf/bridge.json',
      '. /tmp/local-azure-AbCdEf/variables.sh',
    ],
  },
])('its commands are those of a program started with $entry', ({ entry, commands }) => {
  for (const command of commands) expect(introduction(entry)).toContain(`\n  ${command}\n`);
});

test('the option that keeps files is mentioned only when files are not kept', () => {
  expect(introduction('main.ts')).toContain('--write-config DIR');
  expect(introduction('main.ts', true)).not.toContain('--write-config');
});
