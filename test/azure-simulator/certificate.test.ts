import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeCertificate } from '../../src/azure-simulator/certificate.ts';

test('the server certificate is for localhost and signed by the authority whose PEM is written', async () => {
  const made = await makeCertificate();
  const authority = new X509Certificate(readFileSync(made.caFile));
  const server = new X509Certificate(made.cert);
  expect(authority.ca).toBe(true);
  expect(server.verify(authority.publicKey)).toBe(true);
  expect(server.checkHost('localhost')).toBe('localhost');
  expect(server.checkIP('127.0.0.1')).toBe('127.0.0.1');
  await made.remove();
  expect(existsSync(made.caFile)).toBe(false);
});
