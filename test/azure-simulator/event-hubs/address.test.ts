import { expect, test } from 'vitest';
import { audiencePath, parseAddress } from '../../../src/azure-simulator/event-hubs/address.ts';

test.each([
  ['$cbs', { kind: 'cbs' }],
  ['$management', { kind: 'management' }],
  ['hub', { kind: 'hub', hub: 'hub', partition: null }],
  ['/hub/Partitions/3', { kind: 'hub', hub: 'hub', partition: '3' }],
  ['amqps://ns.servicebus.windows.net/hub', { kind: 'hub', hub: 'hub', partition: null }],
  [
    'hub/ConsumerGroups/$Default/Partitions/0',
    { kind: 'partition', hub: 'hub', consumerGroup: '$Default', partition: '0' },
  ],
  ['hub/nonsense', { kind: 'unknown' }],
  [undefined, { kind: 'unknown' }],
])('the link address %j means %j', (address, meaning) => {
  expect(parseAddress(address)).toEqual(meaning);
});

test.each([
  ['sb://ns.servicebus.windows.net/Hub', 'hub'],
  ['sb://localhost:5671/hub/Partitions/0', 'hub/partitions/0'],
  ['sb://localhost:5671/', ''],
])('the audience %j covers the path %j', (audience, path) => {
  expect(audiencePath(audience)).toBe(path);
});
