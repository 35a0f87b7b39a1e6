import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { addressIn, readLeasedAddresses } from '../../src/imds/dhcp-leases.ts';

const networkd = 'ADDRESS=10.0.0.4\nSERVER_ADDRESS=168.63.129.17\nOPTION_245=a83f8110\nCLIENTID=ff00\n';
const dhclient = (option: string): string =>
  `lease {\n  interface "eth0";\n  fixed-address 10.0.0.4;\n  option dhcp-server-identifier 168.63.129.17;\n  ${option}\n  expire 5 2026/11/27 10:00:00;\n}\n`;

describe('a lease file', () => {
  test.each([
    { by: 'systemd-networkd', text: networkd, address: '168.63.129.16' },
    { by: 'dhclient', text: dhclient('option unknown-245 a8:3f:81:10;'), address: '168.63.129.16' },
    { by: 'dhclient, short bytes', text: dhclient('option unknown-245 a:0:0:5;'), address: '10.0.0.5' },
    { by: 'dhclient, octal', text: dhclient('option unknown-245 "\\250?\\201\\020";'), address: '168.63.129.16' },
    { by: 'dhclient, text', text: dhclient('option unknown-245 "dd\\"d";'), address: '100.100.34.100' },
    { by: 'dhclient on FreeBSD', text: dhclient('option private-245 a8:3f:81:10;'), address: '168.63.129.16' },
    { by: 'NetworkManager', text: '[dhcp4]\nprivate_245=a8:3f:81:10\n', address: '168.63.129.16' },
    { by: 'NetworkManager, plain', text: 'unknown_245 = 168.63.129.16', address: '168.63.129.16' },
    { by: 'the VM agent', text: '168.63.129.16\n', address: '168.63.129.16' },
    {
      by: 'dhclient with several leases: the last one',
      text: `${dhclient('option unknown-245 0a:00:00:01;')}${dhclient('option unknown-245 0a:00:00:02;')}${dhclient('')}`,
      address: '10.0.0.2',
    },
  ])('of $by has $address', ({ text, address }) => {
    expect(addressIn(text)).toBe(address);
  });

  test.each([
    '',
    dhclient(''),
    'OPTION_245=',
    'OPTION_245=a83f81',
    'OPTION_245=a83f811099',
    'OPTION_2455=a83f8110',
    '# OPTION_245=a83f8110',
    'OPTION_245=00000000',
    'OPTION_245=7f000001',
    'OPTION_245=ffffffff',
    '999.1.1.1',
    dhclient('option unknown-245 a8:3f:81;'),
    dhclient('option unknown-245 "";'),
  ])('%j has no address', (text) => {
    expect(addressIn(text)).toBeNull();
  });
});

describe('the lease files of a machine', () => {
  const roots: string[] = [];
  afterEach(() => {
    for (const root of roots.splice(0)) rmSync(root, { recursive: true });
  });

  /** A machine with just these files; later ones are newer. */
  function machine(files: Readonly<Record<string, string>>): string {
    const root = mkdtempSync(join(tmpdir(), 'leases-'));
    roots.push(root);
    for (const [index, [file, text]] of Object.entries(files).entries()) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
      utimesSync(join(root, file), 1000 + index, 1000 + index);
    }
    return root;
  }

  test.each([
    ['run/systemd/netif/leases/2', networkd],
    ['var/lib/dhcp/dhclient.eth0.leases', dhclient('option unknown-245 a8:3f:81:10;')],
    ['var/lib/dhclient/dhclient--eth0.lease', dhclient('option unknown-245 a8:3f:81:10;')],
    ['var/lib/NetworkManager/dhclient-5fb06bd0-eth0.lease', dhclient('option unknown-245 a8:3f:81:10;')],
    ['var/lib/NetworkManager/internal-5fb06bd0-eth0.lease', networkd],
    ['run/NetworkManager/devices/2', '[dhcp4]\nprivate_245=a8:3f:81:10\n'],
    ['var/lib/waagent/WireServerEndpoint', '168.63.129.16'],
  ])('%s is read', (file, text) => {
    const root = machine({ [file]: text });
    expect(readLeasedAddresses(root)).toEqual([{ address: '168.63.129.16', file: join(root, file) }]);
  });

  test('the newest of a folder is first, the agent last; other files are ignored', () => {
    const root = machine({
      'var/lib/waagent/WireServerEndpoint': '10.0.0.1',
      'var/lib/waagent/Incarnation': '10.0.0.9',
      'run/systemd/netif/leases/2': 'OPTION_245=0a000002',
      'run/systemd/netif/leases/3': 'OPTION_245=0a000003',
      'run/systemd/netif/leases/.#4': 'OPTION_245=0a000004',
      'var/lib/dhcp/dhclient.leases': 'lease {}',
    });
    expect(readLeasedAddresses(root).map(({ address }) => address)).toEqual(['10.0.0.3', '10.0.0.2', '10.0.0.1']);
  });

  test('a machine without any, and a directory in place of a file, have no address', () => {
    expect(readLeasedAddresses(machine({}))).toEqual([]);
    expect(readLeasedAddresses(machine({ 'run/systemd/netif/leases/2/odd': 'x' }))).toEqual([]);
  });
});
