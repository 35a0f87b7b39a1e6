import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import type { BridgeConfiguration } from '../../support/bridge-process.ts';
import type { WireStage } from './scene.ts';

/** Server certificates of an authority that the bridge trusts besides the simulator's: one that is right, and others that it has to refuse. */
export interface TestCertificates {
  readonly good: Pair;
  readonly expired: Pair;
  readonly wrongName: Pair;
  /** Its issuer is itself. */
  readonly selfSigned: Pair;
  /** For the bridge: with it, it trusts both authorities. */
  readonly configuration: (stage: WireStage) => BridgeConfiguration;
}

export interface Pair {
  readonly key: string;
  readonly cert: string;
}

const dayMs = 86_400_000;
const elliptic = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;

/** @param directory gets the files of authorities. */
export async function makeCertificates(directory: string): Promise<TestCertificates> {
  const from = new Date(Date.now() - 3 * dayMs);
  const authority = await generate([{ name: 'commonName', value: 'Authority of the fault tests' }], {
    ...elliptic,
    notBeforeDate: from,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const ca = { key: authority.private, cert: authority.cert };
  const make = async (host: string, until: Date, isSigned = true): Promise<Pair> => {
    const made = await generate([{ name: 'commonName', value: host }], {
      ...elliptic,
      notBeforeDate: from,
      notAfterDate: until,
      ...(isSigned && { ca }),
      extensions: [
        { name: 'basicConstraints', cA: false, critical: true },
        { name: 'keyUsage', digitalSignature: true, critical: true },
        { name: 'extKeyUsage', serverAuth: true },
        { name: 'subjectAltName', altNames: [{ type: 2, value: host }] },
      ],
    });
    return { key: made.private, cert: made.cert };
  };
  const [yesterday, tomorrow] = [new Date(Date.now() - dayMs), new Date(Date.now() + dayMs)];
  const [good, expired, wrongName, selfSigned] = await Promise.all([
    make('localhost', tomorrow),
    make('localhost', yesterday),
    make('another.example', tomorrow),
    make('localhost', tomorrow, false),
  ]);
  const configuration = ({ azure, hub }: WireStage): BridgeConfiguration => {
    const caFile = join(directory, `authorities-${hub.port}.pem`);
    writeFileSync(caFile, readFileSync(azure.caFile, 'utf8') + authority.cert);
    return { tls: { caFile } };
  };
  return { good, expired, wrongName, selfSigned, configuration };
}
