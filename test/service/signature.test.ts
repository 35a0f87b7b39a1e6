import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createHarness, type Harness, refusalOf, treeOf } from './harness.ts';

const [builder, stranger] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const publicPem = (key: KeyObject): string => key.export({ format: 'pem', type: 'spki' }).toString();

const signatureIn = (from: string) => join(from, 'manifest.json.sig');

/** A package that the builder has signed. */
function signedPackage(harness: Harness, version = '2.0.0'): string {
  const from = harness.package(version);
  writeFileSync(signatureIn(from), sign(null, readFileSync(join(from, 'manifest.json')), builder.privateKey));
  return from;
}

test('with a key a package of its owner is installed, and its signature is required each time', async () => {
  using harness = createHarness();
  const key = harness.file('key.pem', publicPem(builder.publicKey));
  const order = { from: signedPackage(harness), key, configuration: harness.configuration() };
  expect(await harness.install(order)).toMatchObject({ outcome: 'becomes-ready', folder: '2.0.0' });
  rmSync(signatureIn(order.from));
  expect(await refusalOf(harness.install(order))).toMatchObject({ reason: 'missing' });
});

const foreign: readonly { name: string; spoil: (from: string) => void; message: RegExp }[] = [
  { name: 'has no signature', spoil: (from) => rmSync(signatureIn(from)), message: /manifest\.json\.sig is missing/ },
  {
    name: 'has the signature of another key',
    spoil: (from) =>
      writeFileSync(signatureIn(from), sign(null, readFileSync(join(from, 'manifest.json')), stranger.privateKey)),
    message: /is not by the owner of this key/,
  },
  {
    name: 'was changed after it was signed',
    spoil: (from) => {
      const manifest = join(from, 'manifest.json');
      writeFileSync(manifest, `${readFileSync(manifest, 'utf8')}\n`);
    },
    message: /is not by the owner of this key/,
  },
  {
    name: 'has an invalid signature',
    spoil: (from) => writeFileSync(signatureIn(from), 'x'),
    message: /not by the owner/,
  },
];

test.each(foreign)(
  'with a key a package that $name is refused before any change',
  async ({ spoil, message: expected }) => {
    using harness = createHarness();
    await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
    const key = harness.file('key.pem', publicPem(builder.publicKey));
    const from = signedPackage(harness);
    spoil(from);
    const before = treeOf(harness.root);
    harness.forgetCalls();
    const { reason, message } = await refusalOf(
      harness.install({ from, key, configuration: harness.configuration('b') }),
    );
    expect([reason, message]).toEqual(['missing', expect.stringMatching(expected)]);
    expect(message.split('\n')).toHaveLength(1);
    expect([treeOf(harness.root), harness.calls()]).toEqual([before, []]);
  },
);

const uselessKeys: readonly { name: string; text: string | null; message: RegExp }[] = [
  { name: 'is not there', text: null, message: /ENOENT/ },
  { name: 'is no PEM', text: 'key', message: /holds no key in PEM/ },
  { name: 'is of another kind', text: publicPem(rsa.publicKey), message: /of the kind rsa/ },
  {
    name: 'is the private one',
    text: builder.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    message: /private key, which is to stay/,
  },
];

test.each(uselessKeys)('a key that $name is refused, and so is the package', async ({ text, message: expected }) => {
  using harness = createHarness();
  const key = text === null ? join(harness.root, 'gone.pem') : harness.file('key.pem', text);
  const { reason, message } = await refusalOf(harness.install({ from: signedPackage(harness), key }));
  expect([reason, message]).toEqual(['missing', expect.stringMatching(expected)]);
});
