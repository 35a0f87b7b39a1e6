import { expect, test } from 'vitest';
import { createVm } from '../../../src/azure-simulator/imds/vm.ts';

test('a name of the form set_number is an instance of a uniform scale set', () => {
  const vm = createVm({ name: 'web_3', resourceGroup: 'rg', subscriptionId: 's' });
  expect(vm.scaleSet).toBe('web');
  expect(vm.resourceId).toBe(
    '/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/web/virtualMachines/3',
  );
});

test('another name is a different VM, in a flexible scale set when configured so', () => {
  const alone = createVm({ name: 'db', resourceGroup: 'rg', subscriptionId: 's' });
  const flexible = createVm({ name: 'web_0af3', scaleSet: 'web', resourceGroup: 'rg', subscriptionId: 's' });
  expect(alone).toMatchObject({ scaleSet: null, scaleSetResourceId: null, placementGroupId: '' });
  expect(flexible.resourceId).toBe(
    '/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/web_0af3',
  );
});

test('a VM has the same id in every run, and no other VM has it', () => {
  expect(createVm({ name: 'a' }).vmId).toBe(createVm({ name: 'a' }).vmId);
  expect(createVm({ name: 'a' }).vmId).not.toBe(createVm({ name: 'b' }).vmId);
  expect(createVm({ name: 'a' }).vmId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
});
