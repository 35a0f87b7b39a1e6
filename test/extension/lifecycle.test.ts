import { lstatSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createHarness as createOutboxHarness } from '../outbox/harness.ts';
import { treeOf } from '../service/harness.ts';
import { serveStatusOf } from '../support/served-status.ts';
import { createSite, settings, zipOf } from './site.ts';

const ready = { code: 0, message: 'Ready' };

const zips = { one: await zipOf('1.0.0') };

/** The configuration that the service reads. */
const configurationOf = ({ harness }: ReturnType<typeof createSite>): unknown =>
  JSON.parse(readFileSync(harness.places.configuration, 'utf8'));

test('a first deployment installs the service, and reports it', async () => {
  using site = createSite();
  const { agent, harness } = site;
  expect(await agent.apply('1.0.0', zips.one, settings())).toEqual(ready);
  expect(agent.takeCalls()).toEqual(['install 1.0.0', 'enable 1.0.0']);
  expect(harness.runs()).toContain('1.0.0');
  expect(configurationOf(site)).toEqual(settings().publicSettings);
  expect(lstatSync(harness.places.configuration).mode & 0o7777).toBe(0o640);
  const status = agent.status('1.0.0');
  expect(status).toMatchObject({ status: 'success', code: 0 });
  expect(status.formattedMessage.message).toBe('Version 1.0.0 runs and is ready. Status: Polling; no open events.');
  expect(status.substatus.map(({ name }) => name)).toEqual(['service']);
  expect(agent.last().stdout).toBe(`${status.formattedMessage.message}\n`);
});

test('the status has what the running service reports of itself', async () => {
  using site = createSite();
  const { agent, harness } = site;
  using store = createOutboxHarness();
  const outbox = store.open({ sinks: ['event-hubs', 'stdout'] });
  mkdirSync(harness.places.state);
  const served = await serveStatusOf(outbox, harness.places.state);
  try {
    expect(await agent.apply('1.0.0', zips.one, settings())).toEqual(ready);
  } finally {
    await served.close();
  }
  const { substatus } = agent.status('1.0.0');
  expect(substatus.map(({ name, status }) => [name, status])).toEqual([
    ['service', 'success'],
    ['imds', 'success'],
    ['eventHubs', 'success'],
    ['stdout', 'success'],
  ]);
  expect(substatus[0]?.formattedMessage.message).toBe('Version 1.2.3 runs.');
});

test('the command install changes nothing on the machine', async () => {
  using site = createSite({ facts: { isLive: false } });
  const { agent, harness } = site;
  const before = treeOf(harness.root);
  const { code, message } = await agent.apply('1.0.0', zips.one, settings());
  expect([code, agent.takeCalls()]).toEqual([1007, ['install 1.0.0']]);
  expect(message).toMatch(
    /^\[ExtensionOperationError\] Non-zero exit code: 51\n\[stdout\]\n\n\[stderr\]\nsystemd does not run/,
  );
  for (const name of ['/opt', '/etc', '/var/lib/scheduled-events-bridge'])
    expect(Object.entries(treeOf(harness.root)).filter(([path]) => path.startsWith(name))).toEqual(
      Object.entries(before).filter(([path]) => path.startsWith(name)),
    );
});

test('a damaged package is refused by install', async () => {
  using site = createSite();
  const { agent } = site;
  await agent.apply('1.0.0', zips.one, settings());
  writeFileSync(join(agent.folderOf('1.0.0'), 'package/node'), '#!/bin/sh\n# damaged\n');
  writeFileSync(join(agent.folderOf('1.0.0'), 'config/HandlerState'), 'NotInstalled');
  const { code, message } = await agent.again('1.0.0');
  expect([code, message]).toEqual([
    1007,
    expect.stringMatching(/exit code: 52\n(.*\n)*The package in .* is damaged: node has/),
  ]);
});

test('with the same settings again, as after each start of the agent, nothing is changed, the status included', async () => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings());
  const past = new Date('2026-01-01T00:00:00Z');
  utimesSync(agent.statusFile('1.0.0'), past, past);
  harness.forgetCalls();
  for (const _ of [1, 2]) expect(await agent.restart('1.0.0')).toEqual(ready);
  expect(harness.calls()).toEqual([]);
  expect(agent.statusMs('1.0.0')).toBe(past.getTime());
  expect(agent.last().stdout).toBe('The settings 0 were applied before, and the service runs.\n');
});

test('on a machine that was created from an image of another one, settings with the same number are applied', async () => {
  using site = createSite();
  const { agent } = site;
  await agent.apply('1.0.0', zips.one, settings('of the image'), 0);
  expect(await agent.apply('1.0.0', zips.one, settings('of this machine'), 0)).toEqual(ready);
  expect(configurationOf(site)).toEqual(settings('of this machine').publicSettings);
  const encrypted = {
    ...settings('of this machine'),
    protectedSettingsCertThumbprint: site.certificate.place(),
    protectedSettings: site.certificate.encrypt('{"observer":{"vmName":"secret"}}'),
  };
  expect(await agent.apply('1.0.0', zips.one, encrypted, 0)).toEqual(ready);
  expect(JSON.stringify(configurationOf(site))).toContain('"secret"');
});

test('the number that a version before has stored, without a hash, counts', async () => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings());
  writeFileSync(join(agent.folderOf('1.0.0'), 'mrseq'), '0');
  harness.forgetCalls();
  expect(await agent.restart('1.0.0')).toEqual(ready);
  expect(harness.calls()).toEqual([]);
});

test('a service that was stopped is started again with the same settings', async () => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings());
  harness.stopService();
  expect(harness.runs()).toBeNull();
  expect(await agent.restart('1.0.0')).toEqual(ready);
  expect(harness.runs()).toContain('1.0.0');
});

test('a status that an attempt before has left is replaced, though the service runs', async () => {
  using site = createSite();
  const { agent } = site;
  await agent.apply('1.0.0', zips.one, settings());
  const file = agent.statusFile('1.0.0');
  for (const word of ['transitioning', 'error']) {
    writeFileSync(file, readFileSync(file, 'utf8').replace('"status":"success"', `"status":"${word}"`));
    expect(await agent.restart('1.0.0')).toEqual(ready);
    expect([word, agent.status('1.0.0').status]).toEqual([word, 'success']);
  }
});

test('a configuration that an administrator has edited is kept until new settings come', async () => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings());
  writeFileSync(harness.places.configuration, readFileSync(harness.configuration('edited')));
  await agent.restart('1.0.0');
  expect(JSON.stringify(configurationOf(site))).toContain('edited');
  await agent.apply('1.0.0', zips.one, settings('b'));
  expect(configurationOf(site)).toEqual(settings('b').publicSettings);
});

test('new settings restart the service with them', async () => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings('a'));
  harness.forgetCalls();
  agent.takeCalls();
  expect(await agent.apply('1.0.0', zips.one, settings('b'))).toEqual(ready);
  expect(agent.takeCalls()).toEqual(['enable 1.0.0']);
  expect(configurationOf(site)).toEqual(settings('b').publicSettings);
  expect(harness.calls()).toEqual(['reset-failed', 'restart']);
  expect(agent.status('1.0.0', 0)).toMatchObject({ status: 'success' });
  expect(agent.status('1.0.0', 1)).toMatchObject({ status: 'success' });
});

test('settings with which the service does not become ready are taken back, and reported', async () => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings('a'));
  const { code, message } = await agent.apply('1.0.0', zips.one, settings('b dies'));
  expect([code, message]).toEqual([1009, expect.stringContaining('Non-zero exit code: 22')]);
  expect(agent.status('1.0.0')).toMatchObject({ status: 'error', code: 22 });
  expect(agent.status('1.0.0').formattedMessage.message).toMatch(/Back to the configuration before, which is ready/);
  expect(harness.runs()).toContain('1.0.0');
  expect(configurationOf(site)).toEqual(settings('a').publicSettings);
});

test('without settings, and without a configuration on the machine, the message says what is missing', async () => {
  using site = createSite();
  const { agent } = site;
  expect(await agent.apply('1.0.0', zips.one, undefined)).toMatchObject({ code: 1009 });
  expect(agent.last()).toMatchObject({ code: 53, stderr: expect.stringMatching(/^The extension has no settings/) });
  expect(agent.status('1.0.0')).toMatchObject({ status: 'error', code: 53 });
  expect(await agent.apply('1.0.0', zips.one, settings())).toEqual(ready);
});

test.for([
  { name: 'an empty file', given: undefined },
  { name: 'null', given: { publicSettings: null, protectedSettings: null, protectedSettingsCertThumbprint: null } },
  { name: 'an empty object', given: { publicSettings: {} } },
])('without settings ($name), the configuration of the machine is used', async ({ given }) => {
  using site = createSite();
  const { agent, harness } = site;
  await harness.install({ from: harness.package('0.9.0'), configuration: harness.configuration('image') });
  expect(await agent.apply('1.0.0', zips.one, given)).toEqual(ready);
  expect(harness.runs()).toContain('1.0.0');
  expect(JSON.stringify(configurationOf(site))).toContain('image');
});

test('a service that was installed another way is taken over, with its state', async () => {
  using site = createSite();
  const { agent, harness } = site;
  await harness.install({ from: harness.package('0.9.0'), configuration: harness.configuration('image') });
  writeFileSync(join(harness.places.state, 'outbox'), 'records');
  expect(await agent.apply('1.0.0', zips.one, settings())).toEqual(ready);
  expect(agent.status('1.0.0').formattedMessage.message).toMatch(
    /ready, after 0\.9\.0\. .* The bridge was on this machine before: the extension has taken it over with its state, and removing the extension removes it\.$/,
  );
  expect(readFileSync(join(harness.places.state, 'outbox'), 'utf8')).toBe('records');
  expect(configurationOf(site)).toEqual(settings().publicSettings);
});

test('a missing connection to the metadata service is an error with 55, and the service stays', async () => {
  using site = createSite({ reach: () => ({ kind: 'no-connection', reason: 'No connection to 169.254.169.254:80.' }) });
  const { agent, harness } = site;
  expect(await agent.apply('1.0.0', zips.one, settings())).toMatchObject({ code: 1009 });
  expect(agent.last()).toMatchObject({ code: 55, stderr: expect.stringContaining('169.254.169.254:80') });
  expect(agent.status('1.0.0')).toMatchObject({ status: 'error', code: 55 });
  expect(harness.runs()).toContain('1.0.0');
});
