import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Behaviour, createRig, refusalOf } from './rig.ts';

const neverReady: readonly { readonly name: string; readonly behaviour: Behaviour; readonly because: RegExp }[] = [
  { name: 'that ends at once', behaviour: 'dies', because: /it ended again and again, last with exit code 1/ },
  { name: 'that never says that it is up', behaviour: 'hangs', because: /it has not said for 90 s that it is up/ },
  { name: 'that says that it is up, and ends', behaviour: 'dies-when-up', because: /it does not stay up/ },
  { name: 'that is up and takes no question', behaviour: 'is-deaf', because: /it takes no question/ },
  { name: 'that finds its configuration wrong', behaviour: 'exits-78', because: /it finds its configuration wrong/ },
  { name: 'that cannot be executed', behaviour: 'exits-203', because: /it cannot be executed/ },
];

test.each(neverReady)('a version $name makes way for the one before', async ({ behaviour, because }) => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration('a') });
  mkdirSync(rig.places.state, { recursive: true });
  writeFileSync(join(rig.places.state, 'outbox.sqlite'), 'what waits');
  const { reason, message } = await refusalOf(
    rig.install({
      from: rig.package('2.0.0', { behaviour }),
      configuration: rig.configuration('b'),
      enable: 'as-it-is',
    }),
  );
  const [first = ''] = message.split('\n');
  expect(reason).toBe('notDone');
  expect(first).toMatch(because);
  expect(first).toMatch(/^Version 2\.0\.0 did not become ready: .* Back to version 1\.0\.0, which is ready/);
  expect(rig.said.join('\n')).toContain('Going back to version 1.0.0');
  expect(rig.runs()).toContain('1.0.0');
  expect(readFileSync(rig.places.configuration, 'utf8')).toContain('a becomes-ready');
  expect(readFileSync(rig.places.unit, 'utf8')).toContain('of version 1.0.0');
  expect(readFileSync(join(rig.places.state, 'outbox.sqlite'), 'utf8')).toBe('what waits');
});

test('after a configuration that was taken back none is left but the one that runs', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration('a') });
  await refusalOf(rig.install({ configuration: rig.configuration('b', 'dies') }));
  expect(readFileSync(rig.places.configuration, 'utf8')).toContain('a becomes-ready');
  expect(existsSync(rig.places.keptConfiguration)).toBe(false);
});

test('what the log of the version said last is told, one sentence a line', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration() });
  const { message } = await refusalOf(rig.install({ from: rig.package('2.0.0', { behaviour: 'exits-78' }) }));
  expect(message.split('\n').slice(1)).toEqual(['  The "disk" is gone.', '  a line of systemd']);
});

test('after a version that did not become ready the next one is compared with the one that runs', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration() });
  await refusalOf(rig.install({ from: rig.package('2.0.0', { behaviour: 'dies' }) }));
  expect(await rig.install({ from: rig.package('1.0.0') })).toMatchObject({ outcome: 'ready-already' });
  expect(await rig.install({ from: rig.package('2.1.0') })).toMatchObject({ outcome: 'becomes-ready', from: '1.0.0' });
  expect(readdirSync(rig.places.versions)).toEqual(['1.0.0', '2.1.0']);
});

test('a configuration that is right and with which the service does not become ready makes way for the one before', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration('a') });
  const { message } = await refusalOf(
    rig.install({ configuration: rig.configuration('b', 'dies'), enable: 'as-it-is' }),
  );
  expect(message).toMatch(
    /^With this configuration the service did not become ready: .* Back to the configuration before/,
  );
  expect(readFileSync(rig.places.configuration, 'utf8')).toContain('a becomes-ready');
  expect(rig.runs()).toContain('1.0.0');
});

test('a first version that does not become ready stays, and systemd goes on starting it', async () => {
  using rig = createRig();
  const { reason, message } = await refusalOf(
    rig.install({ from: rig.package('1.0.0', { behaviour: 'dies' }), configuration: rig.configuration() }),
  );
  expect(reason).toBe('notDone');
  expect(message).toMatch(/^Version 1\.0\.0 is installed and enabled, but it does not become ready: /);
  expect(existsSync(rig.places.record)).toBe(false);
  expect(await rig.install({ from: rig.package('1.0.1') })).toMatchObject({ outcome: 'becomes-ready' });
});

test('where the one before does not become ready either, both are told', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration() });
  rmSync(join(rig.places.versions, '1.0.0/scheduled-events-bridge.cjs'));
  writeFileSync(join(rig.places.versions, '1.0.0/scheduled-events-bridge.cjs'), 'dies\n');
  const { message } = await refusalOf(rig.install({ from: rig.package('2.0.0', { behaviour: 'dies' }) }));
  expect(message).toMatch(
    /^Version 2\.0\.0 did not become ready: .* Back to version 1\.0\.0, which does not become ready either: /,
  );
});

test('a version that runs and was never written down is gone back to as well', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration() });
  rmSync(rig.places.record);
  const { message } = await refusalOf(rig.install({ from: rig.package('2.0.0', { behaviour: 'dies' }) }));
  expect(message).toContain('Back to version 1.0.0, which is ready');
  expect(rig.runs()).toContain('1.0.0');
});

test('a package that turns out to be damaged or not to run here disturbs nothing of what runs', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration('a') });
  rig.forgetCalls();
  const damaged = rig.package('2.0.0');
  writeFileSync(join(damaged, 'LICENSE'), 'another one');
  const foreign = rig.package('3.0.0', { interpreter: '/no/such/loader' });
  for (const from of [damaged, foreign]) await refusalOf(rig.install({ from, configuration: rig.configuration('b') }));
  expect(rig.calls()).toEqual([]);
  expect(readdirSync(rig.places.versions)).toEqual(['1.0.0']);
  expect(readFileSync(rig.places.configuration, 'utf8')).toContain('a becomes-ready');
});

test('an update that cannot be finished is undone, and what runs is not disturbed', async () => {
  using rig = createRig();
  await rig.install({ from: rig.package('1.0.0'), configuration: rig.configuration('a') });
  rig.mark('reload-fails');
  rig.forgetCalls();
  const { reason, message } = await refusalOf(
    rig.install({ from: rig.package('2.0.0'), configuration: rig.configuration('b') }),
  );
  expect([reason, message]).toEqual([
    'notDone',
    expect.stringContaining('"systemctl daemon-reload" failed: Failed to reload'),
  ]);
  expect(rig.calls()).not.toContain('restart');
  expect(rig.runs()).toContain('1.0.0');
  expect(readlinkSync(rig.places.current)).toBe('versions/1.0.0');
  expect(readFileSync(rig.places.configuration, 'utf8')).toContain('a becomes-ready');
  expect(readFileSync(rig.places.unit, 'utf8')).toContain('of version 1.0.0');
});
