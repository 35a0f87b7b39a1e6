import { spawnSync } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import {
  bridgeCommand,
  installDebianPackage,
  listLeftovers,
  removeBridge,
} from '../../../../infra/acceptance/azure/bridge-scripts.ts';
import { createPowerShellReader, type PowerShellReader } from '../../../support/powershell.ts';

let powerShell: PowerShellReader;
beforeAll(async () => {
  powerShell = await createPowerShellReader();
});

const install = installDebianPackage({
  address: 'https://a.blob.core.windows.net/packages/scheduled-events-bridge_0.2.0_amd64.deb',
  identityClientId: '22222222-2222-4222-8222-222222222222',
  audience: 'https://storage.azure.com',
  configuration: `{"a":"it's"}`,
});

test.for([
  ['installation', install],
  ['removal', removeBridge('linux')],
  ['leftovers', listLeftovers('linux')],
  ['a command', bridgeCommand('linux', 'check')],
] as const)('sh reads the script of the %s', ([, script]) => {
  const { status, stderr } = spawnSync('sh', ['-n'], { input: script, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});

test.for([
  ['removal', removeBridge('windows')],
  ['leftovers', listLeftovers('windows')],
  ['a command', bridgeCommand('windows', 'service status --json')],
] as const)('PowerShell reads the script of the %s', ([, script]) => {
  expect(powerShell.read(script, ({ hasError }) => hasError)).toBe(false);
});

test('a machine without the bridge has no leftovers, and its removal does nothing', () => {
  // Never the bridge of the machine on which the tests run.
  const elsewhere = (script: string): string =>
    script.replaceAll(/\/(opt|etc|var|usr)\//g, '/nowhere/').replaceAll('dpkg-query', 'false');
  const script = elsewhere(`( ${removeBridge('linux')} )\necho "removed $?"\n${listLeftovers('linux')}\n`);
  const { stdout, status } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, 'removed 0\n']);
});

test('the installation passes the token by standard input, and ends at the first failure', () => {
  // Everything that reaches out is a function here, which writes down what it was called with.
  const stubs = [
    'curl() { printf "curl %s\\n" "$*" >> "$log"; case "$*" in *Metadata*) printf \'{"access_token":"secret"}\' ;; *) cat >> "$log"; printf "\\n" >> "$log" ;; esac; }',
    'apt_get() { printf "apt %s\\n" "$*" >> "$log"; return 100; }',
    'service_command() { printf "service\\n" >> "$log"; }',
  ];
  const script = install
    .replace('apt-get', 'apt_get')
    .replace('scheduled-events-bridge service', 'service_command service');
  const { stdout, status } = spawnSync(
    'sh',
    ['-c', `log=$(mktemp)\n${stubs.join('\n')}\n( ${script}\n)\ncode=$?\ncat "$log"\nrm "$log"\nexit $code`],
    {
      encoding: 'utf8',
    },
  );
  expect(status).toBe(100);
  const lines = stdout.trim().split('\n');
  expect(lines).toHaveLength(4);
  expect(lines[0]).toContain('resource=https%3A%2F%2Fstorage.azure.com&client_id=22222222');
  expect(lines[1]).toMatch(/--config - .*--output scheduled-events-bridge_0\.2\.0_amd64\.deb https:\/\/a\.blob/);
  expect(lines[1]).not.toContain('secret');
  expect(lines[2]).toBe('header = "Authorization: Bearer secret"');
  expect(lines[3]).toMatch(/^apt .* install --yes \.\/scheduled-events-bridge_0\.2\.0_amd64\.deb$/);
});
