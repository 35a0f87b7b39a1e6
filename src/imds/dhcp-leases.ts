import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** An address that the network gave this VM in DHCP option 245, and the file that says so. */
export interface LeasedAddress {
  readonly address: string;
  readonly file: string;
}

/** Where DHCP clients and the VM agent note what they were given, by directory and file name. */
const places: readonly (readonly [directory: string, name: RegExp])[] = [
  ['run/systemd/netif/leases', /^\d+$/],
  ['var/lib/dhcp', /\.leases?$/],
  ['var/lib/dhclient', /\.leases?$/],
  ['var/lib/NetworkManager', /\.leases?$/],
  ['run/NetworkManager', /\.leases?$/],
  ['run/NetworkManager/devices', /^\d+$/],
  ['var/lib/waagent', /^WireServerEndpoint$/],
];

/**
 * The addresses in lease files, one per file, in the order of `places`, the newest file of a place first. What cannot be
 * read is left out. `root`: the directory that replaces `/`.
 */
export function readLeasedAddresses(root = '/'): LeasedAddress[] {
  return places.flatMap(([directory, name]) =>
    newestFirst(join(root, directory), name).flatMap((file) => {
      const address = addressIn(readText(file));
      return address === null ? [] : [{ address, file }];
    }),
  );
}

/**
 * The address that one such file holds: the last one, since a client adds new leases at the end.
 *
 * - systemd-networkd, NetworkManager: `OPTION_245=a83f8110`, `private_245=a8:3f:81:10`
 * - dhclient: `option unknown-245 a8:3f:81:10;`, or a text in quotes where each byte happens to be printable
 * - the Azure VM agent: nothing but `168.63.129.16`
 */
export function addressIn(text: string): string | null {
  const whole = /^\s*(\d{1,3}(?:\.\d{1,3}){3})\s*$/.exec(text)?.[1];
  const values = whole ? [whole] : [...text.matchAll(option245)].map(([, value = '']) => value.trim());
  return values.map(readAddress).findLast((address) => address !== null) ?? null;
}

const option245 =
  /^[ \t]*(?:OPTION_245\s*=|(?:private|unknown)[_-]245\s*=|option\s+(?:unknown|private)-245\s)[ \t]*(.*?);?[ \t]*$/gim;

function readAddress(value: string): string | null {
  const bytes = value.startsWith('"') ? bytesOfQuoted(value) : bytesOfPlain(value);
  const isUsable = bytes.length === 4 && bytes.every((byte) => byte >= 0 && byte <= 255) && isUnicast(bytes);
  return isUsable ? bytes.join('.') : null;
}

function bytesOfPlain(value: string): number[] {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(value)) return value.split('.').map(Number);
  if (/^[0-9a-f]{8}$/i.test(value)) return [...Buffer.from(value, 'hex')];
  if (/^[0-9a-f]{1,2}(:[0-9a-f]{1,2}){3}$/i.test(value))
    return value.split(':').map((byte) => Number.parseInt(byte, 16));
  return [];
}

/** dhclient writes other bytes than printable ones as a backslash and three octal digits. */
function bytesOfQuoted(value: string): number[] {
  const inner = value.replace(/^"|"$/g, '');
  if (/^[0-9a-f]{1,2}(:[0-9a-f]{1,2}){3}$|^\d{1,3}(\.\d{1,3}){3}$/i.test(inner)) return bytesOfPlain(inner);
  return [...inner.matchAll(/\\([0-7]{3})|\\(.)|([^\\])/gs)].map(([, octal, escaped, plain]) =>
    octal === undefined ? (escaped ?? plain ?? '').charCodeAt(0) : Number.parseInt(octal, 8),
  );
}

const isUnicast = ([first = 0]: readonly number[]): boolean => first > 0 && first !== 127 && first < 224;

function newestFirst(directory: string, name: RegExp): string[] {
  try {
    return readdirSync(directory)
      .filter((file) => name.test(file))
      .map((file) => join(directory, file))
      .map((file) => ({ file, changed: statSync(file).mtimeMs }))
      .sort((one, other) => other.changed - one.changed || one.file.localeCompare(other.file))
      .map(({ file }) => file);
  } catch {
    return [];
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
