import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The certificate of a VM to which Azure encrypts protected settings. */
export interface TenantCertificate {
  /** SHA-1, hexadecimal, in upper case. */
  readonly thumbprint: string;
  /** With its key, encrypted to the certificate of an agent, in lines of base64. @param agent base64 of its certificate. */
  sealedFor(agent: string): string;
  /** CMS in DER, in base64. */
  encrypt(settings: object): string;
}

export function makeTenantCertificate(): TenantCertificate {
  const folder = mkdtempSync(join(tmpdir(), 'tenant-'));
  try {
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
    const subject = '/DC=Windows Azure CRP Certificate Generator';
    openssl(['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', subject, '-days', '2'], {
      more: ['-keyout', key, '-out', certificate],
    });
    const pfx = openssl(['pkcs12', '-export', '-passout', 'pass:', '-inkey', key, '-in', certificate]);
    const pem = readFileSync(certificate, 'utf8');
    return {
      thumbprint: new X509Certificate(pem).fingerprint.replaceAll(':', ''),
      // With the cipher that the agent asks for by x-ms-cipher-name: DES_EDE3_CBC.
      sealedFor: (agent) =>
        lines(
          cms(pfx, {
            to: `-----BEGIN CERTIFICATE-----\n${lines(agent)}\n-----END CERTIFICATE-----\n`,
            cipher: '-des3',
          }),
        ),
      encrypt: (settings) => cms(Buffer.from(JSON.stringify(settings)), { to: pem, cipher: '-aes256' }),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** As S/MIME and PEM want their base64. */
const lines = (base64: string): string => base64.replace(/.{64}(?=.)/g, '$&\n');

function cms(content: Buffer, { to, cipher }: { readonly to: string; readonly cipher: string }): string {
  const folder = mkdtempSync(join(tmpdir(), 'cms-'));
  try {
    const recipient = join(folder, 'recipient.pem');
    writeFileSync(recipient, to);
    return openssl(['cms', '-encrypt', '-binary', '-outform', 'DER', cipher, recipient], { input: content }).toString(
      'base64',
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const openssl = (
  args: readonly string[],
  { input, more = [] }: { readonly input?: Buffer; readonly more?: readonly string[] } = {},
): Buffer =>
  execFileSync('openssl', [...args, ...more], { stdio: ['pipe', 'pipe', 'ignore'], ...(input && { input }) });
