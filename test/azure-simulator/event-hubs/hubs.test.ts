import { expect, test } from 'vitest';
import { createHubs } from '../../../src/azure-simulator/event-hubs/hubs.ts';

test('a hub is found by its name in any case, and the first hub when none is named', () => {
  const hubs = createHubs([{}, { name: 'Other', partitions: 2, consumerGroups: ['tail'] }]);
  expect(hubs.all.map(({ name, partitions, consumerGroups }) => [name, partitions.length, consumerGroups])).toEqual([
    ['vm-lifecycle', 4, ['$Default', 'tail']],
    ['Other', 2, ['$Default', 'tail']],
  ]);
  expect(hubs.get()).toBe(hubs.find('VM-LIFECYCLE'));
  expect(hubs.get('other').name).toBe('Other');
  expect(hubs.find('none')).toBeUndefined();
});

test('two hubs of one name are one too many', () => {
  expect(() => createHubs([{ name: 'a' }, { name: 'A' }])).toThrow(
    'two event hubs are named A: give each its own name',
  );
});
