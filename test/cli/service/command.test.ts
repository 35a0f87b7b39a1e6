import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { exitCodes } from '../../../src/cli/exit-codes.ts';
import { addServiceOf } from '../../../src/cli/service/command.ts';
import { checkConfiguration, pathOf } from '../../../src/cli/service/machine.ts';
import { orFail } from '../../../src/cli/service/refused.ts';
import { createHarness, type Harness } from '../../service/harness.ts';
import { type Ended, runVerb } from '../outbox/command-line.ts';

/** Runs a verb of `service` on the machine of a rig. */
async function service(
  harness: Harness,
  ...args: readonly string[]
): Promise<Ended & { readonly code: number; readonly said: string }> {
  harness.said.length = 0;
  const ended = await runVerb(
    addServiceOf(async () => harness.machine),
    ['service', ...args],
  );
  const code = ended.reason === null ? 0 : ended.reason === 'commander' ? 2 : exitCodes[ended.reason].code;
  return { ...ended, code, said: [...harness.said, ended.out].join('\n') };
}

test('service install reports that the service is ready, and that restarts may take longer from now on', async () => {
  using harness = createHarness();
  const { code, said } = await service(
    harness,
    'install',
    '--from',
    harness.package('1.0.0'),
    '--config',
    harness.configuration(),
  );
  expect(code).toBe(0);
  expect(said).toContain('Version 1.0.0 runs and is ready. Status: Polling; no open events.');
  expect(said).toMatch(/From now on restarts .* that users request may wait up to 15 minutes/);
});

test('service install in an image starts nothing', async () => {
  using harness = createHarness({ facts: { isLive: false } });
  const { code, said } = await service(
    harness,
    'install',
    '--from',
    harness.package('1.0.0'),
    '--config',
    harness.configuration(),
    '--no-start',
  );
  expect([code, said]).toEqual([0, expect.stringContaining('starts at the next boot')]);
  expect(said).toMatch(/From its first start on restarts .* may wait up to 15 minutes/);
  expect(harness.runs()).toBeNull();
});

test('a delay of restarts is reported by an update that is the first installation, and not where restarts are not delayed yet', async () => {
  using harness = createHarness();
  const waiting = await service(harness, 'install', '--from', harness.package('1.0.0'));
  expect(waiting.said).toMatch(/^Version 1\.0\.0 is installed, and waits for its configuration/);
  expect(waiting.said).not.toContain('15 minutes');
  await service(harness, 'uninstall');
  const first = await service(
    harness,
    'update',
    '--from',
    harness.package('2.0.0'),
    '--config',
    harness.configuration(),
  );
  expect(first.said).toContain('15 minutes');
  const second = await service(harness, 'update', '--from', harness.package('3.0.0'));
  expect(second.said).not.toContain('15 minutes');
  expect((await service(harness, 'install', '--from', harness.package('3.0.0'))).said).toContain('15 minutes');
});

test('service update, configure, disable and enable report their result', async () => {
  using harness = createHarness();
  await service(harness, 'install', '--from', harness.package('1.0.0'));
  expect((await service(harness, 'configure', '--config', harness.configuration('a'))).said).toContain(
    'Version 1.0.0 runs and is ready.',
  );
  expect((await service(harness, 'update', '--from', harness.package('2.0.0'))).said).toContain(
    'Version 2.0.0 runs and is ready, after 1.0.0.',
  );
  expect((await service(harness, 'update', '--from', harness.package('2.0.0'))).said).toContain('nothing was changed');
  expect((await service(harness, 'disable')).said).toContain('does not start at boot');
  expect((await service(harness, 'update', '--from', harness.package('3.0.0'))).said).toContain(
    'was disabled and stays so',
  );
  expect((await service(harness, 'enable')).said).toContain('Version 3.0.0 runs and is ready.');
});

test('service uninstall reports that Scheduled Events stays on for a day, until when, and what is kept', async () => {
  using harness = createHarness();
  await service(harness, 'install', '--from', harness.package('1.0.0'), '--config', harness.configuration());
  const { code, said } = await service(harness, 'uninstall', '--keep-state');
  expect(code).toBe(0);
  expect(said).toMatch(/after 24 h without a request, at about 2026-01-02 12:0\d UTC/);
  expect(said).toMatch(/state is kept in .*scheduled-events-bridge, .*: the next installation continues with it\./);
  const again = await service(harness, 'uninstall');
  expect([again.code, again.said]).toEqual([
    0,
    expect.stringMatching(/^The service is not installed\.\nThe state in .* is removed/),
  ]);
});

const refused: readonly { name: string; facts: Parameters<typeof createHarness>[0]; code: number }[] = [
  { name: 'a machine without systemd', facts: { facts: { programs: [] } }, code: 51 },
  { name: 'a full disk', facts: { facts: { freeForState: 0 } }, code: 52 },
  { name: 'a user that is not root', facts: { facts: { isRoot: false } }, code: 22 },
];

test.each(refused)('service install on $name ends with its exit code and one clear line', async ({ facts, code }) => {
  using harness = createHarness(facts);
  const ended = await service(
    harness,
    'install',
    '--from',
    harness.package('1.0.0'),
    '--config',
    harness.configuration(),
  );
  expect([ended.code, ended.message.split('\n').length, ended.said.trim()]).toEqual([code, 1, '']);
});

test('service install with a wrong configuration ends with 53, service update with a version that is never ready with 22', async () => {
  using harness = createHarness();
  const wrong = harness.file('wrong.json', '{}');
  expect((await service(harness, 'install', '--from', harness.package('1.0.0'), '--config', wrong)).code).toBe(53);
  await service(harness, 'install', '--from', harness.package('1.0.0'), '--config', harness.configuration());
  const ended = await service(harness, 'update', '--from', harness.package('2.0.0', { behaviour: 'dies' }));
  expect([ended.code, ended.message]).toEqual([
    22,
    expect.stringMatching(/^Version 2\.0\.0 did not become ready: .*Back to version 1\.0\.0/),
  ]);
});

test('a service without a connection to the metadata service is installed; exit code 55 and the first line report it', async () => {
  const reason = 'No connection to http://169.254.169.254 was established within 10 s: check the firewall.';
  using harness = createHarness({ reach: () => ({ kind: 'no-connection', reason }) });
  const blind = [
    ['install', '--from', harness.package('1.0.0'), '--config', harness.configuration('a')],
    ['update', '--from', harness.package('2.0.0')],
    ['configure', '--config', harness.configuration('b')],
    ['enable'],
  ];
  for (const args of blind) {
    const { code, message, said } = await service(harness, ...args);
    expect([code, said.split('\n')[0]]).toEqual([55, expect.stringMatching(/^Version .\.0\.0 .*runs/)]);
    expect(message.split('\n')).toEqual([expect.stringContaining(reason)]);
    expect(message).toContain(
      '"sudo -u scheduled-events-bridge /opt/scheduled-events-bridge/current/scheduled-events-bridge check"',
    );
    expect(message).toMatch(/root may get through while the account scheduled-events-bridge does not/);
  }
  expect(await service(harness, 'status')).toMatchObject({
    code: 0,
    out: expect.stringContaining('starts at boot'),
  });
});

test('service status has a page and JSON, and fails when an enabled service does not run', async () => {
  using harness = createHarness();
  expect(await service(harness, 'status')).toMatchObject({ code: 4, out: 'The service is not installed here.\n' });
  await service(harness, 'install', '--from', harness.package('1.0.0'), '--config', harness.configuration());
  const page = await service(harness, 'status');
  expect(page.code).toBe(0);
  expect(page.out.split('\n')).toEqual([
    'scheduled-events-bridge 1.0.0',
    'The service is active (running), and starts at boot.',
    'Status: Polling; no open events.',
    'Configuration: /etc/scheduled-events-bridge/config.json.',
    '',
  ]);
  expect(JSON.parse((await service(harness, 'status', '--json')).out)).toMatchObject({
    installed: true,
    version: '1.0.0',
  });
  await harness.machine.ping(harness.places.state);
  harness.stopService();
  writeFileSync(harness.places.configuration, '{}');
  const stopped = await service(harness, 'status');
  expect([stopped.code, stopped.out]).toEqual([20, expect.stringContaining('is inactive (dead)')]);
  expect(stopped.out).toContain('is wrong: There is no sink');
  expect(stopped.out).toContain('This is not the version that last became ready');
});

test('system programs are found regardless of PATH, those in PATH first', () => {
  expect(pathOf({ PATH: '/mine:/usr/bin' })).toBe('/mine:/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin');
  for (const env of [{}, { PATH: '' }, { PATH: ':' }]) {
    expect(pathOf(env)).toBe('/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin');
  }
});

test('interrupting an installation reports that it continues, and it does', async () => {
  using harness = createHarness();
  const stop = new AbortController();
  const ping = (stateDirectory: string) => {
    stop.abort();
    return harness.machine.ping(stateDirectory);
  };
  const program = new Command().exitOverride();
  addServiceOf(async () => ({ ...harness.machine, ping }))(program, { env: {}, stop: stop.signal, print: () => {} });
  const args = ['service', 'install', '--from', harness.package('1.0.0'), '--config', harness.configuration()];
  await program.parseAsync(['node', 'main.ts', ...args]);
  expect(harness.said).toEqual([
    expect.stringMatching(/^Continuing to the end/),
    expect.stringContaining('Version 1.0.0 runs and is ready'),
    expect.anything(),
    expect.anything(),
  ]);
});

test.each(['disable', 'uninstall'])('interrupting service %s reports that it continues', async (verb) => {
  using harness = createHarness();
  await service(harness, 'install', '--from', harness.package('1.0.0'), '--config', harness.configuration());
  const stop = new AbortController();
  const { system } = harness.machine;
  const conditions = () => {
    stop.abort();
    return system.conditions();
  };
  const said: string[] = [];
  const machine = {
    ...harness.machine,
    system: { ...system, conditions },
    say: (sentence: string) => void said.push(sentence),
  };
  const program = new Command().exitOverride();
  addServiceOf(async () => machine)(program, { env: {}, stop: stop.signal, print: () => {} });
  await program.parseAsync(['node', 'main.ts', 'service', verb]);
  expect(said.slice(0, 2)).toEqual([
    expect.stringMatching(/^Continuing to the end/),
    expect.stringMatching(/^The service is stopped/),
  ]);
});

test('interrupting a finished command prints nothing', async () => {
  using harness = createHarness();
  await service(harness, 'install', '--from', harness.package('1.0.0'), '--config', harness.configuration());
  const stop = new AbortController();
  const program = new Command().exitOverride();
  addServiceOf(async () => harness.machine)(program, { env: {}, stop: stop.signal, print: () => {} });
  await program.parseAsync(['node', 'main.ts', 'service', 'disable']);
  stop.abort();
  expect(harness.said.at(-1)).toMatch(/^The service is stopped/);
});

test('service uninstall keeps the configuration on request, and does not promise that the account goes', async () => {
  using harness = createHarness();
  await service(harness, 'install', '--from', harness.package('1.0.0'), '--config', harness.configuration());
  const { code, said } = await service(harness, 'uninstall', '--keep-configuration');
  expect(code).toBe(0);
  expect(said).toMatch(/The state in \S+ is removed, with what was not delivered\.\n/);
  expect(said).toMatch(/The configuration is kept in \S+config\.json: the next installation runs with it\./);
});

test('service uninstall does not report an account as removed that is kept', async () => {
  using harness = createHarness();
  await service(harness, 'install', '--from', harness.package('1.0.0'), '--config', harness.configuration());
  harness.mark('account-stays');
  const { code, said } = await service(harness, 'uninstall');
  expect(code).toBe(0);
  expect(said).toMatch(/The state in \S+ is removed, with what was not delivered\.\n/);
  expect(said).toMatch(/The account \S+ could not be removed \(userdel: user is currently used by process 7\)/);
});

test('a package that its builder has not signed is refused with 52 where a key is given', async () => {
  using harness = createHarness();
  const { publicKey } = generateKeyPairSync('ed25519');
  const key = harness.file('key.pem', publicKey.export({ format: 'pem', type: 'spki' }).toString());
  for (const verb of ['install', 'update']) {
    const { code, message } = await service(harness, verb, '--from', harness.package('1.0.0'), '--key', key);
    expect([verb, code, message]).toEqual([verb, 52, expect.stringContaining('the package is not signed')]);
  }
});

test('a failing disk is reported in one line, with the exit code for a full disk when it is full', async () => {
  const failing = (code: string) => async () => {
    throw Object.assign(new Error(`${code}: open '/etc/x'`), { code, syscall: 'open' });
  };
  await expect(orFail(failing('ENOSPC'))).rejects.toMatchObject({
    reason: 'missing',
    message: expect.stringContaining('disk is full'),
  });
  await expect(orFail(failing('EROFS'))).rejects.toMatchObject({
    reason: 'notDone',
    message: expect.stringContaining("EROFS: open '/etc/x'"),
  });
  await expect(orFail(async () => Promise.reject(new TypeError('ours')))).rejects.toThrow(TypeError);
});

test('the help of each verb lists its exit codes in order, and 55 only where a service may be started', async () => {
  using harness = createHarness();
  const codes = async (verb: string) => {
    const { out } = await service(harness, verb, '--help');
    return [...out.matchAll(/^ {2}(\d+) {2}/gm)].map(([, code]) => Number(code));
  };
  for (const verb of ['install', 'update', 'configure', 'enable']) {
    expect([verb, await codes(verb)]).toEqual([verb, [0, 1, 2, 22, 51, 52, 53, 55, 56]]);
  }
  expect(await codes('disable')).not.toContain(55);
});

test('a package has to be named, and a configuration to configure', async () => {
  using harness = createHarness();
  for (const args of [['install'], ['update'], ['configure']]) expect((await service(harness, ...args)).code).toBe(2);
});

test('a configuration is validated without the environment of the command, and may contain secrets', () => {
  using harness = createHarness();
  const sinks = {
    eventHubs: {
      eventHubName: 'h',
      connectionString: 'Endpoint=sb://x/;SharedAccessKeyName=k;SharedAccessKey=c2VjcmV0',
    },
  };
  process.env.SCHEDULED_EVENTS_BRIDGE_SINKS_STDOUT = 'nonsense';
  try {
    expect(checkConfiguration(harness.file('secret.json', JSON.stringify({ sinks })))).toEqual({
      stateDirectory: '/var/lib/scheduled-events-bridge',
    });
  } finally {
    delete process.env.SCHEDULED_EVENTS_BRIDGE_SINKS_STDOUT;
  }
  expect(checkConfiguration('/no/such/file').problems).toEqual(['there is no such file.']);
});
