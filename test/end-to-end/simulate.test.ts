import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { freePort } from '../health/free-port.ts';
import { startBridge, temporaryDirectory } from '../support/bridge-process.ts';
import { simulatorFile } from '../support/program.ts';
import { type Addresses, bridgeAt, control, startRecord, startSimulate } from '../support/simulate-process.ts';
import { until } from '../support/until.ts';

const records = async (addresses: Addresses): Promise<LifecycleRecord[]> =>
  (await control<{ body: LifecycleRecord }[]>(addresses, 'GET /hub/events')).map(({ body }) => body);

async function listed({ imds }: Addresses): Promise<{ EventId: string; EventStatus: string; Resources: string[] }[]> {
  const url = `${imds}/metadata/scheduledevents?api-version=2020-07-01`;
  const response = await fetch(url, { headers: { Metadata: 'true' } });
  return ((await response.json()) as { Events: [] }).Events;
}

test.concurrent('a bridge is pointed at a simulator in another process, which a third one steers', async ({
  onTestFinished,
}) => {
  using directory = temporaryDirectory('simulate');
  await using simulate = startSimulate('--json', '--vm', 'db_1');
  const at = await simulate.ready();
  expect(Object.keys(at)).toEqual(['imds', 'eventHubs', 'logAnalytics', 'caFile', 'control']);
  expect(Object.keys(at.eventHubs)).toEqual([
    'fullyQualifiedNamespace',
    'customEndpoint',
    'websocketEndpoint',
    'plainPort',
    'connectionString',
    'eventHubName',
  ]);
  expect(Object.keys(at.logAnalytics)).toEqual(['endpoint', 'ruleId', 'streamName', 'rowsUrl']);
  expect(await control(at, 'GET /addresses')).toEqual(at);

  const bridge = startBridge(bridgeAt(at, directory.path));
  onTestFinished(() => bridge.kill('SIGKILL'));
  await until(async () => (await control<{ polls: number }[]>(at, 'GET /vms'))[0]?.polls, { timeoutMs: 20_000 });
  const { eventId } = await control<{ eventId: string }>(at, 'POST /events', { eventType: 'Reboot' });
  await until(async () => (await records(at)).length === 1);
  await control(at, `POST /events/${eventId}/start`);
  await until(async () => (await records(at)).length === 2);
  await control(at, `DELETE /events/${eventId}`);
  await until(async () => (await records(at)).length === 3);
  expect((await records(at)).map(({ eventId, phase, vmName }) => [eventId, phase, vmName])).toEqual(
    ['Scheduled', 'Started', 'Completed'].map((phase) => [eventId, phase, 'db_1']),
  );
  const rows = () => fetch(at.logAnalytics.rowsUrl).then((response) => response.json()) as Promise<object[]>;
  await until(async () => (await rows()).length === 3);
  expect(await rows()).toMatchObject(['Scheduled', 'Started', 'Completed'].map((Phase) => ({ Phase, VmName: 'db_1' })));
  expect(await control(at, 'GET /errors')).toEqual([]);

  bridge.kill('SIGTERM');
  await bridge.exited;
  expect(await simulate.end()).toBe(0);
  expect([simulate.out().split('\n').length, simulate.err()]).toEqual([2, '']);
});

test.concurrent('a scenario starts two seconds after the first poll', async () => {
  await using simulate = startSimulate('hardware-failure', '--vm', 'db_1', '--json');
  const at = await simulate.ready();
  expect(await listed(at)).toEqual([]);
  const event = await until(async () => (await listed(at))[0], { everyMs: 250 });
  expect(event).toMatchObject({ Resources: ['db_1'], EventStatus: 'Started' });
});

test.concurrent('a fleet has the requested number of VMs, each polled no more than five times a second', async () => {
  await using simulate = startSimulate('--vms', '12', '--json');
  const at = await simulate.ready();
  const vms = await control<{ name: string; imds: string }[]>(at, 'GET /vms');
  expect(vms.map(({ name }) => name)).toEqual(Array.from({ length: 12 }, (_, number) => `web_${number}`));
  const ask = async (vm = 0): Promise<number> => {
    const url = `${vms[vm]?.imds}/metadata/scheduledevents?api-version=2020-07-01`;
    const response = await fetch(url, { headers: { Metadata: 'true' } });
    await response.body?.cancel();
    return response.status;
  };
  const greedy = await Promise.all(Array.from({ length: 30 }, () => ask(0)));
  expect(new Set(greedy)).toEqual(new Set([200, 429]));
  expect(await ask(11)).toBe(200);
});

test.concurrent('files for clients are written: a configuration that a bridge accepts, and variables to source', async () => {
  await using simulate = startSimulate('canceled');
  await until(() => simulate.out().includes('first poll'), { timeoutMs: 30_000 });
  const [, file = ''] = /run --config (\S+bridge\.json)\n/.exec(simulate.out()) ?? [];
  const config = JSON.parse(readFileSync(file, 'utf8'));
  const { readConfig } = await import('../../src/config/read-config.ts');
  const documents = [{ value: config, source: file, keepsSecrets: true }];
  expect(readConfig({ documents, env: {}, defaultStateDirectory: '/x' }).problems).toBeUndefined();
  expect(readFileSync(config.tls.caFile, 'utf8')).toContain('BEGIN CERTIFICATE');
  const variables = sourced(file.replace('bridge.json', 'variables.sh'));
  for (const name of ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE']) {
    expect(variables[name]).toBe(config.tls.caFile);
  }
  expect(variables.AZURE_POD_IDENTITY_AUTHORITY_HOST).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(variables.EVENT_HUBS_CUSTOM_ENDPOINT).toBe(config.sinks.eventHubs.customEndpoint);
  // No terminal, no keys.
  expect(simulate.out()).not.toContain('Keys');
  expect(await simulate.end()).toBe(0);
  expect(existsSync(dirname(file)), 'what was written goes with it').toBe(false);
});

/** What a shell has exported that has sourced this file. */
function sourced(file: string): Record<string, string> {
  const script = '. "$0" && "$1" -e "console.log(JSON.stringify(process.env))"';
  const { stdout, stderr } = spawnSync('sh', ['-c', script, file, process.execPath], { encoding: 'utf8', env: {} });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

test.concurrent('a named directory keeps the files, and a bridge continues when the simulator is restarted', async ({
  onTestFinished,
}) => {
  using parent = temporaryDirectory("it's here");
  const directory = join(parent.path, 'local-azure');
  const port = String(await freePort(6));
  const start = () => startSimulate('--write-config', directory, '--port', port, '--json');
  const textOf = (name: string) => readFileSync(join(directory, name), 'utf8');
  const names = [
    'bridge.json',
    'variables.sh',
    'variables.ps1',
    'ca.pem',
    'server.pem',
    'server-key.pem',
    '.gitignore',
  ];
  const phases = async (at: Addresses): Promise<string[]> => (await records(at)).map(({ phase }) => phase);

  await using first = start();
  const at = await first.ready();
  const written = names.map(textOf);
  const exported = sourced(join(directory, 'variables.sh'));
  expect(exported.SIMULATOR_CONTROL).toBe(at.control);
  // A string of PowerShell in single quotes has one escape, a doubled quote.
  const assigned = [...textOf('variables.ps1').matchAll(/^\$env:(\w+) = '((?:[^']|'')*)'$/gm)];
  expect(assigned.length).toBeGreaterThan(10);
  expect(exported).toMatchObject(
    Object.fromEntries(assigned.map(([, name = '', value = '']) => [name, value.replaceAll("''", "'")])),
  );
  const configuration = JSON.parse(textOf('bridge.json'));
  expect(configuration.stateDirectory).toBe(join(directory, 'state'));
  const bridge = startBridge(configuration);
  onTestFinished(() => bridge.kill('SIGKILL'));
  await until(async () => (await control<{ polls: number }[]>(at, 'GET /vms'))[0]?.polls, { timeoutMs: 20_000 });
  await control(at, 'POST /events', { eventType: 'Reboot' });
  await until(async () => (await phases(at)).length === 1);
  await first.end();

  await using second = start();
  expect(await second.ready()).toEqual(at);
  expect(names.map(textOf)).toEqual(written);
  const polls = async () => (await control<{ polls: number }[]>(at, 'GET /vms'))[0]?.polls;
  await until(polls, { timeoutMs: 20_000 });
  await control(at, 'POST /events', { eventType: 'Redeploy' });
  await until(async () => (await phases(at)).includes('Scheduled'), { timeoutMs: 20_000 });
  expect(bridge.log.filter(({ code }) => code === 'unauthorized' || code === 'http-401')).toEqual([]);
  bridge.kill('SIGTERM');
  await bridge.exited;
  const status = spawnSync('git', ['init', '--quiet', parent.path]);
  expect(status.status).toBe(0);
  expect(spawnSync('git', ['-C', parent.path, 'status', '--porcelain'], { encoding: 'utf8' }).stdout).toBe('');
});

describe.concurrent('with a port', () => {
  test('everything listens on consecutive ports, and what is taken is named', async () => {
    const port = await freePort(6);
    await using simulate = startSimulate('--port', String(port), '--json');
    const { imds, eventHubs, logAnalytics, control } = await simulate.ready();
    const { customEndpoint, plainPort, websocketEndpoint } = eventHubs;
    const ports = [imds, customEndpoint, websocketEndpoint, logAnalytics.endpoint, control].map((url) =>
      Number(new URL(url).port),
    );
    expect([...ports, plainPort].sort()).toEqual(Array.from({ length: 6 }, (_, offset) => port + offset));

    await using second = startSimulate('--port', String(port));
    await new Promise((resolve) => second.child.once('close', resolve));
    expect(second.err()).toBe(
      `the metadata service cannot listen on 127.0.0.1:${port} (EADDRINUSE): another simulate may be running. Stop it, or choose other ports with --port (0: free ones).\n`,
    );
    expect(second.child.exitCode).toBe(22);
  });

  test('a bridge that is frozen with its VM measures it', async ({ onTestFinished }) => {
    using directory = temporaryDirectory('frozen');
    const port = await freePort(6);
    const endpoint = `http://127.0.0.1:${port}/vm/web_0`;
    const stateDirectory = directory.path;
    const bridge = startBridge({ imds: { endpoint, firstTimeoutSeconds: 1 }, stateDirectory, sinks: { stdout: {} } });
    onTestFinished(() => bridge.kill('SIGKILL'));
    const pid = String(bridge.child.pid);
    await using simulate = startSimulate('freeze', '--port', String(port), '--freeze', pid);
    const phases = () =>
      bridge
        .stdout()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line || '{}') as LifecycleRecord);
    const completed = await until(() => phases().find(({ phase }) => phase === 'Completed'), { timeoutMs: 60_000 });
    expect(completed.observedPauseMs).toBeGreaterThan(1000);
    expect(simulate.out()).toContain(`Azure would freeze web_0 for 2 s now: process ${pid} is stopped\n`);
    bridge.kill('SIGTERM');
    await bridge.exited;
  });
});

describe.concurrent('a recording', () => {
  test('makes the same records again when it is replayed, though its recorder was killed', async ({
    onTestFinished,
  }) => {
    using directory = temporaryDirectory('recording');
    const file = join(directory.path, 'recording.jsonl');
    await using original = startSimulate('--vm', 'db_1', '--json');
    const at = await original.ready();
    const polls = async (): Promise<number> => (await control<{ polls: number }[]>(at, 'GET /vms'))[0]?.polls ?? 0;
    const bridge = startBridge(bridgeAt(at, join(directory.path, 'original')));
    onTestFinished(() => bridge.kill('SIGKILL'));
    // Before the recorder, whose polls count as well: the bridge has to see the document without events first.
    await until(async () => (await polls()) > 1, { timeoutMs: 20_000, what: 'the first polls of the bridge' });
    await using recorder = startRecord(file, '--endpoint', at.imds);
    // The replay starts with the first request of its bridge, whose first document may take seconds on a busy machine: that one has to be
    // recorded as empty for as long. Two programs poll, each once a second.
    const before = await polls();
    const changes = (): string[] => readFileSync(file, 'utf8').trim().split('\n').slice(1);
    await until(() => recorder.out().includes('incarnation 1: no events\n'), { timeoutMs: 20_000 });
    await until(async () => (await polls()) >= before + 12, { what: 'some seconds without events' });

    /** Does something, and waits until bridge and recorder have both seen it, and for a second more than a replay could lose. */
    const step = async <T>(call: string, body?: object, makesRecord = true): Promise<T> => {
      const [seen, received, polled] = [changes().length, (await records(at)).length, await polls()];
      const answer = await control<T>(at, call, body);
      await until(() => changes().length > seen, { what: `${call} to be recorded` });
      if (makesRecord) await until(async () => (await records(at)).length > received, { what: `a record of ${call}` });
      await until(async () => (await polls()) >= polled + 4);
      return answer;
    };
    const freeze = await step<{ eventId: string }>('POST /events', { eventType: 'Freeze', noticeSeconds: 900 });
    const reboot = await step<{ eventId: string }>('POST /events', { eventType: 'Reboot', noticeSeconds: 900 });
    await step(`POST /events/${freeze.eventId}/start`);
    await step('PUT /faults/scheduledevents', { fault: { status: 503 } }, false);
    await step('DELETE /faults/scheduledevents', undefined, false);
    await step(`DELETE /events/${reboot.eventId}`);
    await step(`DELETE /events/${freeze.eventId}`);
    const received = await records(at);
    await recorder.end('SIGKILL');
    bridge.kill('SIGTERM');
    await bridge.exited;
    expect(received.map(({ phase }) => phase)).toEqual(['Scheduled', 'Scheduled', 'Started', 'Canceled', 'Completed']);
    expect(recorder.out()).toContain('  no document: status 503\n');

    await using again = startSimulate('--replay', file, '--json');
    const there = await again.ready();
    const second = startBridge(bridgeAt(there, join(directory.path, 'replayed')));
    onTestFinished(() => second.kill('SIGKILL'));
    await until(async () => (await records(there)).length === received.length, {
      timeoutMs: 90_000,
      what: 'the same records',
    });
    const withoutTimes = ({
      recordId,
      transitionId,
      phase,
      evidence,
      sequence,
      vmName,
      documentIncarnation,
    }: LifecycleRecord) => ({
      recordId,
      transitionId,
      phase,
      evidence,
      sequence,
      vmName,
      documentIncarnation,
    });
    expect((await records(there)).map(withoutTimes)).toEqual(received.map(withoutTimes));
    second.kill('SIGTERM');
    await second.exited;
    expect([await again.end(), again.err()]).toEqual([0, '']);
  });

  test('prints at its end the size of the recording, and does not overwrite an existing one', async () => {
    using directory = temporaryDirectory('recorder');
    const file = join(directory.path, 'recording.jsonl');
    await using simulate = startSimulate('--json');
    const { imds } = await simulate.ready();
    const recorder = startRecord(file, '--endpoint', imds);
    await until(() => recorder.out().includes('incarnation 1: no events\n'), { timeoutMs: 20_000 });
    expect(await recorder.end('SIGINT')).toBe(0);
    expect(recorder.out()).toMatch(
      /\n1 change recorded; replay with: scheduled-events-simulator simulate --replay .*recording\.jsonl\n$/,
    );
    const before = readFileSync(file, 'utf8');
    const another = startRecord(file, '--endpoint', imds);
    await new Promise((resolve) => another.child.once('close', resolve));
    expect([another.child.exitCode, readFileSync(file, 'utf8')]).toEqual([2, before]);
    writeFileSync(file, `${before}{"atSeconds": "soon"}\n`);
    const bad = startSimulate('--replay', file);
    await new Promise((resolve) => bad.child.once('close', resolve));
    expect(bad.err()).toContain(
      `The recording cannot be replayed: atSeconds of ${file}, line 3 is "soon"; expected a number`,
    );
  });
});

describe.concurrent('at a terminal', () => {
  const python = spawnSync('python3', ['-c', 'import pty']);
  const noTerminal = python.status === 0 ? '' : 'no python3 here to make a pseudo-terminal';
  if (noTerminal) console.log(`  skipped: the keys of simulate: ${noTerminal}`);

  /** `simulate` on a pseudo-terminal: what is written to its stdin are keys. */
  function onTerminal({ onTestFinished }: TestContext, ...args: readonly string[]) {
    const command = JSON.stringify([process.execPath, simulatorFile, 'simulate', '--port', '0', ...args]);
    // Says at the end whether the terminal echoes and waits for whole lines again.
    const program = `
import os, pty, sys, termios
pid, fd = pty.fork()
if pid == 0: os.execv(${JSON.stringify(process.execPath)}, ${command})
import threading
def write():
    while data := os.read(0, 100): os.write(fd, data)
threading.Thread(target=write, daemon=True).start()
try:
    while data := os.read(fd, 65536): os.write(1, data)
except OSError: pass
flags = termios.tcgetattr(fd)[3]
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print('ended', status, bool(flags & termios.ECHO), bool(flags & termios.ICANON), flush=True)
`;
    const child = spawn('python3', ['-c', program], { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const text = { out: '' };
    child.stdout.on('data', (chunk) => {
      text.out += chunk;
    });
    const exited = new Promise((resolve) => child.once('close', resolve));
    return { press: (keys: string) => child.stdin.write(keys), out: () => text.out, exited };
  }

  test.skipIf(noTerminal)(
    'keys play a scenario, take the endpoint down and end it, and the terminal is given back',
    async (context) => {
      const { press, out, exited } = onTerminal(context, '--vm', 'db_1');
      await until(() => out().includes('No scenario'), { timeoutMs: 30_000 });
      expect(out()).toContain('Keys  f freeze  r reboot');
      press('h');
      await until(() => /Reboot \S+ of db_1 started/.test(out()));
      press('\u001b[A');
      press('w');
      await until(() => /Reboot \S+ of db_1 removed/.test(out()));
      press('i');
      await until(() => out().includes('The metadata service answers 503'));
      press('?');
      await until(() => out().split('q quit').length === 3);
      expect(out().split('  Metadata service  http://').length, 'the addresses are shown again').toBe(3);
      press('q');
      await exited;
      expect(out()).toMatch(/ended 0 True True\n$/);
    },
  );

  test.skipIf(noTerminal)('Ctrl+C ends it', async (context) => {
    const { press, out, exited } = onTerminal(context);
    await until(() => out().includes('No scenario'), { timeoutMs: 30_000 });
    press('\u0003');
    await exited;
    expect(out()).toMatch(/ended 0 True True\n$/);
  });
});
