import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { fullyQualifiedNamespace } from './namespace.ts';

/** A throw-away certificate authority and one server certificate: for loopback, the namespace and the host that it is made for. */
export interface Certificate {
  /** PEM of the authority: what a client has to trust. */
  readonly ca: string;
  /** PEM file of the authority, for `NODE_EXTRA_CA_CERTS`, `tls.caFile` and clients in other languages. */
  readonly caFile: string;
  readonly key: string;
  readonly cert: string;
  /** Removes what was written, if the directory was ours. */
  remove(): Promise<void>;
}

export interface CertificateOptions {
  /** Keeps both: the next start with it uses the same ones. Default: a new temporary directory, deleted by `remove`. */
  readonly directory?: string;
  /** Besides `localhost`, the addresses of loopback and the namespace, which Microsoft's client for Go verifies at a custom endpoint too. */
  readonly host?: string;
}

export async function makeCertificate({ directory, host }: CertificateOptions = {}): Promise<Certificate> {
  const folder = directory ?? (await mkdtemp(join(tmpdir(), 'azure-simulator-')));
  const always = ['localhost', '127.0.0.1', '::1', fullyQualifiedNamespace];
  const hosts = [...new Set([...always, ...(host === undefined ? [] : [host])])];
  const caFile = join(folder, 'ca.pem');
  const pair = (await readPair(folder, hosts)) ?? (await writePair(folder, await generatePair(hosts)));
  return {
    ...pair,
    caFile,
    remove: async () => {
      if (directory === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Pair {
  readonly ca: string;
  readonly key: string;
  readonly cert: string;
}

/** The files in the directory; only their owner may read the key. */
const files = [
  ['ca', 'ca.pem', 0o644],
  ['cert', 'server.pem', 0o644],
  ['key', 'server-key.pem', 0o600],
] as const;

async function writePair(folder: string, pair: Pair): Promise<Pair> {
  for (const [part, name, mode] of files) await writeFile(join(folder, name), pair[part], { mode });
  return pair;
}

const dayMs = 86_400_000;

/** What an earlier start wrote, where it is whole, names these hosts and is good for another day; else null. */
async function readPair(folder: string, hosts: readonly string[]): Promise<Pair | null> {
  try {
    const [ca = '', cert = '', key = ''] = await Promise.all(
      files.map(([, name]) => readFile(join(folder, name), 'utf8')),
    );
    const [authority, server] = [new X509Certificate(ca), new X509Certificate(cert)];
    const isGood =
      server.verify(authority.publicKey) &&
      server.checkPrivateKey(createPrivateKey(key)) &&
      hosts.every((host) => (isIP(host) ? server.checkIP(host) : server.checkHost(host)) !== undefined) &&
      [authority, server].every(({ validToDate }) => validToDate.getTime() > Date.now() + dayMs);
    return isGood ? { ca, cert, key } : null;
  } catch {
    return null;
  }
}

async function generatePair(hosts: readonly string[]): Promise<Pair> {
  // An hour of slack: a VM whose clock is stepped back must not find the certificate "not yet valid".
  const notBeforeDate = new Date(Date.now() - 3_600_000);
  const elliptic = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256', notBeforeDate } as const;
  // A name of its own: OpenSSL finds the issuer by name, and of two authorities with one name a client tries only the first.
  const name = `Azure simulator authority ${randomUUID()}`;
  const authority = await generate([{ name: 'commonName', value: name }], {
    ...elliptic,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const server = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...elliptic,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: hosts.map((host) => (isIP(host) ? { type: 7, ip: host } : { type: 2, value: host })),
      },
    ],
  });
  return { ca: authority.cert, key: server.private, cert: server.cert };
}
