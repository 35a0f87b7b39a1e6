import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serviceHost } from '../../infra/package/service-host.ts';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import type { Status } from '../../src/cli/status/status.ts';
import { version } from '../../src/process/version.ts';
import { configurationFor } from '../support/bridge-process.ts';
import { hubRecords, tableRows } from '../support/delivered.ts';
import { linuxWords } from '../support/linux-words.ts';
import { type Ended, mainFile } from '../support/program.ts';
import { until } from '../support/until.ts';
import { nodeProgram, openWindows, type WindowsMachine, whyNoWine } from './windows-machine.ts';

const program = 'C:\\Program Files\\scheduled-events-bridge';
const data = 'C:\\ProgramData\\scheduled-events-bridge';
const physicalHost = 'AMS21PRDAPP16.prod.example';

describe.skipIf(whyNoWine !== '')(`the bridge on Windows${whyNoWine}`, () => {
  let machine: WindowsMachine;
  let azure: AzureSimulator;
  let node: string;
  /** What every command of these tests printed. */
  let printed = '';

  async function bridge(...args: readonly string[]): Promise<Ended> {
    const ended = await machine.run(node, [`${program}\\scheduled-events-bridge.cjs`, ...args], { timeoutMs: 180_000 });
    if (args[0] !== 'run') printed += `${ended.out}${ended.err}\n`;
    return ended;
  }
  const status = async (): Promise<Status> => JSON.parse((await bridge('status', '--json')).out) as Status;

  /** Starts the service, and waits until `status` gets its answer. */
  async function start() {
    const ended = bridge('run');
    const { service } = await until(
      async () => {
        const seen = await status().catch(() => null);
        return seen?.service?.poll.documentAgeSeconds == null ? null : seen;
      },
      { what: 'a service that has seen a document', timeoutMs: 60_000 },
    );
    const kill = async (): Promise<Ended> => {
      await machine.ok('taskkill', ['/F', '/PID', String(service?.pid)]);
      return ended;
    };
    return { kill };
  }

  beforeAll(async () => {
    azure = await startAzureSimulator({});
    machine = await openWindows();
    node = machine.place(await nodeProgram(), `${program}\\node.exe`);
    machine.place(mainFile, `${program}\\scheduled-events-bridge.cjs`);
    const host = await serviceHost();
    if ('whyNot' in host) throw new Error(host.whyNot);
    writeFileSync(machine.file(`${program}\\scheduled-events-bridge-service.exe`), host.program);
    machine.place(azure.caFile, `${data}\\ca.pem`);
    const guest = 'HKLM\\SOFTWARE\\Microsoft\\Virtual Machine\\Guest\\Parameters';
    const value = ['/v', 'PhysicalHostNameFullyQualified', '/d', physicalHost, '/f'];
    await machine.ok('reg', ['add', guest, ...value]);
  }, 120_000);
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    await azure?.close();
  });

  test('config init writes a file, and check says what is missing in it', async () => {
    mkdirSync(machine.file(data), { recursive: true });
    const sample = `${data}\\sample.json`;
    const made = await bridge(
      'config',
      'init',
      '--sink',
      'event-hubs',
      '--auth',
      'connection-string',
      '--output',
      sample,
    );
    expect(made).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Wrote C:\\ProgramData\\.*access rights of its folder/),
    });
    expect(await bridge('check', '--offline', '--config', sample)).toMatchObject({
      code: 78,
      out: expect.stringContaining('still has the placeholders NAMESPACE, NAME, KEY in C:\\ProgramData'),
    });
  });

  test('check takes a configuration that Notepad has saved, at its default path, and finds no problem', async () => {
    const config = configurationFor(azure, 'web_0', `${data}\\state`, { tls: { caFile: `${data}\\ca.pem` } });
    const text = `\uFEFF${JSON.stringify(config, null, 2)}`.replaceAll('\n', '\r\n');
    writeFileSync(machine.file(`${data}\\config.json`), text);
    const { code, out } = await bridge('check');
    expect(code, out).toBe(0);
    expect(out).toContain(`${data}\\config.json is a complete configuration`);
    // PowerShell of Wine does nothing: the rights stay unknown, with the command that shows them.
    expect(out).toContain(`PS> icacls '${data}\\config.json'`);
  });

  test('a service polls, delivers, and answers every command; a second one is refused', async () => {
    const { kill } = await start();
    const eventId = azure.imds.schedule({
      eventType: 'Reboot',
      resources: ['web_0'],
      notBefore: new Date(Date.now() + 900_000),
    });
    await until(() => hubRecords(azure).length > 0 && tableRows(azure).length > 0, {
      what: 'the announcement in both destinations',
      timeoutMs: 60_000,
    });
    expect(hubRecords(azure)[0]).toMatchObject({
      eventId,
      phase: 'Scheduled',
      physicalHost,
      bootId: expect.stringMatching(/^booted-at-/),
    });

    // Everyone may read from a named pipe of Windows: only who may write to it, and asks, is answered.
    const silentFirst = `
      const { connect } = require('node:net');
      const path = '\\\\\\\\.\\\\pipe\\\\scheduled-events-bridge-' + require('node:crypto').createHash('sha256')
        .update(${JSON.stringify(`${data}\\state`.toLowerCase())}).digest('hex').slice(0, 16);
      let wasAnswered = false;
      const silent = connect(path, () => {
        const asking = connect(path, () => asking.write('\\n'));
        let answer = '';
        asking.on('data', (chunk) => (answer += chunk)).on('close', () => {
          console.log(JSON.parse(answer).version, wasAnswered);
          process.exit();
        });
      }).on('data', () => (wasAnswered = true));`;
    expect(await machine.ok(node, ['-e', silentFirst])).toBe(`${version} false\n`);

    expect(await bridge('run')).toMatchObject({
      code: 75,
      err: expect.stringMatching(/^Another scheduled-events-bridge/),
    });
    expect(await bridge('emit-test')).toMatchObject({ code: 0 });
    expect(await bridge('outbox', 'retry', '--now')).toMatchObject({ code: 0 });
    await until(() => hubRecords(azure).length > 1, { what: 'the test record', timeoutMs: 60_000 });
    // It follows the hub until it is ended.
    const tail = ['tail', '--from', 'start', '--json'];
    const followed = await machine.run(node, [`${program}\\scheduled-events-bridge.cjs`, ...tail], {
      timeoutMs: 15_000,
    });
    expect(followed.out).toContain(eventId);
    const { service, events } = await status();
    expect(service?.senders.flatMap(({ lastDeath }) => lastDeath ?? [])).toEqual([]);
    expect(events).toMatchObject([{ eventId, phase: 'Scheduled' }]);
    await kill();
    expect(await bridge('status')).toMatchObject({
      code: 20,
      out: expect.stringMatching(/^Not running: .*\(Start-Service scheduled-events-bridge\)/),
    });
  });

  test('records that were pending when the service was killed are delivered by the next one, once', async () => {
    const before = hubRecords(azure).length;
    await azure.eventHubs.pause({ drop: true });
    const first = await start();
    expect(await bridge('emit-test')).toMatchObject({ code: 0 });
    expect(await bridge('outbox', 'list')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^ *3 +event-hubs +pending /m),
    });
    await first.kill();
    expect(readdirSync(machine.file(`${data}\\state`))).toContain('outbox.sqlite');
    await azure.eventHubs.resume();
    const second = await start();
    await until(() => hubRecords(azure).length > before, { what: 'the pending record', timeoutMs: 60_000 });
    await until(async () => (await bridge('outbox', 'list')).out === 'No records.\n', {
      what: 'an outbox without pending records',
      timeoutMs: 30_000,
    });
    const { outbox } = await status();
    expect(outbox.recovery).toBeNull();
    const ids = hubRecords(azure).map(({ recordId }) => recordId);
    expect(new Set(ids).size).toBe(ids.length);
    await second.kill();
  });

  test('a service that is asked to stop ends with 0, and its last line reaches the log', async () => {
    const stopAtOnce = { SCHEDULED_EVENTS_BRIDGE_STOP_ON_STDIN_END: '1' };
    const ended = await machine.run(node, [`${program}\\scheduled-events-bridge.cjs`, 'run'], { env: stopAtOnce });
    expect(ended.err.trimEnd().split('\n').at(-1)).toContain('"msg":"The bridge has stopped."');
    expect(ended.code).toBe(0);
  });

  test('nothing that was printed speaks of Linux', () => {
    expect(printed).not.toMatch(linuxWords);
  });
});
