import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { makeCertificate } from '../../src/azure-simulator/certificate.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';

test('the server certificate is for localhost and the namespace, and signed by the authority whose PEM is written', async () => {
  const made = await makeCertificate();
  const authority = new X509Certificate(readFileSync(made.caFile));
  const server = new X509Certificate(made.cert);
  expect(authority.ca).toBe(true);
  expect(server.verify(authority.publicKey)).toBe(true);
  expect(server.checkHost('localhost')).toBe('localhost');
  expect(server.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(server.checkHost('simulated.servicebus.windows.net')).toBe('simulated.servicebus.windows.net');
  await made.remove();
  expect(existsSync(made.caFile)).toBe(false);
});

test('a directory keeps both, the key readable by its owner only, until they no longer fit', async () => {
  using directory = temporaryDirectory('certificate');
  const keyFile = join(directory.path, 'server-key.pem');
  const { key, cert, ca, remove } = await makeCertificate({ directory: directory.path });
  await remove();
  if (process.platform !== 'win32') expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  expect(await makeCertificate({ directory: directory.path })).toMatchObject({ key, cert, ca });

  const other = await makeCertificate({ directory: directory.path, host: 'vm.example' });
  expect(other.cert).not.toBe(cert);
  expect(new X509Certificate(other.cert).checkHost('vm.example')).toBe('vm.example');
  const byAddress = await makeCertificate({ directory: directory.path, host: '10.1.2.3' });
  expect(new X509Certificate(byAddress.cert).checkIP('10.1.2.3')).toBe('10.1.2.3');
  expect(new X509Certificate(byAddress.cert).checkIP('127.0.0.1')).toBe('127.0.0.1');

  writeFileSync(keyFile, key);
  const again = await makeCertificate({ directory: directory.path, host: '10.1.2.3' });
  expect(again.key, 'a key of another certificate').not.toBe(key);
  writeFileSync(join(directory.path, 'ca.pem'), 'torn');
  expect((await makeCertificate({ directory: directory.path })).ca).toContain('BEGIN CERTIFICATE');
});

test('a client that trusts several simulators reaches each', async () => {
  const [first, second] = await Promise.all([makeCertificate(), makeCertificate()]);
  await using server = createServer({ key: second.key, cert: second.cert }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', ca: [first.ca, second.ca] });
  await once(socket, 'secureConnect');
  expect(socket.authorized).toBe(true);
  socket.destroy();
  await Promise.all([first.remove(), second.remove()]);
});
