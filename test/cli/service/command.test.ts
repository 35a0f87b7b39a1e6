import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { exitCodes } from '../../../src/cli/exit-codes.ts';
import { addServiceOf } from '../../../src/cli/service/command.ts';
import { checkConfiguration } from '../../../src/cli/service/machine.ts';
import { orFail } from '../../../src/cli/service/refused.ts';
import { createRig, type Rig } from '../../service/rig.ts';
import { type Ended, runVerb } from '../outbox/command-line.ts';

/** Runs a verb of `service` on the machine of a rig. */
async function service(
  rig: Rig,
  ...args: readonly string[]
): Promise<Ended & { readonly code: number; readonly said: string }> {
  rig.said.length = 0;
  const ended = await runVerb(
    addServiceOf(async () => rig.machine),
    ['service', ...args],
  );
  const code = ended.reason === null ? 0 : ended.reason === 'commander' ? 2 : exitCodes[ended.reason].code;
  return { ...ended, code, said: [...rig.said, ended.out].join('\n') };
}

test('service install says that it is ready, and that restarts may wait from now on', async () => {
  using rig = createRig();
  const { code, said } = await service(rig, 'install', '--from', rig.package('1.0.0'), '--config', rig.configuration());
  expect(code).toBe(0);
  expect(said).toContain('Version 1.0.0 runs and is ready. It says: Polling; no event under way.');
  expect(said).toMatch(/From now on restarts .* that users ask for may wait up to 15 minutes/);
});

test('service install in an image starts nothing', async () => {
  using rig = createRig({ facts: { isLive: false } });
  const { code, said } = await service(
    rig,
    'install',
    '--from',
    rig.package('1.0.0'),
    '--config',
    rig.configuration(),
    '--no-start',
  );
  expect([code, said]).toEqual([0, expect.stringContaining('starts with the machine')]);
  expect(said).toMatch(/From its first start on restarts .* may wait up to 15 minutes/);
  expect(rig.runs()).toBeNull();
});

test('restarts are told of with an update that is the first installation, and not where nobody watches yet', async () => {
  using rig = createRig();
  const waiting = await service(rig, 'install', '--from', rig.package('1.0.0'));
  expect(waiting.said).toMatch(/^Version 1\.0\.0 is installed, and waits for its configuration/);
  expect(waiting.said).not.toContain('15 minutes');
  await service(rig, 'uninstall');
  const first = await service(rig, 'update', '--from', rig.package('2.0.0'), '--config', rig.configuration());
  expect(first.said).toContain('15 minutes');
  const second = await service(rig, 'update', '--from', rig.package('3.0.0'));
  expect(second.said).not.toContain('15 minutes');
});

test('service update, configure, disable and enable say what became of it', async () => {
  using rig = createRig();
  await service(rig, 'install', '--from', rig.package('1.0.0'));
  expect((await service(rig, 'configure', '--config', rig.configuration('a'))).said).toContain(
    'Version 1.0.0 runs and is ready.',
  );
  expect((await service(rig, 'update', '--from', rig.package('2.0.0'))).said).toContain(
    'Version 2.0.0 runs and is ready, after 1.0.0.',
  );
  expect((await service(rig, 'update', '--from', rig.package('2.0.0'))).said).toContain('nothing was changed');
  expect((await service(rig, 'disable')).said).toContain('does not start with the machine');
  expect((await service(rig, 'update', '--from', rig.package('3.0.0'))).said).toContain('was disabled and stays so');
  expect((await service(rig, 'enable')).said).toContain('Version 3.0.0 runs and is ready.');
});

test('service uninstall says that Scheduled Events stays on for a day, until when, and what is kept', async () => {
  using rig = createRig();
  await service(rig, 'install', '--from', rig.package('1.0.0'), '--config', rig.configuration());
  const { code, said } = await service(rig, 'uninstall', '--keep-state');
  expect(code).toBe(0);
  expect(said).toMatch(/nobody has asked for them for 24 h, which will be about 2026-01-02 12:0\d UTC/);
  expect(said).toMatch(/state is kept in .*scheduled-events-bridge, .*without --keep-state removes both/);
  const again = await service(rig, 'uninstall');
  expect([again.code, again.said]).toEqual([
    0,
    expect.stringMatching(/^The service is not installed\.\nThe state in .* is removed/),
  ]);
});

const refused: readonly { name: string; facts: Parameters<typeof createRig>[0]; code: number }[] = [
  { name: 'a machine without systemd', facts: { facts: { programs: [] } }, code: 51 },
  { name: 'a full disk', facts: { facts: { freeForState: 0 } }, code: 52 },
  { name: 'a user that is not root', facts: { facts: { isRoot: false } }, code: 22 },
];

test.each(refused)('service install on $name ends with its exit code and one clear line', async ({ facts, code }) => {
  using rig = createRig(facts);
  const ended = await service(rig, 'install', '--from', rig.package('1.0.0'), '--config', rig.configuration());
  expect([ended.code, ended.says.split('\n').length, ended.said.trim()]).toEqual([code, 1, '']);
});

test('service install with a wrong configuration ends with 53, service update with a version that is never ready with 22', async () => {
  using rig = createRig();
  const wrong = rig.file('wrong.json', '{}');
  expect((await service(rig, 'install', '--from', rig.package('1.0.0'), '--config', wrong)).code).toBe(53);
  await service(rig, 'install', '--from', rig.package('1.0.0'), '--config', rig.configuration());
  const ended = await service(rig, 'update', '--from', rig.package('2.0.0', { behaviour: 'dies' }));
  expect([ended.code, ended.says]).toEqual([
    22,
    expect.stringMatching(/^Version 2\.0\.0 did not become ready: .*Back to version 1\.0\.0/),
  ]);
});

test('service status tells a person and a program, and fails where a service that should run does not', async () => {
  using rig = createRig();
  expect(await service(rig, 'status')).toMatchObject({ code: 0, out: 'The service is not installed here.\n' });
  await service(rig, 'install', '--from', rig.package('1.0.0'), '--config', rig.configuration());
  const page = await service(rig, 'status');
  expect(page.code).toBe(0);
  expect(page.out.split('\n')).toEqual([
    'scheduled-events-bridge 1.0.0',
    'The service is active (running), and starts with the machine.',
    'It says: Polling; no event under way.',
    'Configuration: /etc/scheduled-events-bridge/config.json.',
    '',
  ]);
  expect(JSON.parse((await service(rig, 'status', '--json')).out)).toMatchObject({ installed: true, version: '1.0.0' });
  await rig.machine.proveState(rig.places.state);
  rig.stopService();
  writeFileSync(rig.places.configuration, '{}');
  const stopped = await service(rig, 'status');
  expect([stopped.code, stopped.out]).toEqual([20, expect.stringContaining('is inactive (dead)')]);
  expect(stopped.out).toContain('is wrong: There is no sink');
  expect(stopped.out).toContain('This is not what became ready last');
});

test('a disk that refuses is told in one line, with the code for what is missing where it is full', async () => {
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

test('a package has to be named, and a configuration to configure', async () => {
  using rig = createRig();
  for (const args of [['install'], ['update'], ['configure']]) expect((await service(rig, ...args)).code).toBe(2);
});

test('a configuration is looked at without the environment of the command, and may hold secrets', () => {
  using rig = createRig();
  const sinks = {
    eventHubs: {
      eventHubName: 'h',
      connectionString: 'Endpoint=sb://x/;SharedAccessKeyName=k;SharedAccessKey=c2VjcmV0',
    },
  };
  process.env.SCHEDULED_EVENTS_BRIDGE_SINKS_STDOUT = 'nonsense';
  try {
    expect(checkConfiguration(rig.file('secret.json', JSON.stringify({ sinks })))).toEqual({
      stateDirectory: '/var/lib/scheduled-events-bridge',
    });
  } finally {
    delete process.env.SCHEDULED_EVENTS_BRIDGE_SINKS_STDOUT;
  }
  expect(checkConfiguration('/no/such/file').problems).toEqual(['there is no such file.']);
});
