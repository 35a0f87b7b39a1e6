import { expect, test } from 'vitest';
import { valueInPool } from '../../src/host/key-value-pool.ts';
import { poolOf } from './pool.ts';

const pool = poolOf({
  HostName: 'WIN-HOST',
  PhysicalHostNameFullyQualified: 'AMS21.prod',
  Empty: '',
  Name: 'ü'.repeat(1024),
});

test.each([
  ['HostName', 'WIN-HOST'],
  ['PhysicalHostNameFullyQualified', 'AMS21.prod'],
  ['PhysicalHostName', null],
  ['Empty', null],
  ['', null],
  ['Name', 'ü'.repeat(1024)],
])('the pool holds for %s: %s', (key, value) => {
  expect(valueInPool(pool, key)).toBe(value);
});

test('a record that is not there in full is not read', () => {
  expect(valueInPool(pool.subarray(0, 2 * 2560 - 1), 'HostName')).toBe('WIN-HOST');
  expect(valueInPool(pool.subarray(0, 2 * 2560 - 1), 'PhysicalHostNameFullyQualified')).toBeNull();
  expect(valueInPool(Buffer.alloc(0), 'HostName')).toBeNull();
});
