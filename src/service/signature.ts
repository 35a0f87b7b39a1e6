import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../log.ts';
import { Refusal } from './refusals.ts';

/** Beside the manifest, which lists the SHA-256 of everything else: who has signed the one has signed the package. */
export const signatureName = 'manifest.json.sig';

/** Why a manifest in this folder is not by who has the private key; null where it is. */
export function faultOfSignature(manifest: Buffer, folder: string, key: KeyObject): string | null {
  let signature: Buffer;
  try {
    signature = readFileSync(join(folder, signatureName));
  } catch {
    return `${signatureName} is missing: the package is not signed`;
  }
  return verify(null, manifest, key, signature) ? null : 'manifest.json is not by the owner of this key';
}

/** Reads a public Ed25519 key in PEM, as `openssl pkey -pubout` writes it. @throws Refusal where the file holds none. */
export function readPublicKey(file: string): KeyObject {
  const refusal = (why: string): Refusal =>
    new Refusal(
      'missing',
      `The key ${file} cannot be used: ${why}. Name the public Ed25519 key of who builds the packages with --key.`,
    );
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw refusal(messageOf(error));
  }
  // The public one could be made of it; but it has no business on this machine.
  if (text.includes('PRIVATE KEY')) throw refusal('it is a private key, which is to stay where packages are built');
  let key: KeyObject;
  try {
    key = createPublicKey(text);
  } catch {
    throw refusal('it holds no key in PEM');
  }
  if (key.asymmetricKeyType !== 'ed25519') throw refusal(`it is of the kind ${key.asymmetricKeyType}`);
  return key;
}
