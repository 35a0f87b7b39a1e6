import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import type { ServiceStatus } from '../../src/service/status.ts';
import { configurationFor } from '../support/bridge-process.ts';
import { firstCopies, hubRecords } from '../support/delivered.ts';
import { until } from '../support/until.ts';
import { openWindows, type WindowsMachine, whyNoWine } from './windows-machine.ts';
import { placePackage, placeServiceControl } from './windows-packages.ts';

const product = 'scheduled-events-bridge';
const home = `C:\\Program Files\\${product}`;
const data = `C:\\ProgramData\\${product}`;
/** The folder of the version that is installed in the end. */
const installed = `${home}\\versions\\1.2.0`;
const vm = 'web_0';
/** sc.exe is that of this test: Wine prefers its own otherwise. */
const env = { WINEDLLOVERRIDES: 'sc.exe=n' };

let machine: WindowsMachine;
let azure: AzureSimulator;

/** Runs a verb of `service` with the program of a folder. */
const service = (folder: string, ...args: readonly string[]) =>
  machine.run(`${folder}\\node.exe`, [`${folder}\\${product}.cjs`, 'service', ...args], { env, timeoutMs: 200_000 });

async function installedStatus(folder: string): Promise<ServiceStatus> {
  const { out } = await service(folder, 'status', '--json');
  return JSON.parse(out) as ServiceStatus;
}

/** Wine's programs are processes of this system. */
function killProcessesWith(words: string): void {
  const found = readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(words);
    } catch {
      return false;
    }
  });
  expect(found).not.toEqual([]);
  for (const pid of found) process.kill(Number(pid), 'SIGKILL');
}

const announce = (): string =>
  azure.imds.schedule({ eventType: 'Freeze', resources: [vm], notBefore: new Date(Date.now() + 900_000) });
const arrives = (eventId: string) =>
  until(() => hubRecords(azure).find((record) => record.eventId === eventId), {
    timeoutMs: 60_000,
    what: `a record of ${eventId} on the event hub`,
  });

/** What Wine cannot show stands in infra/acceptance/assumptions.yaml: permissions, the virtual account, a virus scanner. */
describe.skipIf(whyNoWine !== '')(`the installer on Windows${whyNoWine}`, () => {
  beforeAll(async () => {
    machine = await openWindows();
    azure = await startAzureSimulator();
    placeServiceControl(machine);
    writeFileSync(machine.file('C:\\ca.pem'), azure.ca);
    const { eventHubs } = configurationFor(azure, vm, '').sinks as { readonly eventHubs: object };
    const { stateDirectory: _, ...settings } = configurationFor(azure, vm, '', {
      sinks: { eventHubs },
      tls: { caFile: 'C:\\ca.pem' },
    });
    writeFileSync(machine.file('C:\\config.json'), JSON.stringify(settings));
    writeFileSync(machine.file('C:\\bad.json'), '{}');
  });
  afterEach(({ task }) => {
    const log = machine.file(`${data}\\logs\\bridge.log`);
    if (task.result?.state === 'fail' && existsSync(log)) process.stderr.write(readFileSync(log, 'utf8').slice(-4000));
  });
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    await azure?.close();
  });

  test('installs a package, and finds nothing to do the second time', async () => {
    const folder = await placePackage(machine, '1.0.0');
    const order = ['install', '--from', folder, '--config', 'C:\\config.json'];
    const installed = await service(folder, ...order);
    expect(installed).toMatchObject({ code: 0, out: expect.stringContaining('Version 1.0.0 runs and is ready.') });
    const { service: first, ...rest } = await installedStatus(folder);
    expect(rest).toMatchObject({ version: '1.0.0', enabled: true, isAsItWasReady: true, command: 'ours' });
    expect(first?.active).toBe('active');
    expect(await service(folder, ...order)).toMatchObject({
      code: 0,
      out: expect.stringContaining('it was not restarted'),
    });
    expect((await installedStatus(folder)).service?.pid).toBe(first?.pid);
    await arrives(announce());
  });

  test('updates without losing a record, also after a version that does not become ready and an installer that is killed twice', async () => {
    await azure.eventHubs.pause({ drop: true });
    const announced = Array.from({ length: 20 }, announce);
    const broken = await placePackage(machine, '1.1.0', 'dies');
    const refused = await service(broken, 'update', '--from', broken);
    expect(refused).toMatchObject({ code: 22, err: expect.stringContaining('Back to version 1.0.0, which is ready') });
    expect(await installedStatus(broken)).toMatchObject({ version: '1.0.0', refused: { version: '1.1.0' } });

    const next = await placePackage(machine, '1.2.0');
    announced.push(announce());
    const command = machine.file(`${home}\\${product}.cmd`);
    const moments = [
      () => existsSync(machine.file(`${home}\\versions\\.staging`)),
      // The service is switched already, and about to be restarted.
      () => readFileSync(command, 'utf8').includes('1.2.0'),
    ];
    for (const isNow of moments) {
      const killed = service(next, 'update', '--from', next);
      await until(isNow, { timeoutMs: 60_000 });
      killProcessesWith(`${next}\\${product}.cjs\0service\0update`);
      expect((await killed).code).not.toBe(0);
    }
    const updated = await service(next, 'update', '--from', next);
    expect(updated).toMatchObject({ code: 0, out: expect.stringContaining('1.2.0 runs and is ready.') });
    expect(await installedStatus(next)).toMatchObject({ version: '1.2.0', previous: '1.0.0', isAsItWasReady: true });
    expect(readdirSync(machine.file(`${home}\\versions`)).toSorted()).toEqual(['1.0.0', '1.2.0']);

    await azure.eventHubs.resume();
    announced.push(announce());
    const arrived = () => firstCopies(hubRecords(azure)).filter(({ eventId }) => announced.includes(eventId));
    await until(() => arrived().length === announced.length, { timeoutMs: 120_000 });
    expect(new Set(arrived().map(({ streamId }) => streamId)).size).toBe(1);
  }, 400_000);

  test('a configuration that is wrong is refused with 53, and the service runs on', async () => {
    const { service: before } = await installedStatus(installed);
    const refused = await service(installed, 'configure', '--config', 'C:\\bad.json');
    expect(refused).toMatchObject({ code: 53, err: expect.stringContaining('There is no sink') });
    expect((await installedStatus(installed)).service?.pid).toBe(before?.pid);
  });

  test('is disabled and enabled', async () => {
    expect(await service(installed, 'disable')).toMatchObject({ code: 0 });
    expect(await installedStatus(installed)).toMatchObject({ enabled: false, service: { active: 'inactive' } });
    expect(await service(installed, 'enable')).toMatchObject({ code: 0, out: expect.stringContaining('is ready') });
    expect(await installedStatus(installed)).toMatchObject({ enabled: true, service: { active: 'active' } });
    await arrives(announce());
  });

  test('remove.cmd leaves nothing, although the program that runs is in what it removes', async () => {
    const status = await machine.run('cmd.exe', ['/c', `${home}\\${product}.cmd`, 'service', 'status'], { env });
    expect(status).toMatchObject({ code: 0, out: expect.stringContaining(`${product} 1.2.0`) });
    const removed = await machine.run('cmd.exe', ['/c', `${home}\\remove.cmd`], { env, timeoutMs: 200_000 });
    expect(removed).toMatchObject({ code: 0, out: expect.stringContaining('The service is stopped and removed.') });
    const left = (): readonly string[] =>
      ['C:\\Program Files', 'C:\\ProgramData'].flatMap((folder) =>
        readdirSync(machine.file(folder)).filter((name) => name.startsWith(product)),
      );
    // The runtime that has done it is deleted after it has ended.
    await until(() => left().length === 0, { timeoutMs: 30_000, what: `the end of ${left()}` });
    const services = 'HKLM\\SYSTEM\\CurrentControlSet\\Services';
    for (const key of [product, `EventLog\\Application\\${product}`]) {
      expect((await machine.run('reg', ['query', `${services}\\${key}`])).code).toBe(1);
    }
  });
});
