import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';

/** A throw-away certificate authority and one server certificate for `localhost` and `127.0.0.1`. */
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

/** Makes both and writes `ca.pem` to `directory` (default: a fresh temporary one, gone after `remove`). */
export async function makeCertificate(directory?: string): Promise<Certificate> {
  const { ca, key, cert } = await generatePair();
  const folder = directory ?? (await mkdtemp(join(tmpdir(), 'azure-simulator-')));
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, ca);
  return {
    ca,
    caFile,
    key,
    cert,
    remove: async () => {
      if (directory === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

async function generatePair(): Promise<{ ca: string; key: string; cert: string }> {
  // An hour of slack: a VM whose clock is stepped back must not find the certificate "not yet valid".
  const notBeforeDate = new Date(Date.now() - 3_600_000);
  const elliptic = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256', notBeforeDate } as const;
  const authority = await generate([{ name: 'commonName', value: 'Azure simulator authority' }], {
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
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  return { ca: authority.cert, key: server.private, cert: server.cert };
}
