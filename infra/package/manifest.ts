import { createHash, type KeyObject, sign } from 'node:crypto';
import { byPath, type PackedFile } from './packed-file.ts';
import type { PlatformName } from './platforms.ts';

export { manifestName } from '../../src/service/package.ts';
export { signatureName } from '../../src/service/signature.ts';

interface About {
  readonly version: string;
  readonly platform: PlatformName;
  /** Version of the runtime. */
  readonly node: string;
}

/** Lists every file of a package but itself and its signature; the installer believes no other. */
export function manifestOf(files: readonly PackedFile[], { version, platform, node }: About): string {
  const listed = files.toSorted(byPath).map(({ path, mode, content }) => ({
    path,
    sha256: createHash('sha256').update(content).digest('hex'),
    bytes: content.length,
    mode: mode.toString(8).padStart(4, '0'),
  }));
  return `${JSON.stringify({ name: 'scheduled-events-bridge', version, platform, node, files: listed }, null, 2)}\n`;
}

/**
 * 64 bytes, as `openssl pkeyutl -verify -rawin` takes them.
 * @throws Error where the key is of another kind than Ed25519.
 */
export function signatureOf(content: Buffer, key: KeyObject): Buffer {
  if (key.type !== 'private' || key.asymmetricKeyType !== 'ed25519') {
    throw new Error(
      `The key is ${key.type}, ${key.asymmetricKeyType ?? 'of no known kind'}: expected a private Ed25519 key, as "openssl genpkey -algorithm ed25519" makes it.`,
    );
  }
  return sign(null, content, key);
}
