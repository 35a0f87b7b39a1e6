import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contentsOf } from '../../../infra/package/contents.ts';
import { extensionName, extensionZip, isExtensionVersion } from '../../../infra/package/extension.ts';
import { type PlatformName, platformNames, platforms } from '../../../infra/package/platforms.ts';
import { readZip } from '../../extension/read-zip.ts';
import { root } from '../../support/source-tree.ts';
import { moment, smallProgram, smallRuntime } from './harness.ts';

async function filesFor(platform: PlatformName): Promise<ReadonlyMap<string, Buffer>> {
  const contents = contentsOf({
    platform,
    program: smallProgram,
    runtime: smallRuntime,
    serviceHost: Buffer.from('MZ'),
    at: moment,
    key: null,
  });
  return readZip(await extensionZip(contents, { platform, at: moment }));
}

/** https://github.com/Azure/azure-vmextension-publishing/wiki/2.0-Partner-Guide-Handler-Design-Details */
const commands = ['install', 'enable', 'disable', 'update', 'uninstall'];

test.for(platformNames)('the extension of %s has a manifest whose commands are in the zip', async (platform) => {
  const files = await filesFor(platform);
  const text = `${files.get('HandlerManifest.json')}`;
  expect(text).toContain('"version": 1.0,');
  const [entry, ...others] = JSON.parse(text);
  expect(others).toEqual([]);
  const { handlerManifest, ...rest } = entry;
  // A quota for the handler would slow it down, and a service that is listed without one loses its own.
  expect(rest).toEqual({ name: 'ScheduledEventsBridge', version: 1 });
  for (const name of commands) {
    const [script = '', verb, ...more] = String(handlerManifest[`${name}Command`]).split(' ');
    expect([verb, more]).toEqual([name, []]);
    expect(files.has(script.replaceAll('\\', '/')), script).toBe(true);
    delete handlerManifest[`${name}Command`];
  }
  expect(handlerManifest).toEqual({
    rebootAfterInstall: false,
    reportHeartbeat: false,
    updateMode: 'UpdateWithInstall',
    continueOnUpdateFailure: false,
    supportsMultipleExtensions: false,
  });
});

test.for(platformNames)('the extension of %s contains the package', async (platform) => {
  const files = await filesFor(platform);
  const listed: { readonly files: readonly { readonly path: string; readonly bytes: number }[] } = JSON.parse(
    `${files.get('package/manifest.json')}`,
  );
  for (const { path, bytes } of listed.files)
    expect([path, files.get(`package/${path}`)?.length]).toEqual([path, bytes]);
  expect(files.has(`package/${platforms[platform].program}`)).toBe(true);
});

test.for([
  { version: '1.2.3', fits: true },
  { version: '0.1.0', fits: true },
  { version: '1.2.3-rc.1', fits: false },
  { version: '1.2', fits: false },
])('Azure accepts the version $version: $fits', ({ version, fits }) => {
  expect(isExtensionVersion(version)).toBe(fits);
  expect(extensionName({ version, platform: 'linux-x64' })).toBe(
    `scheduled-events-bridge-${version}-linux-x64-extension.zip`,
  );
});

test('the script for Windows has line ends that cmd.exe reads, quotes its paths and keeps the exit code', async () => {
  const script = `${(await filesFor('win-x64')).get('bin/handler.cmd')}`;
  expect(script.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  const lines = script.trimEnd().split('\r\n');
  expect(lines[0]).toBe('@echo off');
  expect(lines.slice(-2)).toEqual([
    'call "%folder%\\package\\scheduled-events-bridge.cmd" extension %1 --folder "%folder%"',
    'exit /b %ERRORLEVEL%',
  ]);
});

test.for([[], ['status']])('the script for Linux says who uses it and how, if it is run with %j', (args) => {
  const { status, stderr } = spawnSync('sh', [join(root, 'infra/extension/handler'), ...args], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/^Usage: .*handler install\|enable\|.*guest agent runs this; people run .* service\.\n$/),
  ]);
});
