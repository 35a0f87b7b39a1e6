import { expect, test } from 'vitest';
import { instanceMetadata } from '../../src/azure-simulator/imds/instance.ts';
import { createVm } from '../../src/azure-simulator/imds/vm.ts';
import { vmOfInstance } from '../../src/recording/vm-of-instance.ts';

test('a VM made of the instance metadata of another is that VM, except for its tags', () => {
  const vm = createVm({
    name: 'db_7',
    vmId: '2a1c1b1e-0000-4000-a000-000000000007',
    subscriptionId: '11111111-0000-4000-a000-000000000000',
    resourceGroup: 'prod',
    location: 'northeurope',
    zone: '',
    faultDomain: '2',
    updateDomain: '4',
    vmSize: 'Standard_E8s_v5',
    priority: 'Spot',
    osType: 'Windows',
    image: { publisher: 'MicrosoftWindowsServer', offer: 'WindowsServer', sku: '2025', version: '1' },
    tags: { owner: 'somebody' },
    azureEnvironment: 'AzureUSGovernment',
  });
  const made = vmOfInstance(instanceMetadata(vm, '2023-11-15'));
  expect(made && createVm(made)).toEqual({ ...vm, tags: {} });
});

test('metadata without a VM name gives no VM', () => {
  for (const metadata of [null, 'web_0', {}, { compute: { vmId: 'x' } }, { compute: { name: '' } }]) {
    expect(vmOfInstance(metadata)).toBeNull();
  }
  expect(vmOfInstance({ compute: { name: 'db', vmId: '', zone: 5 } })).toEqual({ name: 'db', scaleSet: null });
});
