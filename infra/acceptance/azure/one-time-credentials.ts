import { generateKeyPairSync, randomBytes } from 'node:crypto';

/** A field of the SSH format: its length as 4 bytes, then its bytes. https://www.rfc-editor.org/rfc/rfc4251#section-5 */
const field = (bytes: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

/** A positive number of any length: a leading zero keeps it positive. */
const number = (bytes: Buffer): Buffer =>
  field((bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);

/**
 * A public key for SSH, which a Linux VM needs. Its private key is not kept: nothing logs in, scripts run through Azure.
 * https://www.rfc-editor.org/rfc/rfc4253#section-6.6
 */
export function oneTimePublicKey(): string {
  const { n, e } = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
  const of = (value: string | undefined): Buffer => Buffer.from(value ?? '', 'base64url');
  const blob = Buffer.concat([field(Buffer.from('ssh-rsa')), number(of(e)), number(of(n))]);
  return `ssh-rsa ${blob.toString('base64')} acceptance`;
}

/** A password of all four kinds of characters, as Windows requires; it is not kept. */
export const oneTimePassword = (): string => `aA1-${randomBytes(24).toString('base64url')}`;
