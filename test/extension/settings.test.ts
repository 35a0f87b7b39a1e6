import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hashOf, settingsIn } from '../../src/extension/settings.ts';
import { createSite, settings, zipOf } from './site.ts';

const ready = { code: 0, message: 'Ready' };

const zips = { one: await zipOf('1.0.0') };

/** The configuration that the service reads. */
const configurationOf = ({ harness }: ReturnType<typeof createSite>): unknown =>
  JSON.parse(readFileSync(harness.places.configuration, 'utf8'));

const broken = [
  {
    name: 'that are cut off',
    text: '{"runtimeSettings":[{"handlerSettings":{"publicSettings":{"sinks"',
    message: /are not JSON/,
  },
  { name: 'without handlerSettings', text: '{"runtimeSettings":[]}', message: /hold no handlerSettings/ },
  {
    name: 'whose thumbprint is a path',
    text: JSON.stringify({
      runtimeSettings: [
        { handlerSettings: { protectedSettings: 'AAAA', protectedSettingsCertThumbprint: '../../key' } },
      ],
    }),
    message: /not a SHA-1 thumbprint/,
  },
] as const;

test.for(broken)('settings $name are refused with 53, and the service runs on', async ({ text, message }) => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings('a'));
  await agent.apply('1.0.0', zips.one, settings('b'));
  writeFileSync(join(agent.folderOf('1.0.0'), 'config/1.settings'), text);
  rmSync(join(agent.folderOf('1.0.0'), 'mrseq'));
  expect(await agent.restart('1.0.0')).toMatchObject({ code: 1009 });
  expect(agent.last()).toMatchObject({ code: 53, stderr: expect.stringMatching(message) });
  expect(agent.status('1.0.0')).toMatchObject({ status: 'error', code: 53 });
  expect(harness.runs()).toContain('1.0.0');
});

test('settings that the agent has not written are reported with 53', async () => {
  using site = createSite();
  const { agent } = site;
  await agent.apply('1.0.0', zips.one, settings());
  for (const name of ['mrseq', 'config/0.settings']) rmSync(join(agent.folderOf('1.0.0'), name));
  expect(await agent.restart('1.0.0')).toMatchObject({ code: 1009 });
  expect(agent.status('1.0.0')).toMatchObject({ status: 'error', code: 53 });
  expect(agent.last().stderr).toContain('has not written the settings 0.settings');
});

test('settings that begin with a byte order mark are read', async () => {
  using site = createSite();
  const { agent } = site;
  await agent.apply('1.0.0', zips.one, settings());
  const file = join(agent.folderOf('1.0.0'), 'config/0.settings');
  writeFileSync(file, `\uFEFF${readFileSync(file, 'utf8')}`);
  rmSync(join(agent.folderOf('1.0.0'), 'mrseq'));
  expect(await agent.restart('1.0.0')).toEqual(ready);
});

test('a wrong configuration is refused with every problem, and names the settings that it is in', async () => {
  using site = createSite();
  const { agent } = site;
  const wrong = { publicSettings: { sinks: { stdout: {} }, imds: { polInterval: 1 }, log: { level: 'loud' } } };
  expect(await agent.apply('1.0.0', zips.one, wrong)).toMatchObject({ code: 1009 });
  const { code, stderr } = agent.last();
  expect(code).toBe(53);
  expect(stderr.split('\n')[0]).toMatch(
    /^The configuration in the settings of the extension has 2 problems: .*imds\.polInterval/,
  );
  expect(stderr).toContain('log.level is "loud" in the public settings');
});

const secret =
  'Endpoint=sb://contoso.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=c2VjcmV0LXNlY3JldA==';
const hub = { connectionString: secret, eventHubName: 'vm-lifecycle' };

/** Every file below a folder that contains this text. */
const filesWith = (folder: string, text: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text));

test('a secret in public settings is refused, and not repeated', async () => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, { publicSettings: { sinks: { eventHubs: hub } } });
  const { code, stderr } = agent.last();
  expect([code, stderr]).toEqual([
    53,
    'The configuration in the settings of the extension is wrong: sinks.eventHubs.connectionString is a secret, and others can read the public settings: expected it in the protected settings.',
  ]);
  expect(filesWith(harness.root, 'c2VjcmV0')).toEqual([join(agent.folderOf('1.0.0'), 'config/0.settings')]);
});

test.for(['-aes256', '-des3'])('protected settings are decrypted and merged (%s)', async (cipher) => {
  using site = createSite();
  const { agent, harness, certificate } = site;
  const protectedSettingsCertThumbprint = certificate.place();
  const protectedSettings = certificate.encrypt(JSON.stringify({ sinks: { eventHubs: hub, stdout: null } }), cipher);
  const given = { ...settings('a'), protectedSettings, protectedSettingsCertThumbprint };
  expect(await agent.apply('1.0.0', zips.one, given)).toEqual(ready);
  expect(configurationOf(site)).toEqual({ sinks: { stdout: {}, eventHubs: hub }, observer: { vmName: 'a' } });
  expect(filesWith(harness.root, 'c2VjcmV0')).toEqual([harness.places.configuration]);
});

test('protected settings alone are a configuration, also with a byte order mark', async () => {
  using site = createSite();
  const { agent, certificate } = site;
  const protectedSettingsCertThumbprint = certificate.place().toLowerCase();
  const protectedSettings = certificate.encrypt(`\uFEFF${JSON.stringify({ sinks: { eventHubs: hub } })}`);
  expect(
    await agent.apply('1.0.0', zips.one, { publicSettings: null, protectedSettings, protectedSettingsCertThumbprint }),
  ).toEqual(ready);
  expect(configurationOf(site)).toEqual({ sinks: { eventHubs: hub } });
});

test('protected settings are decrypted by openssl smime where cms fails, as it does with some ciphers in FIPS mode', async () => {
  using site = createSite();
  const { agent, harness, certificate } = site;
  const protectedSettingsCertThumbprint = certificate.place();
  const protectedSettings = certificate.encrypt(JSON.stringify({ sinks: { eventHubs: hub } }), '-des3');
  const openssl = `#!/bin/sh\n[ "$1" = smime ] || { echo 'Error reading' >&2; exit 4; }\nPATH=\${PATH#*:} exec openssl "$@"\n`;
  const [programs = ''] = (harness.env.PATH ?? '').split(':');
  writeFileSync(join(programs, 'openssl'), openssl, { mode: 0o755 });
  expect(
    await agent.apply('1.0.0', zips.one, { ...settings(), protectedSettings, protectedSettingsCertThumbprint }),
  ).toEqual(ready);
});

const undecryptable = [
  {
    name: 'to a certificate that the agent does not have',
    code: 53,
    message: /encrypted to the certificate .*does not have/,
  },
  { name: 'that are no message', code: 53, message: /cannot be decrypted with the certificate .*openssl/ },
  { name: 'with a content that is not JSON', code: 53, message: /^The protected settings are not JSON/ },
  { name: 'without openssl', code: 52, message: /program openssl is missing/ },
] as const;

test.for(undecryptable)('protected settings $name are refused with $code', async ({ name, code, message }) => {
  using site = createSite();
  const { agent, harness, certificate } = site;
  const thumbprint = certificate.place();
  const given = {
    ...settings(),
    protectedSettings:
      name === 'that are no message'
        ? Buffer.from('no message').toString('base64')
        : certificate.encrypt(
            name.includes('not JSON') ? `${secret} {` : JSON.stringify({ sinks: { eventHubs: hub } }),
          ),
    protectedSettingsCertThumbprint: name.startsWith('to a')
      ? thumbprint.replace(/^./, (d) => (d === '0' ? '1' : '0'))
      : thumbprint,
  };
  if (name === 'without openssl') Object.assign(harness.env, { PATH: (harness.env.PATH ?? '').split(':')[0] });
  expect(await agent.apply('1.0.0', zips.one, given)).toMatchObject({ code: 1009 });
  expect(agent.last()).toMatchObject({ code, stderr: expect.stringMatching(message) });
  expect(agent.status('1.0.0')).toMatchObject({ status: 'error', code });
  expect(filesWith(harness.root, 'c2VjcmV0')).toEqual([]);
});

test('a message about wrong protected settings has no value of them', async () => {
  using site = createSite();
  const { agent, harness, certificate } = site;
  const protectedSettingsCertThumbprint = certificate.place();
  const protectedSettings = certificate.encrypt(JSON.stringify({ log: { level: 'c2VjcmV0' } }));
  expect(
    await agent.apply('1.0.0', zips.one, { ...settings(), protectedSettings, protectedSettingsCertThumbprint }),
  ).toMatchObject({ code: 1009 });
  expect(agent.last()).toMatchObject({
    code: 53,
    stderr: expect.stringMatching(/log\.level in the protected settings is invalid \(value hidden\): expected /),
  });
  expect(filesWith(harness.root, 'c2VjcmV0')).toEqual([]);
});

test('equal settings have the same hash, and others do not', () => {
  const hash = (handlerSettings: object): string =>
    hashOf(settingsIn(JSON.stringify({ runtimeSettings: [{ handlerSettings }] })));
  const thumbprint = 'A'.repeat(40);
  const protectedOnes = { protectedSettings: 'AAAA', protectedSettingsCertThumbprint: thumbprint };
  const first = hash({ publicSettings: { a: 1, b: { c: [1, 2], d: 2 } }, ...protectedOnes });
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(hash({ ...protectedOnes, publicSettings: { b: { d: 2, c: [1, 2] }, a: 1 } })).toBe(first);
  const others = [
    { publicSettings: { a: 1, b: { c: [2, 1], d: 2 } }, ...protectedOnes },
    { publicSettings: { a: 1, b: { c: [1, 2], d: 2 } }, ...protectedOnes, protectedSettings: 'AAAB' },
    { publicSettings: { a: 1, b: { c: [1, 2], d: 2 } } },
    {},
  ].map(hash);
  expect(new Set([first, ...others]).size).toBe(5);
});
