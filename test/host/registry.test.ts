import { expect, test } from 'vitest';
import { valueIn } from '../../src/host/registry.ts';

const output = [
  '',
  'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Virtual Machine\\Guest\\Parameters',
  '    PhysicalHostName    REG_SZ    AMS21',
  '    PhysicalHostNameFullyQualified    REG_SZ    AMS21.prod.example with blanks',
  '    Empty    REG_SZ    ',
  '    BootId    REG_DWORD    0x4d',
  '',
].join('\r\n');

test.each([
  ['PhysicalHostName', 'AMS21'],
  ['PhysicalHostNameFullyQualified', 'AMS21.prod.example with blanks'],
  ['bootid', '0x4d'],
  ['Empty', null],
  ['Physical', null],
  ['Missing', null],
])('the registry value %s is %s', (value, data) => {
  expect(valueIn(output, value)).toBe(data);
});
