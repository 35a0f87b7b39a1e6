import { expect, test } from 'vitest';
import { createTextMask } from '../../../../infra/acceptance/recordings/mask-text.ts';
import { type KnownName, namesIn } from '../../../../infra/acceptance/recordings/names.ts';

const known: readonly KnownName[] = [
  { kind: 'vm', name: 'orion' },
  { kind: 'vm', name: 'orion-two' },
  { kind: 'scale-set', name: 'fleet-a' },
  { kind: 'resource-group', name: 'rg-seb-acceptance-k3x9-platform' },
  { kind: 'resource', name: 'ns (prod)+é' },
  { kind: 'vm', name: 'a' },
];

const texts: readonly { name: string; text: string; masked: string }[] = [
  { name: 'a name in a sentence', text: 'Restarted orion twice.', masked: 'Restarted vm-0 twice.' },
  { name: 'the longest of several names', text: 'orion-two, orion', masked: 'vm-0, vm-1' },
  { name: 'a name within another word', text: 'orion_OsDisk_1_ab', masked: 'vm-0_OsDisk_1_ab' },
  { name: 'a name of one letter, as a word only', text: 'a VM (a) has started', masked: 'vm-0 VM (vm-0) has started' },
  { name: 'a name in upper case', text: 'ORION', masked: 'VM-0' },
  {
    name: 'the instances of a scale set',
    text: 'fleet-a_3 fleet-a_0f00ba',
    masked: 'scale-set-0_3 scale-set-0_0f00ba',
  },
  { name: 'a name percent-encoded', text: 'q=ns%20%28prod%29%2B%C3%A9&', masked: 'q=resource-0&' },
  { name: 'a name percent-encoded twice', text: 'ns%2520(prod)%252b%25C3%25a9', masked: 'resource-0' },
  { name: 'a name with escapes of JSON', text: '"ns (prod)+\\u00e9"', masked: '"resource-0"' },
  { name: 'a name in HTML', text: 'ns (prod)&#43;&#xe9;', masked: 'resource-0' },
  { name: 'a name in base64', text: `x ${btoa('{"vm":"orion-two"}')} y`, masked: 'x base64-0 y' },
  {
    name: 'a name in the base64 of UTF-16',
    text: Buffer.from('Stop-Computer orion', 'utf16le').toString('base64'),
    masked: 'base64-0',
  },
  {
    name: 'equal GUIDs in either case',
    text: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123 c7061bac-afdc-4513-b24b-aa5f13a16123 c7061bacafdc4513b24baa5f13a16123',
    masked:
      'FACADE00-0000-4000-A000-000000000000 facade00-0000-4000-a000-000000000000 facade0000004000a000000000000000',
  },
  {
    name: 'addresses, except those that all VMs have in common',
    text: '10.1.2.3, 10.1.2.3:443 169.254.169.254 fe80::1a2b:3c4d/64 00-0D-3A-12-34-56 at 10:22:33',
    masked: '192.0.2.1, 192.0.2.1:443 169.254.169.254 2001:db8::2/64 mac-0 at 10:22:33',
  },
  { name: 'a version of four parts', text: 'version 1.0.0.3', masked: 'version 1.0.0.3' },
  {
    name: 'e-mail addresses',
    text: 'jane.doe@contoso.com jane.doe_contoso.com#EXT#@contoso.onmicrosoft.com x%40y.org',
    masked: 'user-0@example.invalid user-1@example.invalid user-2@example.invalid',
  },
  { name: 'a short name only where no letter is next to it', text: 'orions, orion2', masked: 'orions, vm-02' },
  {
    name: 'folders of users',
    text: '/home/jane/clone C:\\Users\\Jane\\clone "C:\\\\Users\\\\jane\\\\x"',
    masked: '/home/user-0/clone C:\\Users\\User-0\\clone "C:\\\\Users\\\\user-0\\\\x"',
  },
  {
    name: 'names in resource ids, known or not',
    text: '/subscriptions/c7061bac-afdc-4513-b24b-aa5f13a16123/resourceGroups/Secret/providers/Microsoft.Compute/virtualMachineScaleSets/web/virtualMachines/3?x',
    masked:
      '/subscriptions/facade00-0000-4000-a000-000000000000/resourceGroups/Resource-group-0/providers/Microsoft.Compute/virtualMachineScaleSets/scale-set-0/virtualMachines/3?x',
  },
  {
    name: 'names of hosts',
    text: 'https://ns1.servicebus.windows.net/ dce-7.westeurope-1.ingest.monitor.azure.com https://learn.microsoft.com/x',
    masked: 'https://host-0.servicebus.windows.net/ host-1.ingest.monitor.azure.com https://learn.microsoft.com/x',
  },
  {
    name: 'signatures, keys and tokens',
    text: 'sr=x&sig=abc%2Bd&se=1 Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=abc+d/=;x Bearer abcdefghijklmnop eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig',
    masked: 'sr=x&sig=***&se=1 Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=***;x Bearer *** ***',
  },
  {
    name: 'secrets in JSON, which stays JSON',
    text: '{"adminPassword":"p\\"w x","clientSecret": "x","isSecret":true,"in":"{\\"sharedAccessKey\\":\\"y z\\"}"}',
    masked: '{"adminPassword":"***","clientSecret": "***","isSecret":true,"in":"{\\"sharedAccessKey\\":\\"***\\"}"}',
  },
];

test.for(texts)('masks $name', ({ text, masked }) => {
  expect(createTextMask(known)(text)).toBe(masked);
});

test('one mask gives the same pseudonym in every text, and never one that is the name of another', () => {
  const mask = createTextMask([
    { kind: 'vm', name: 'vm-0' },
    { kind: 'vm', name: 'vm-1' },
  ]);
  expect([mask('vm-1'), mask('vm-0 vm-1')]).toEqual(['vm-2', 'vm-3 vm-2']);
});

test('an empty list of names masks what needs no list', () => {
  expect(createTextMask([])('orion at 10.0.0.1')).toBe('orion at 192.0.2.1');
});

test('the names in what a run found are those of its resources, hosts and accounts', () => {
  const found = {
    location: 'westeurope',
    groups: { platform: 'rg-p', machines: 'rg-m' },
    dcr: '/subscriptions/c7061bac-afdc-4513-b24b-aa5f13a16123/resourceGroups/rg-p/providers/Microsoft.Insights/dataCollectionRules/dcr-x',
    endpoint: 'https://dce-x-1.westeurope-1.ingest.monitor.azure.com',
    machines: [
      { name: 'vm-x', scaleSet: 'set-x', size: 'Standard_B2s' },
      { name: 'set-x_0', computerName: 'set-x00' },
    ],
    user: { name: 'jane' },
    subscription: 'c7061bac-afdc-4513-b24b-aa5f13a16123',
  };
  expect(namesIn(found, new Map([['x', { hub: 'eh-x' }]]))).toEqual([
    { kind: 'resource-group', name: 'rg-p' },
    { kind: 'resource-group', name: 'rg-m' },
    { kind: 'resource', name: 'dcr-x' },
    { kind: 'host', name: 'dce-x-1' },
    { kind: 'vm', name: 'vm-x' },
    { kind: 'scale-set', name: 'set-x' },
    { kind: 'vm', name: 'set-x_0' },
    { kind: 'host', name: 'set-x00' },
    { kind: 'user', name: 'jane' },
    { kind: 'resource', name: 'eh-x' },
  ]);
});
