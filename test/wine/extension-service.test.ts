import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { extensionZip } from '../../infra/package/extension.ts';
import type { PackedFile } from '../../infra/package/packed-file.ts';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import type { ServiceStatus } from '../../src/service/status.ts';
import { createGuestAgent, type GuestAgent, type Run, type Settings } from '../extension/guest-agent.ts';
import { moment } from '../infra/package/harness.ts';
import { configurationFor } from '../support/bridge-process.ts';
import { firstCopies, hubRecords } from '../support/delivered.ts';
import { until } from '../support/until.ts';
import { openWindows, type WindowsMachine, whyNoWine } from './windows-machine.ts';
import { packageOf, placeServiceControl } from './windows-packages.ts';

const product = 'scheduled-events-bridge';
const data = `C:\\ProgramData\\${product}`;
const vm = 'web_0';
/** sc.exe is that of this test: Wine prefers its own otherwise. */
const override = { WINEDLLOVERRIDES: 'sc.exe=n' };
const ready = { code: 0, message: 'Ready' };

let machine: WindowsMachine;
let azure: AzureSimulator;
let agent: GuestAgent;
/** Called before each command of the guest agent. */
let before: (line: string) => void = () => {};

/** By cmd.exe, in the folder of the handler. */
const run: Run = async ({ line, folder, env, timeoutMs }) => {
  before(line);
  const script = ['@echo off', `cd /d ${folder}`, `call ${folder}\\${line}`, 'exit /b %ERRORLEVEL%', ''];
  writeFileSync(machine.file('C:\\run.cmd'), script.join('\r\n'));
  const options = { env: { ...override, ...env }, timeoutMs };
  const { code, out, err } = await machine.run('cmd.exe', ['/c', 'C:\\run.cmd'], options);
  return { code: code ?? -1, stdout: out, stderr: err };
};

/** The zip of a version. Not compressed: that of node.exe takes long. */
const zipOf = async (version: string, alter: (file: PackedFile) => PackedFile = (file) => file): Promise<Buffer> =>
  extensionZip((await packageOf(version)).map(alter), { platform: 'win-x64', at: moment, level: 0 });

const damaged = (file: PackedFile): PackedFile =>
  file.path === `${product}-service.exe` ? { ...file, content: file.content.subarray(0, 4_096) } : file;

/** The configuration is in the public settings: Wine has no PowerShell, which decrypts protected ones. */
function settingsWith(more: object = {}): NonNullable<Settings> {
  const { eventHubs } = configurationFor(azure, vm, '').sinks as { readonly eventHubs: object };
  const { stateDirectory: _, ...publicSettings } = configurationFor(azure, vm, '', {
    sinks: { eventHubs },
    tls: { caFile: 'C:\\ca.pem' },
    ...more,
  });
  return { publicSettings, protectedSettings: null, protectedSettingsCertThumbprint: null };
}

async function installed(): Promise<ServiceStatus> {
  const command = `C:\\Program Files\\${product}\\${product}.cmd`;
  // It ends with 1 where a version was refused.
  const { out } = await machine.run('cmd.exe', ['/c', command, 'service', 'status', '--json'], { env: override });
  return JSON.parse(out) as ServiceStatus;
}

const configuration = (): unknown => JSON.parse(readFileSync(machine.file(`${data}\\config.json`), 'utf8'));

const announce = (): string =>
  azure.imds.schedule({ eventType: 'Freeze', resources: [vm], notBefore: new Date(Date.now() + 900_000) });
/** What arrived on the event hub of an event, in order. */
const phasesOf = (eventId: string): string[] =>
  firstCopies(hubRecords(azure))
    .filter((record) => record.eventId === eventId)
    .toSorted((a, b) => a.sequence - b.sequence)
    .map(({ phase }) => phase);
const arrives = (eventId: string, phase: string) =>
  until(() => phasesOf(eventId).includes(phase), {
    timeoutMs: 60_000,
    what: `${phase} of ${eventId} on the event hub`,
  });

/** Each test continues from the state in which the one before it ended. */
describe.skipIf(whyNoWine !== '')(`the extension with its service on Windows${whyNoWine}`, () => {
  /** Announced before the first update begins, with what Azure does to it afterwards. */
  let long = '';
  const later: string[] = [];

  beforeAll(async () => {
    machine = await openWindows();
    azure = await startAzureSimulator();
    placeServiceControl(machine);
    writeFileSync(machine.file('C:\\ca.pem'), azure.ca);
    agent = createGuestAgent({ root: machine.file('C:\\'), run, isWindows: true });
  });
  afterEach(({ task }) => {
    if (task.result?.state !== 'fail') return;
    process.stderr.write(JSON.stringify(agent.last(), null, 2));
    const log = machine.file(`${data}\\logs\\bridge.log`);
    if (existsSync(log)) process.stderr.write(readFileSync(log, 'utf8').slice(-4000));
  });
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    await azure?.close();
  });

  test('is installed and enabled, and changes nothing when the agent repeats that', async () => {
    expect(await agent.apply('1.0.0', await zipOf('1.0.0'), settingsWith())).toEqual(ready);
    expect(agent.takeCalls()).toEqual(['install 1.0.0', 'enable 1.0.0']);
    expect(agent.status('1.0.0')).toMatchObject({ operation: 'Enable', status: 'success', code: 0 });
    expect(agent.status('1.0.0').substatus.map(({ name }) => name)).toEqual(['service', 'imds', 'eventHubs']);
    const { service: first, ...rest } = await installed();
    expect(rest).toMatchObject({ version: '1.0.0', enabled: true, isAsItWasReady: true });
    expect(first?.active).toBe('active');
    long = announce();
    await arrives(long, 'Scheduled');

    const writtenMs = agent.statusMs('1.0.0');
    expect(await agent.restart('1.0.0')).toEqual(ready);
    expect(agent.last().stdout).toBe('The settings 0 were applied before, and the service runs.\n');
    expect(agent.statusMs('1.0.0')).toBe(writtenMs);
    expect((await installed()).service).toMatchObject({ pid: first?.pid, since: first?.since });
  });

  test('new settings restart the Windows service with them', async () => {
    const { service: first } = await installed();
    const settings = settingsWith({ log: { level: 'debug' } });
    expect(await agent.apply('1.0.0', Buffer.of(), settings)).toEqual(ready);
    expect(configuration()).toEqual(settings.publicSettings);
    expect(agent.status('1.0.0')).toMatchObject({ operation: 'Enable', status: 'success', code: 0 });
    const { service } = await installed();
    expect(service?.active).toBe('active');
    expect(service?.pid).not.toBe(first?.pid);
  });

  test('after an update with a damaged package the version before runs again', async () => {
    before = (line) => {
      // The service is stopped then.
      if (!line.endsWith(' update')) return;
      azure.imds.start(long);
      later.push(announce());
    };
    agent.takeCalls();
    expect(await agent.apply('1.1.0', await zipOf('1.1.0', damaged), settingsWith())).toMatchObject({ code: 1008 });
    before = () => {};
    const reason = expect.stringMatching(
      /^The package in .* is damaged: scheduled-events-bridge-service\.exe has 4096 /m,
    );
    expect(agent.last()).toMatchObject({ code: 52, stderr: reason });
    expect(agent.takeCalls()).toEqual(['disable 1.0.0', 'update 1.1.0']);
    expect(agent.status('1.1.0')).toMatchObject({
      ...{ operation: 'Update', status: 'error', code: 52 },
      formattedMessage: { message: reason },
    });
    expect(await installed()).toMatchObject({ version: '1.0.0', enabled: true, service: { active: 'active' } });
    await arrives(long, 'Started');
  });

  test('an update to the next version loses no record', async () => {
    await azure.eventHubs.pause({ drop: true });
    later.push(announce());
    const polls = azure.imds.polls[vm] ?? 0;
    await until(() => (azure.imds.polls[vm] ?? 0) > polls + 1, { what: 'a record that the old version cannot send' });
    before = (line) => {
      if (line.endsWith(' uninstall')) azure.imds.remove(long);
    };
    expect(await agent.apply('1.2.0', await zipOf('1.2.0'), settingsWith())).toEqual(ready);
    before = () => {};
    expect(agent.takeCalls()).toEqual(['update 1.2.0', 'uninstall 1.0.0', 'install 1.2.0', 'enable 1.2.0']);
    expect(await installed()).toMatchObject({ version: '1.2.0', enabled: true, service: { active: 'active' } });
    const { status, formattedMessage } = agent.status('1.2.0');
    expect([status, formattedMessage.message]).toEqual(['success', expect.stringMatching(/1\.2\.0 .* runs/)]);
    expect(agent.log('1.0.0')).toContain('Everything is kept: the service belongs to version 1.2.0');

    await azure.eventHubs.resume();
    later.push(announce());
    await arrives(long, 'Completed');
    for (const eventId of later) await arrives(eventId, 'Scheduled');
    expect(phasesOf(long)).toEqual(['Scheduled', 'Started', 'Completed']);
    expect(later.map(phasesOf)).toEqual(later.map(() => ['Scheduled']));
    expect(new Set(hubRecords(azure).map(({ streamId }) => streamId)).size).toBe(1);
  });

  test('a removal leaves neither files nor keys of the registry', async () => {
    expect(await agent.remove('1.2.0')).toEqual(ready);
    expect(agent.takeCalls()).toEqual(['disable 1.2.0', 'uninstall 1.2.0']);
    const left = (): readonly string[] =>
      ['C:\\Program Files', 'C:\\ProgramData'].flatMap((folder) =>
        readdirSync(machine.file(folder)).filter((name) => name.startsWith(product)),
      );
    await until(() => left().length === 0, { timeoutMs: 30_000, what: `the end of ${left()}` });
    const services = 'HKLM\\SYSTEM\\CurrentControlSet\\Services';
    for (const key of [product, `EventLog\\Application\\${product}`]) {
      expect((await machine.run('reg', ['query', `${services}\\${key}`])).code).toBe(1);
    }
    const handlers = 'HKLM\\Software\\Microsoft\\Windows Azure\\HandlerState';
    expect((await machine.run('reg', ['query', handlers, '/s'])).out).not.toContain('SequenceNumber');
  });
});
