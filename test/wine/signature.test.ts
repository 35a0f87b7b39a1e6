import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lacking, newFolder, printed } from '../infra/package/harness.ts';
import { nodeProgram } from './windows-machine.ts';

/** The signature in a program for Windows, and the SHA-256 that it has to contain. */
interface Signed {
  /** PKCS #7. */
  readonly signature: Buffer;
  readonly sha256: Buffer;
}

/**
 * All of a program is signed but its checksum, the place of its signature, and the signature, which is at its end.
 * https://learn.microsoft.com/windows/win32/debug/pe-format#process-for-generating-the-authenticode-pe-image-hash
 */
function signedParts(program: Buffer): Signed {
  const optionalHeader = program.readUInt32LE(0x3c) + 24;
  const checksum = optionalHeader + 64;
  // The fifth entry of the data directories of a 64-bit program.
  const entry = optionalHeader + 112 + 8 * 4;
  const [at, bytes] = [program.readUInt32LE(entry), program.readUInt32LE(entry + 4)];
  if (bytes === 0) throw new Error('The program is not signed.');
  const hash = createHash('sha256');
  for (const [from, to] of [
    [0, checksum],
    [checksum + 4, entry],
    [entry + 8, at],
    [at + bytes, program.length],
  ])
    hash.update(program.subarray(from, to));
  return { signature: program.subarray(at + 8, at + program.readUInt32LE(at)), sha256: hash.digest() };
}

/** The content of the DER value at `position`, and what follows it. */
function readDer(der: Buffer, position: number): { readonly from: number; readonly to: number } {
  const first = der.readUInt8(position + 1);
  const more = first < 0x80 ? 0 : first & 0x7f;
  const from = position + 2 + more;
  return { from, to: from + (more === 0 ? first : der.readUIntBE(position + 2, more)) };
}

/** What a PKCS #7 signature signs, without its header, as Authenticode hashes it. */
function signedContent(signature: Buffer): Buffer {
  const inside = (position: number): number => readDer(signature, position).from;
  const after = (position: number): number => readDer(signature, position).to;
  // ContentInfo: type and content; SignedData: version, digest algorithms, and a ContentInfo with what is signed.
  const signedData = inside(after(inside(0)));
  const contentInfo = after(after(inside(signedData)));
  const { from, to } = readDer(signature, inside(after(inside(contentInfo))));
  return signature.subarray(from, to);
}

test('node.exe for Windows is what the OpenJS Foundation signed', async ({ skip }) => {
  const missing = lacking('openssl');
  skip(missing !== null, missing ?? '');
  const program = readFileSync(await nodeProgram());
  const { signature, sha256 } = signedParts(program);
  const content = signedContent(signature);
  expect(content.includes(sha256)).toBe(true);
  const folder = newFolder();
  const [der, signed] = [join(folder, 'signature.der'), join(folder, 'content')];
  writeFileSync(der, signature);
  const verified = (of: Buffer): boolean => {
    writeFileSync(signed, of);
    // The certificates themselves end at a root that Debian does not have.
    const args = ['smime', '-verify', '-noverify', '-binary', '-inform', 'DER', '-in', der, '-content', signed];
    return spawnSync('openssl', args).status === 0;
  };
  expect(verified(content)).toBe(true);
  expect(verified(Buffer.alloc(content.length))).toBe(false);
  expect(printed('openssl', ['pkcs7', '-inform', 'DER', '-in', der, '-print_certs', '-noout'])).toMatch(
    /subject=.*O ?= ?OpenJS Foundation/,
  );
  const changed = Buffer.from(program);
  changed[100_000] = (changed[100_000] ?? 0) ^ 1;
  expect(content.includes(signedParts(changed).sha256)).toBe(false);
});
