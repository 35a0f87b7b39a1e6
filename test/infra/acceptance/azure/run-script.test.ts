import { spawnSync } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import { readResult, runOn, wrapped } from '../../../../infra/acceptance/azure/run-script.ts';
import { createPowerShellReader, type PowerShellReader } from '../../../support/powershell.ts';
import { createContext, createTools, inTurn, printedOnLinux, refuse } from './step-context.ts';

const machine = {
  name: 'vm-k3x2ab',
  role: 'single',
  os: 'linux',
  scaleSet: null,
  resourceId: '/subscriptions/a',
  resourceGroup: 'rg',
  instanceId: null,
  size: 'Standard_B2s_v2',
} as const;

let powerShell: PowerShellReader;
beforeAll(async () => {
  powerShell = await createPowerShellReader();
});

test('a wrapped script prints the end of its output, and then its exit code', () => {
  const script = 'echo complaint >&2\nseq 1 2000\nexit 7';
  const { stdout, stderr, status } = spawnSync('sh', ['-c', wrapped('linux', script)], { encoding: 'utf8' });
  expect(status).toBe(0);
  expect(stderr).toBe('complaint\n');
  expect(Buffer.byteLength(stdout)).toBeLessThan(3_100);
  const message = `Enable succeeded: \n[stdout]\n${stdout}\n[stderr]\n${stderr}`;
  const result = readResult({ value: [{ code: 'ProvisioningState/succeeded', message }] });
  expect(result).toMatchObject({ exitCode: 7, stderr: 'complaint' });
  expect(result.stdout.endsWith('\n1999\n2000')).toBe(true);
});

test('PowerShell reads a wrapped script', () => {
  expect(powerShell.read(wrapped('windows', 'whoami'), ({ hasError }) => hasError)).toBe(false);
  expect(() => powerShell.read(wrapped('windows', '} whoami {'), () => false)).toThrow('PowerShell cannot read');
});

/** https://learn.microsoft.com/azure/virtual-machines/windows/run-command#azure-cli */
test('reads both messages of a Windows VM', () => {
  const value = [
    { code: 'ComponentStatus/StdOut/succeeded', message: 'Running\nacceptance-exit-code=0' },
    { code: 'ComponentStatus/StdErr/succeeded', message: 'a warning' },
  ];
  expect(readResult({ value })).toEqual({ exitCode: 0, stdout: 'Running', stderr: 'a warning' });
});

test.for([{ message: '' }, { message: 'Enable succeeded: \n[stdout]\ncut\n\n[stderr]\n' }])(
  'a script whose exit code is not shown has none: $message',
  ({ message }) => {
    expect(readResult({ value: [{ code: 'ProvisioningState/succeeded', message }] }).exitCode).toBe(null);
  },
);

/** https://learn.microsoft.com/azure/virtual-machines/linux/run-command#troubleshooting */
const busy = refuse(
  'Conflict',
  'Run command extension execution is in progress. Please wait for completion before invoking a run command.',
);

test('waits while another script runs on the VM', async () => {
  const { context, calls } = createContext([
    { to: 'run-command invoke', with: inTurn(busy, busy, printedOnLinux('done', 0)) },
  ]);
  const tools = createTools();
  expect(await runOn(context, tools, machine, { name: 'x', script: 'true' })).toEqual({
    exitCode: 0,
    stdout: 'done',
    stderr: '',
  });
  expect(calls).toHaveLength(3);
  expect(tools.slept).toEqual([20, 20]);
});

test('does not wait after a right is missing', async () => {
  const { context, calls } = createContext([{ to: 'run-command', with: refuse('AuthorizationFailed', 'may not') }]);
  await expect(runOn(context, createTools(), machine, { name: 'x', script: 'true' })).rejects.toThrow('may not');
  expect(calls).toHaveLength(1);
});

test('stops waiting after ten minutes', async () => {
  const { context } = createContext([{ to: 'run-command', with: busy }]);
  const tools = createTools();
  await expect(runOn(context, tools, machine, { name: 'x', script: 'true' })).rejects.toThrow('in progress');
  expect(tools.slept.reduce((sum, seconds) => sum + seconds, 0)).toBe(600);
});

test('addresses an instance of a uniform scale set by its set and number', async () => {
  const { context, calls } = createContext([{ to: 'run-command', with: printedOnLinux('', 0) }]);
  const instance = { ...machine, name: 'uni_3', scaleSet: 'uni', instanceId: '3', role: 'uniform' } as const;
  await runOn(context, createTools(), instance, { name: 'x', script: 'true' });
  expect(calls[0]).toMatch(/^vmss run-command invoke .* --name uni --instance-id 3 --command-id RunShellScript/);
});
