import { expect, test } from 'vitest';
import { opensslCommands, powershellCommand, powershellScript } from '../../src/extension/decrypt.ts';
import { createPowerShellReader } from '../support/powershell.ts';

const settings = { message: Buffer.from('the message'), thumbprint: 'A'.repeat(40) };

test('openssl gets the message on stdin: no secret is in an argument', () => {
  const commands = opensslCommands(settings, '/var/lib/waagent/AA');
  expect(commands.map(({ program, args }) => [program, ...args].join(' '))).toEqual([
    'openssl cms -decrypt -inform DER -recip /var/lib/waagent/AA.crt -inkey /var/lib/waagent/AA.prv',
    'openssl smime -decrypt -inform DER -recip /var/lib/waagent/AA.crt -inkey /var/lib/waagent/AA.prv',
  ]);
  expect(commands.map(({ input }) => `${input}`)).toEqual(['the message', 'the message']);
});

test('on Windows PowerShell 5.1 decrypts with the store of the machine', async () => {
  const { program, args, input, output } = powershellCommand(settings, { SystemRoot: 'D:\\Windows' });
  expect([program, args.slice(0, -1).join(' '), output]).toEqual([
    'D:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe',
    '-NoLogo -NoProfile -NonInteractive -ExecutionPolicy Bypass -EncodedCommand',
    'base64',
  ]);
  expect(`${input}`).toBe(settings.message.toString('base64'));
  const script = Buffer.from(args.at(-1) ?? '', 'base64').toString('utf16le');
  expect(script).toBe(powershellScript(settings.thumbprint));
  expect((await createPowerShellReader()).faultsIn(script)).toEqual([]);
  for (const part of [
    "X509Store('My', 'LocalMachine')",
    `'FindByThumbprint', '${settings.thumbprint}'`,
    'EnvelopedCms',
  ])
    expect(script).toContain(part);
});
