import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { handlerOn } from '../../src/cli/extension/open-handler.ts';
import { uninstallHandler } from '../../src/extension/commands.ts';
import { enableHandler } from '../../src/extension/enable.ts';
import { alone } from '../../src/service/installer-lock.ts';
import type { Refusal } from '../../src/service/refusals.ts';
import { refusalOf, treeOf } from '../service/harness.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { createSite, settings, zipOf } from './site.ts';

const ready = { code: 0, message: 'Ready' };

const zips = {
  one: await zipOf('1.0.0'),
  two: await zipOf('1.1.0'),
  dying: await zipOf('1.2.0', { behaviour: 'dies' }),
};

/** The configuration that the service reads. */
const configurationOf = ({ harness }: ReturnType<typeof createSite>): unknown =>
  JSON.parse(readFileSync(harness.places.configuration, 'utf8'));

test('an update switches in the command update, and no other command of it changes anything', async () => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings('a'));
  writeFileSync(join(harness.places.state, 'outbox'), 'records');
  agent.takeCalls();
  expect(await agent.apply('1.1.0', zips.two, settings('b'))).toEqual(ready);
  expect(agent.takeCalls()).toEqual([
    'disable 1.0.0',
    'update 1.1.0',
    'uninstall 1.0.0',
    'install 1.1.0',
    'enable 1.1.0',
  ]);
  expect(harness.runs()).toContain('1.1.0');
  expect(configurationOf(site)).toEqual(settings('b').publicSettings);
  expect(readFileSync(join(harness.places.state, 'outbox'), 'utf8')).toBe('records');
  expect(agent.status('1.1.0')).toMatchObject({ status: 'success' });
  expect(harness.calls().filter((verb) => verb === 'restart')).toHaveLength(2);
  expect(agent.log()).toMatch(/Everything is kept: the service belongs to version 1\.1\.0/);
  expect(readdirSync(join(harness.root, 'run')).filter((name) => name.includes('extension'))).toEqual([]);
});

test('an update with the settings of before needs no new status', async () => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings('a'));
  await agent.apply('1.1.0', zips.two, settings('a'));
  expect(harness.runs()).toContain('1.1.0');
  expect(agent.status('1.1.0', 1)).toMatchObject({ status: 'success' });
});

const failingUpdates = [
  { name: 'a version that does not become ready', zip: 'dying', given: settings('a'), code: 22 },
  { name: 'settings that are wrong', zip: 'two', given: { publicSettings: { sinks: {} } }, code: 53 },
] as const;

test.for(failingUpdates)('after an update with $name the old version runs again', async ({ zip, given, code }) => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings('a'));
  writeFileSync(join(harness.places.state, 'outbox'), 'records');
  agent.takeCalls();
  const version = zip === 'dying' ? '1.2.0' : '1.1.0';
  const { code: reported, message } = await agent.apply(version, zips[zip], given);
  expect([reported, message]).toEqual([1008, expect.stringContaining(`Non-zero exit code: ${code}`)]);
  expect(agent.takeCalls()).toEqual(['disable 1.0.0', `update ${version}`]);
  expect(harness.runs()).toContain('1.0.0');
  // Its target is below another root.
  expect(lstatSync(harness.places.desired).isSymbolicLink()).toBe(true);
  expect(configurationOf(site)).toEqual(settings('a').publicSettings);
  expect(existsSync(join(harness.places.state, 'outbox'))).toBe(true);
  const { operation, formattedMessage, ...status } = agent.status(version);
  expect([operation, status]).toEqual(['Update', expect.objectContaining({ status: 'error', code })]);
  expect(message).toContain(formattedMessage.message.split('\n')[0]);
  // The next goal state: what was wrong is repaired.
  expect(await agent.apply('1.1.0', zips.two, settings('b'))).toEqual(ready);
  expect(harness.runs()).toContain('1.1.0');
});

test('an update that failed and is repeated with the same settings ends with their success', async () => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings('a'));
  const number = agent.number();
  Object.assign(harness.machine, { system: harness.machineWith({ freeForVersions: 0 }).system });
  expect(await agent.apply('1.1.0', zips.two, settings('a'), number)).toMatchObject({ code: 1008 });
  expect(agent.status('1.1.0')).toMatchObject({ operation: 'Update', status: 'error', code: 52 });
  Object.assign(harness.machine, { system: harness.machineWith({}).system });
  expect(await agent.again('1.1.0')).toEqual(ready);
  expect(agent.status('1.1.0')).toMatchObject({ operation: 'Enable', status: 'success', code: 0 });
});

test('a removal after an update that was cut off, whose handler the agent has removed, leaves nothing', async () => {
  let stops = false;
  using site = createSite({
    before: ({ line }) => {
      if (stops && line.endsWith('uninstall')) throw new Error('the agent stops here');
    },
  });
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings('a'));
  stops = true;
  await expect(agent.apply('1.1.0', zips.two, settings('b'))).rejects.toThrow('the agent stops here');
  stops = false;
  // It could not unpack the new version again, removed it, and Azure deletes the extension.
  rmSync(agent.folderOf('1.1.0'), { recursive: true });
  agent.takeCalls();
  expect(await agent.remove('1.0.0')).toEqual(ready);
  expect(agent.takeCalls()).toEqual(['uninstall 1.0.0']);
  expect(harness.runs()).toBeNull();
});

test('a pre-check of an update that fails leaves the old version as it was', async () => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings('a'));
  Object.assign(harness.machine, { system: harness.machineWith({ freeForVersions: 0, glibc: '2.28' }).system });
  expect(await agent.apply('1.1.0', zips.two, settings('a'))).toMatchObject({ code: 1008 });
  expect(agent.last().code).toBe(52);
  expect(harness.runs()).toContain('1.0.0');
});

test('a downgrade, in which the newer handler updates, goes to the older version and its settings', async () => {
  let ranAtUninstall: string | null = null;
  using site = createSite({
    before: ({ line }) => {
      if (line.endsWith('uninstall')) ranAtUninstall = harness.runs();
    },
  });
  const { agent, harness } = site;
  await agent.apply('1.1.0', zips.two, settings('a'));
  agent.takeCalls();
  expect(await agent.apply('1.0.0', zips.one, settings('b'))).toEqual(ready);
  expect(agent.takeCalls()).toEqual([
    'disable 1.1.0',
    'update 1.1.0',
    'uninstall 1.1.0',
    'install 1.0.0',
    'enable 1.0.0',
  ]);
  expect(harness.runs()).toContain('1.0.0');
  expect(configurationOf(site)).toEqual(settings('b').publicSettings);
  // What can fail was done while the newer handler still existed.
  expect(ranAtUninstall).toContain('1.0.0');
});

test('the agent may start again after each step', async () => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings('a'));
  for (const step of [
    () => agent.apply('1.0.0', zips.one, settings('b')),
    () => agent.apply('1.1.0', zips.two, settings('b')),
    () => agent.apply('1.1.0', zips.two, settings('c')),
  ]) {
    expect(await step()).toEqual(ready);
    const version = harness.runs()?.split(' ')[1] ?? '';
    const statusMs = agent.statusMs(version);
    harness.forgetCalls();
    expect(await agent.restart(version)).toEqual(ready);
    expect([harness.calls(), agent.statusMs(version)]).toEqual([[], statusMs]);
  }
});

// After a boot the marker of the update is gone.
test.for([
  { n: 1, boots: false },
  { n: 2, boots: false },
  { n: 3, boots: true },
  { n: 4, boots: true },
  { n: 5, boots: false },
])(
  'an agent that stops before command $n of an update takes it up again, after a boot: $boots',
  async ({ n, boots }) => {
    let left = Number.POSITIVE_INFINITY;
    using site = createSite({
      before: () => {
        left -= 1;
        if (left === 0) throw new Error('the agent stops here');
      },
    });
    const { agent, harness } = site;
    await agent.apply('1.0.0', zips.one, settings('a'));
    writeFileSync(join(harness.places.state, 'outbox'), 'records');
    left = n;
    await expect(agent.apply('1.1.0', zips.two, settings('b'))).rejects.toThrow('the agent stops here');
    if (boots) rmSync(join(harness.root, 'run/scheduled-events-bridge-extension-update.json'));
    expect(await agent.again('1.1.0')).toEqual(ready);
    expect(harness.runs()).toContain('1.1.0');
    expect(configurationOf(site)).toEqual(settings('b').publicSettings);
    expect(readFileSync(join(harness.places.state, 'outbox'), 'utf8')).toBe('records');
    expect(agent.status('1.1.0')).toMatchObject({ status: 'success' });
  },
);

test('a removal leaves nothing', async () => {
  using site = createSite();
  const { agent, harness } = site;
  const before = treeOf(harness.root);
  await agent.apply('1.0.0', zips.one, settings('a'));
  await agent.apply('1.1.0', zips.two, settings('b'));
  writeFileSync(join(harness.places.state, 'outbox'), 'records');
  agent.takeCalls();
  expect(await agent.remove('1.1.0')).toEqual(ready);
  expect(agent.takeCalls()).toEqual(['disable 1.1.0', 'uninstall 1.1.0']);
  rmSync(join(harness.root, 'var/log'), { recursive: true });
  const parents = /^\/(usr|var|etc\/systemd).*|^\/usr$/;
  const left = Object.keys(treeOf(harness.root)).filter((path) => !(path in before) && !parents.test(path));
  expect(left).toEqual([]);
  expect(harness.runs()).toBeNull();
});

test.for([
  { name: 'done', killed: 'uninstall' },
  { name: 'killed in the middle', killed: 'update' },
])('the version before, with the same settings, replaces an update that was $name', async ({ killed }) => {
  let stops = false;
  using site = createSite({
    before: ({ line }) => {
      if (stops && line.endsWith(` ${killed}`)) throw new Error('the agent stops here');
    },
  });
  const { agent, harness } = site;
  const number = await agent.apply('1.0.0', zips.one, settings('a')).then(() => agent.number());
  stops = true;
  await expect(agent.apply('1.1.0', zips.two, settings('a'), number)).rejects.toThrow('the agent stops here');
  if (killed === 'update') {
    // It has switched and started, and did not see it become ready.
    const ready = JSON.parse(readFileSync(harness.places.record, 'utf8'));
    await harness.install({ from: join(agent.folderOf('1.1.0'), 'package') });
    writeFileSync(harness.places.record, JSON.stringify({ ...ready, isSettled: false }));
  }
  expect(harness.runs()).toContain('1.1.0');
  stops = false;
  await harness.clock.sleep(7_200_000);
  expect(await agent.apply('1.0.0', zips.one, settings('a'), number)).toEqual(ready);
  expect(harness.runs()).toContain('1.0.0');
});

test.for(['with', 'without'])(
  'an enable that waits while the extension is removed installs nothing, %s the folder of its handler',
  async (folderOf) => {
    using site = createSite();
    const { agent, harness } = site;
    await agent.apply('1.0.0', zips.one, settings('a'));
    const folder = agent.folderOf('1.0.0');
    rmSync(join(folder, 'mrseq'));
    const env = { ...harness.env, ConfigSequenceNumber: `${agent.number()}` };
    const clock = createFakeClock();
    const waiting = await handlerOn({ ...harness.machine, clock }, folder, env);
    const failureOf = () => ({ code: 22, message: '' });
    let ended: Promise<Refusal> | undefined;
    await alone(harness.places.lock, { clock: harness.clock, timeoutMs: 0 }, async () => {
      ended = refusalOf(enableHandler(waiting, failureOf));
      await until(() => clock.sleepers() > 0);
    });
    // The guest agent that started it was ended. The next one removes the extension, at last its folder.
    if (folderOf === 'with') await uninstallHandler(await handlerOn(harness.machine, folder, env));
    else await agent.remove('1.0.0');
    await clock.advance(1_000);
    expect((await ended)?.message).toMatch(/^The extension was removed while this command waited/);
    expect([harness.runs(), existsSync(harness.places.home)]).toEqual([null, false]);
  },
);

test('disable stops the service, and the next enable starts it', async () => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings('a'));
  await agent.remove('1.0.0');
  expect(await agent.apply('1.0.0', zips.one, settings('a'))).toEqual(ready);
  expect(harness.runs()).toContain('1.0.0');
});

test('a removal of what was never installed succeeds', async () => {
  using site = createSite({ facts: { isArc: true } });
  const { agent } = site;
  await agent.apply('1.0.0', zips.one, settings('a'));
  expect(await agent.remove('1.0.0')).toEqual(ready);
  expect(agent.last()).toMatchObject({
    code: 0,
    stdout: 'The service is not installed.\n',
  });
});

test('the marker of an update that was cut off long ago does not keep the service', async () => {
  using site = createSite();
  const { agent, harness } = site;
  await agent.apply('1.0.0', zips.one, settings('a'));
  const marker = join(harness.root, 'run/scheduled-events-bridge-extension-update.json');
  writeFileSync(
    marker,
    JSON.stringify({
      version: '1.1.0',
      folder: agent.folderOf('1.0.0'),
      at: new Date(harness.clock.now().getTime() - 7_200_000),
    }),
  );
  await agent.remove('1.0.0');
  expect(harness.runs()).toBeNull();
  expect(existsSync(marker)).toBe(false);
});
