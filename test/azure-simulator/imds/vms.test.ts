import { expect, test } from 'vitest';
import { createGroupDocument } from '../../../src/azure-simulator/imds/document.ts';
import { createVms } from '../../../src/azure-simulator/imds/vms.ts';

test('a VM joins with its first request, and a request without a name is from the first VM', () => {
  const vms = createVms(createGroupDocument(), [{ name: 'db' }]);
  expect(vms.get('web_4').vm).toMatchObject({ name: 'web_4', scaleSet: 'web' });
  expect(vms.get(null).vm.name).toBe('db');
  expect(vms.all.map(({ name }) => name)).toEqual(['db', 'web_4']);
});

test('without any VM a request is from web_0', () => {
  expect(createVms(createGroupDocument(), []).get(null).vm.name).toBe('web_0');
});

test('a replaced VM keeps its position and gets a new view', () => {
  const group = createGroupDocument();
  const vms = createVms(group, [{ name: 'web_0', misses: [2] }, { name: 'web_1' }]);
  group.schedule({ eventType: 'Freeze', resources: ['web_0'] });
  expect(vms.get('web_0').view.document.Events).toEqual([]);
  vms.add({ name: 'web_0' });
  expect(vms.get('web_0').view.document.Events).toHaveLength(1);
  expect(vms.all.map(({ name }) => name)).toEqual(['web_0', 'web_1']);
});
