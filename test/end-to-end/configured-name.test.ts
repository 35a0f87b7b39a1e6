import { expect, test } from 'vitest';
import { startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { configurationFor, temporaryDirectory } from '../support/bridge-process.ts';
import { runCheck } from '../support/check-process.ts';

/** Microsoft's mock of Scheduled Events answers so: https://github.com/Azure-Samples/scheduled-events-mock-server */
test('where the instance metadata fails, check knows the VM by the name in the configuration, as run does', async () => {
  using directory = temporaryDirectory('state');
  const azure = await startAzureSimulator();
  try {
    azure.imds.fault('instance', { status: 404, body: '{}' });
    const observer = { vmId: '99999999-9999-4999-8999-999999999999', vmName: 'web_0' };
    const whole = configurationFor(azure, 'web_0', directory.path, { observer });
    const { code, line } = await runCheck(whole, { args: ['--json', '--write'] });
    const known = /404.*observer\.vmName and observer\.vmId of the configuration: this VM is web_0, vmId 9/;
    expect(line('imds.instance')).toMatchObject({ verdict: 'warning', message: expect.stringMatching(known) });
    expect(line('imds.names').message).toMatch(/this VM is web_0\.$/);
    expect(JSON.parse(String(azure.eventHubs.events().at(-1)?.body))).toMatchObject(observer);
    expect(code).toBe(0);
  } finally {
    await azure.close();
  }
});
