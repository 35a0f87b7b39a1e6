import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Refusal } from '../../src/service/refusals.ts';
import { type Behaviour, createHarness, refusalOf } from './harness.ts';

const neverReady: readonly { readonly name: string; readonly behaviour: Behaviour; readonly because: RegExp }[] = [
  { name: 'that ends at once', behaviour: 'dies', because: /it ended again and again, last with exit code 1/ },
  { name: 'that never becomes ready', behaviour: 'hangs', because: /it has not said for 90 s that it is up/ },
  { name: 'that becomes ready and ends', behaviour: 'dies-when-up', because: /it does not stay up/ },
  { name: 'that becomes ready and answers nothing', behaviour: 'is-deaf', because: /it takes no question/ },
  { name: 'that finds its configuration invalid', behaviour: 'exits-78', because: /it finds its configuration wrong/ },
  { name: 'that cannot be executed', behaviour: 'exits-203', because: /it cannot be executed/ },
];

test.each(neverReady)('a version $name makes way for the one before', async ({ behaviour, because }) => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration('a') });
  mkdirSync(harness.places.state, { recursive: true });
  writeFileSync(join(harness.places.state, 'outbox.sqlite'), 'what waits');
  const { reason, message } = await refusalOf(
    harness.install({
      from: harness.package('2.0.0', { behaviour }),
      configuration: harness.configuration('b'),
      enable: 'as-it-is',
    }),
  );
  const [first = ''] = message.split('\n');
  expect(reason).toBe('notDone');
  expect(first).toMatch(because);
  expect(first).toMatch(/^Version 2\.0\.0 did not become ready: .* Back to version 1\.0\.0, which is ready/);
  expect(harness.said.join('\n')).toContain('Going back to version 1.0.0');
  expect(harness.runs()).toContain('1.0.0');
  expect(readFileSync(harness.places.configuration, 'utf8')).toContain('a becomes-ready');
  expect(readFileSync(harness.places.unit, 'utf8')).toContain('of version 1.0.0');
  expect(readFileSync(join(harness.places.state, 'outbox.sqlite'), 'utf8')).toBe('what waits');
});

test('after a rollback of the configuration only the running version is left', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration('a') });
  await refusalOf(harness.install({ configuration: harness.configuration('b', 'dies') }));
  expect(readFileSync(harness.places.configuration, 'utf8')).toContain('a becomes-ready');
  expect(existsSync(harness.places.keptConfiguration)).toBe(false);
});

test('the last log lines of the version are reported, one sentence a line', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  const { message } = await refusalOf(harness.install({ from: harness.package('2.0.0', { behaviour: 'exits-78' }) }));
  expect(message.split('\n').slice(1)).toEqual(['  The "disk" is gone.', '  a line of systemd']);
});

test('after a version that did not become ready the next one is compared with the one that runs', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  await refusalOf(harness.install({ from: harness.package('2.0.0', { behaviour: 'dies' }) }));
  expect(await harness.install({ from: harness.package('1.0.0') })).toMatchObject({ outcome: 'ready-already' });
  expect(await harness.install({ from: harness.package('2.1.0') })).toMatchObject({
    outcome: 'becomes-ready',
    from: '1.0.0',
  });
  expect(readdirSync(harness.places.versions)).toEqual(['1.0.0', '2.1.0']);
});

test('a configuration that is right and with which the service does not become ready makes way for the one before', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration('a') });
  const { message } = await refusalOf(
    harness.install({ configuration: harness.configuration('b', 'dies'), enable: 'as-it-is' }),
  );
  expect(message).toMatch(
    /^With this configuration the service did not become ready: .* Back to the configuration before/,
  );
  expect(readFileSync(harness.places.configuration, 'utf8')).toContain('a becomes-ready');
  expect(harness.runs()).toContain('1.0.0');
});

test('a first version that does not become ready stays, and systemd continues to start it', async () => {
  using harness = createHarness();
  const { reason, message } = await refusalOf(
    harness.install({ from: harness.package('1.0.0', { behaviour: 'dies' }), configuration: harness.configuration() }),
  );
  expect(reason).toBe('notDone');
  expect(message).toMatch(/^Version 1\.0\.0 is installed and enabled, but it does not become ready: /);
  expect(existsSync(harness.places.record)).toBe(false);
  expect(await harness.install({ from: harness.package('1.0.1') })).toMatchObject({ outcome: 'becomes-ready' });
});

test('when the previous version does not become ready either, both are reported', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  rmSync(join(harness.places.versions, '1.0.0/scheduled-events-bridge.cjs'));
  writeFileSync(join(harness.places.versions, '1.0.0/scheduled-events-bridge.cjs'), 'dies\n');
  const { message } = await refusalOf(harness.install({ from: harness.package('2.0.0', { behaviour: 'dies' }) }));
  expect(message).toMatch(
    /^Version 2\.0\.0 did not become ready: .* Back to version 1\.0\.0, which does not become ready either: /,
  );
});

test('a running version without an entry in the installation record can be rolled back to', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  rmSync(harness.places.record);
  const { message } = await refusalOf(harness.install({ from: harness.package('2.0.0', { behaviour: 'dies' }) }));
  expect(message).toContain('Back to version 1.0.0, which is ready');
  expect(harness.runs()).toContain('1.0.0');
});

test('a package that turns out to be damaged or not to run here disturbs nothing of what runs', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration('a') });
  harness.forgetCalls();
  const damaged = harness.package('2.0.0');
  writeFileSync(join(damaged, 'LICENSE'), 'another one');
  const foreign = harness.package('3.0.0', { interpreter: '/no/such/loader' });
  for (const from of [damaged, foreign])
    await refusalOf(harness.install({ from, configuration: harness.configuration('b') }));
  expect(harness.calls()).toEqual([]);
  expect(readdirSync(harness.places.versions)).toEqual(['1.0.0']);
  expect(readFileSync(harness.places.configuration, 'utf8')).toContain('a becomes-ready');
});

test('an update that cannot be finished is undone, and what runs is not disturbed', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration('a') });
  harness.mark('reload-fails');
  harness.forgetCalls();
  const { reason, message } = await refusalOf(
    harness.install({ from: harness.package('2.0.0'), configuration: harness.configuration('b') }),
  );
  expect([reason, message]).toEqual([
    'notDone',
    expect.stringContaining('"systemctl daemon-reload" failed: Failed to reload'),
  ]);
  expect(harness.calls()).not.toContain('restart');
  expect(harness.runs()).toContain('1.0.0');
  expect(readlinkSync(harness.places.current)).toBe('versions/1.0.0');
  expect(readFileSync(harness.places.configuration, 'utf8')).toContain('a becomes-ready');
  expect(readFileSync(harness.places.unit, 'utf8')).toContain('of version 1.0.0');
});

test('an order that is withdrawn before the switch of versions changes nothing that runs', async () => {
  using harness = createHarness();
  const { places } = harness;
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration('a') });
  const refusal = new Refusal('notDone', 'It is no longer requested.');
  const withdrawn = () => (existsSync(join(places.versions, '2.0.0')) ? refusal : null);
  const from = harness.package('2.0.0');
  expect(await refusalOf(harness.install({ from, configuration: harness.configuration('b'), withdrawn }))).toBe(
    refusal,
  );
  expect(harness.runs()).toContain('1.0.0');
  expect(readlinkSync(places.current)).toBe('versions/1.0.0');
  expect(readFileSync(places.configuration, 'utf8')).toContain('a becomes-ready');
  expect(JSON.parse(readFileSync(places.record, 'utf8')).refused).toBeNull();
});
