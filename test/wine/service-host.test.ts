import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { build, findCompiler, serviceHost } from '../../infra/package/service-host.ts';
import { version } from '../../src/process/version.ts';
import { root } from '../support/source-tree.ts';
import { until } from '../support/until.ts';
import { compile } from './compile.ts';
import { openWindows, whyNoWine } from './windows-machine.ts';
import { createService, dataFolder, healthy, prelude, type ServiceOptions } from './windows-service.ts';

describe.skipIf(whyNoWine !== '')(`the service host${whyNoWine}`, () => {
  /** A machine of this test with the service on it. */
  async function open(script: string, parameters: NonNullable<ServiceOptions['parameters']> = {}) {
    const machine = await openWindows();
    onTestFinished(() => machine[Symbol.asyncDispose]());
    return { machine, service: await createService(machine, { bridge: { script }, parameters }) };
  }

  /** What the thing that connects is, and that it has gone. */
  async function connections() {
    const open = new Map<string, Socket>();
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (name) => {
        open.set(`${name}`, socket);
        socket.once('close', () => open.delete(`${name}`));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { readonly port: number };
    return { port, open: (): readonly string[] => [...open.keys()].toSorted() };
  }

  test('two builds are the same, byte for byte', async () => {
    const compiler = findCompiler();
    if (compiler === null) throw new Error('no compiler');
    const first = await build(compiler);
    const second = await serviceHost();
    expect('program' in second && second.program.equals(first)).toBe(true);
  });

  // https://learn.microsoft.com/windows/win32/debug/pe-format
  test('the program is loaded at random addresses, executes no data, and needs nothing but Windows', async () => {
    const built = await serviceHost();
    if ('whyNot' in built) throw new Error(built.whyNot);
    const { program } = built;
    const header = program.readUInt32LE(0x3c);
    expect(program.toString('latin1', header, header + 4)).toBe('PE\0\0');
    const optional = header + 24;
    const [highEntropy, dynamicBase, noExecution] = [0x20, 0x40, 0x100];
    expect(program.readUInt16LE(optional + 70)).toBe(highEntropy | dynamicBase | noExecution);
    const relocations = optional + 112 + 5 * 8;
    expect(program.readUInt32LE(relocations + 4)).toBeGreaterThan(0);
    const libraries = program.toString('latin1').match(/\b\w+\.dll\b/gi) ?? [];
    expect(new Set(libraries.map((name) => name.toLowerCase()))).toEqual(
      new Set(['advapi32.dll', 'kernel32.dll', 'msvcrt.dll']),
    );
    expect(program.includes(Buffer.from(`ProductVersion\0${version}\0`, 'utf16le'))).toBe(true);
  });

  test('the event viewer finds the text of each event in the program', async () => {
    const source = readFileSync(join(root, 'infra/windows/service-host/messages.mc'), 'utf8');
    const severities = new Map([
      ['Informational', 1],
      ['Warning', 2],
      ['Error', 3],
    ]);
    const events = [...source.matchAll(/^MessageId=(\d+)\nSeverity=(\w+)\n(?:\w+=.*\n)+(.*)\n\.$/gm)].map(
      ([, id, severity, text]) => ({
        id: String((severities.get(String(severity)) ?? 0) * 2 ** 30 + Number(id)),
        text: String(text).replace(/%(\d)/g, 'text $1'),
      }),
    );
    expect(events.length).toBeGreaterThan(5);
    const { machine, service } = await open(healthy);
    const viewer = 'C:\\viewer.exe';
    writeFileSync(
      machine.file(viewer),
      compile(readFileSync(join(import.meta.dirname, 'event-text.c')), { isWide: true }),
    );
    const shown = await machine.ok(viewer, [service.program, ...events.map(({ id }) => id)]);
    expect(shown.split(/[\r\n]+/).filter((line) => line !== '')).toEqual(events.map(({ text }) => text));
  });

  test('started in a console it explains who starts it, and its verbs answer', async () => {
    const { machine, service } = await open(healthy);
    const alone = await service.host();
    expect([alone.code, alone.err.split('\n')[0]]).toEqual([
      2,
      'Only Windows can start this program without arguments, as a service: sc.exe start scheduled-events-bridge',
    ]);
    expect((await service.host('--version')).out).toBe(`${version}\n`);
    expect((await service.host('--is-elevated')).code).toBe(0);
    expect((await service.host('--wrong')).code).toBe(2);
    expect((await service.host('--is-trusted', 'C:\\ProgramData', 'S-1-5-80-1')).code).toBe(0);
    expect((await service.host('--is-trusted', 'C:\\no such folder', 'S-1-5-80-1')).code).toBe(0);
    chownSync(machine.file('C:\\ProgramData'), 1000, 1000);
    expect((await service.host('--is-trusted', 'C:\\ProgramData', 'S-1-5-80-1')).code).toBe(1);
    expect((await service.host('--permissions', 'C:\\ProgramData')).out).toMatch(/^D:[A-Z]*\(A;.*\)\n$/);
    expect(await service.host('--permissions', 'C:\\no such folder')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^The permissions of C:\\no such folder cannot be read: .*\.\n$/),
    });
    expect((await service.host('--query', 'nothing')).out).toBe('State=missing\n');
    expect(await service.query()).toMatchObject({ State: 'stopped', ProcessId: '0', StartType: 'manual' });
    expect((await service.host('--set-preshutdown')).code).toBe(0);
    const key = 'HKLM\\System\\CurrentControlSet\\Services\\scheduled-events-bridge';
    expect(await machine.ok('reg', ['query', key, '/v', 'PreshutdownTimeout'])).toContain('0x9c40');
  });

  // Wine gives no owner to a pipe with default rights; Windows gives it that of the process.
  const pipes: readonly { of: string; rights: string; answer?: string; code: number; asked: 'yes' | 'no' }[] = [
    { of: 'a program with default rights', rights: '-', answer: '{"form":1}', code: 0, asked: 'yes' },
    { of: 'administrators', rights: 'O:BAD:(A;;GA;;;BA)', answer: '{"form":1}', code: 0, asked: 'yes' },
    { of: 'the account of the service', rights: 'O:S-1-5-80-1D:(A;;GA;;;WD)', answer: '{}', code: 0, asked: 'yes' },
    { of: 'another user', rights: 'O:S-1-5-21-1-2-3-1001D:(A;;GA;;;WD)', answer: '{"form":1}', code: 4, asked: 'no' },
    { of: 'a service that hangs', rights: 'O:BAD:(A;;GA;;;BA)', code: 3, asked: 'yes' },
  ];
  test('asks a status pipe only if no other user owns it', async () => {
    const { machine, service } = await open(healthy);
    const server = 'C:\\status-pipe.exe';
    const source = readFileSync(join(import.meta.dirname, 'status-pipe.c'));
    writeFileSync(machine.file(server), compile(source, { isWide: true }));
    expect(await service.host('--ask', '\\\\.\\pipe\\nobody', 'S-1-5-80-1')).toMatchObject({ code: 1, out: '' });
    for (const [n, { of, rights, answer, code, asked }] of pipes.entries()) {
      const pipe = `\\\\.\\pipe\\status-${n}`;
      const served = machine.run(server, [pipe, rights, ...(answer === undefined ? [] : [answer])], {
        timeoutMs: 8_000,
      });
      const ended = await until(
        async () => {
          const one = await service.host('--ask', pipe, 'S-1-5-80-1');
          return one.code === 1 ? null : one;
        },
        { what: `the pipe of ${of}` },
      );
      expect([of, ended.code, ended.out]).toEqual([of, code, code === 0 ? answer : '']);
      expect([of, (await served).out.trim()]).toEqual([of, `asked: ${asked}`]);
    }
  });

  test('in a console it runs the bridge as the service does, in an environment without what could change Node.js', async () => {
    const { service } = await open(
      'console.log(JSON.stringify({ argv: process.argv, execArgv: process.execArgv, env: process.env })); process.exit(78);',
    );
    const env = {
      NODE_OPTIONS: '--no-such-option',
      NODE_PATH: 'C:\\',
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      HTTPS_PROXY: 'http://proxy',
    };
    const ended = await service.console(env);
    expect(ended.out).toContain(`its log is ${dataFolder}\\logs\\bridge.log`);
    expect([ended.code, ended.err]).toEqual([78, expect.stringContaining('The bridge ended with exit code 78')]);
    const bridge = JSON.parse(String(service.log().find((line) => line.includes('"argv"'))));
    expect(bridge.argv.slice(1)).toEqual([
      'C:\\Program Files\\scheduled-events-bridge\\scheduled-events-bridge.cjs',
      'run',
      '--config',
      `${dataFolder}\\config.json`,
    ]);
    expect(bridge.execArgv).toEqual(['--max-semi-space-size=1']);
    for (const removed of ['NODE_OPTIONS', 'NODE_PATH', 'NODE_TLS_REJECT_UNAUTHORIZED']) {
      expect(bridge.env).not.toHaveProperty(removed);
    }
    expect(bridge.env).toMatchObject({
      HTTPS_PROXY: 'http://proxy',
      WATCHDOG_USEC: '60000000',
      NODE_COMPILE_CACHE: `${dataFolder}\\cache`,
      SCHEDULED_EVENTS_BRIDGE_STOP_ON_STDIN_END: '1',
    });
  });

  test('keeps the state of the bridge, starts a killed one again, and stops it', async () => {
    const { machine, service } = await open(healthy, { RestartSeconds: 1 });
    await service.start();
    const first = await service.untilState({ ActiveState: 'active', StatusText: 'Polling.' });
    const running = await service.query();
    expect(running).toMatchObject({ State: 'running', ProcessId: first.HostPID });
    expect(first).toMatchObject({ SubState: 'running', NRestarts: '0', Result: 'success', ExecMainStatus: '0' });
    expect(first.InvocationID).toMatch(/^[0-9a-f]{32}$/);
    expect(first.ActiveEnterTimestamp).toMatch(/^(Sun|Mon|Tue|Wed|Thu|Fri|Sat) \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);

    await machine.ok('taskkill', ['/f', '/pid', String(first.MainPID)]);
    const second = await service.untilState({ ActiveState: 'active', NRestarts: '1' });
    expect(second.HostPID).toBe(first.HostPID);
    expect(second.MainPID).not.toBe(first.MainPID);
    expect(second.InvocationID).not.toBe(first.InvocationID);

    await service.stop();
    expect(await service.untilStopped()).toMatchObject({ Win32ExitCode: '0', ServiceExitCode: '0' });
    expect(service.state()).toMatchObject({
      ActiveState: 'inactive',
      SubState: 'dead',
      MainPID: '0',
      Result: 'success',
    });
    expect(service.said()).toEqual([
      `the bridge started as process ${first.MainPID}.`,
      expect.stringMatching(/^the bridge ended with exit code \d+\. It is started again in 1 s\.$/),
      `the bridge started as process ${second.MainPID}.`,
      'the service stopped as requested; the bridge ended with exit code 0.',
    ]);
  });

  test('pauses double between the starts of a bridge that fails, and a stop does not wait for the next one', async () => {
    const { service } = await open('process.exit(1);', { RestartSeconds: 1, RestartLongestSeconds: 6 });
    await service.start();
    await until(() => service.said().some((line) => line.includes('again in 6 s')), { timeoutMs: 40_000 });
    const waiting = { ActiveState: 'activating', SubState: 'auto-restart' };
    expect(await service.untilState(waiting)).toMatchObject({ Result: 'exit-code', MainPID: '0', ExecMainStatus: '1' });
    await service.stop();
    await service.untilStopped();
    const pauses = service.said().flatMap((line) => /again in (\d) s/.exec(line)?.slice(1) ?? []);
    expect(pauses).toEqual(['1', '2', '4', '6']);
    expect(service.state()).toMatchObject({ ActiveState: 'inactive', NRestarts: '3' });
  });

  const hung = [
    { name: 'stops to report progress', script: `${prelude} say('READY=1'); onStop(() => {});` },
    { name: 'never becomes ready', script: `${prelude} setInterval(() => say('WATCHDOG=0'), 500);` },
  ];
  test.for(hung)('ends a bridge that $name, and starts it again', async ({ script }) => {
    const { service } = await open(script, { WatchdogSeconds: 2, StartSeconds: 2, RestartSeconds: 3 });
    await service.start();
    const { MainPID } = await service.untilState({ ActiveState: 'activating', SubState: 'auto-restart' });
    expect([MainPID, service.state().Result]).toEqual(['0', 'watchdog']);
    await service.untilState({ NRestarts: '1' });
    expect(service.said()[1]).toBe(
      'the bridge reported no progress for 2 s and was ended. It is started again in 3 s.',
    );
    expect(await service.query()).toMatchObject({ State: 'running' });
  });

  test('ends a bridge that ignores the request to stop', async () => {
    const { port, open: connected } = await connections();
    const { service } = await open(
      `${healthy} process.stdin.removeAllListeners('end'); connect(${port}, '127.0.0.1', function () { this.write('bridge'); });`,
      { StopSeconds: 2 },
    );
    await service.start();
    await service.untilState({ ActiveState: 'active' });
    await until(() => connected().length === 1);
    await service.stop();
    await service.untilState({ ActiveState: 'deactivating', SubState: 'stop-sigterm' });
    expect(connected()).toEqual(['bridge']);
    expect(await service.untilStopped()).toMatchObject({ Win32ExitCode: '0' });
    expect(connected()).toEqual([]);
    expect(service.state()).toMatchObject({ ActiveState: 'failed', Result: 'timeout' });
    expect(service.said()).toContain('the bridge did not stop within 2 s and is ended.');
  });

  test.for([69, 76, 78])('a bridge that ends with %i stops the service with this code', async (code) => {
    const { service } = await open(`console.error('The configuration is wrong.'); process.exit(${code});`);
    await service.start();
    expect(await service.untilStopped()).toMatchObject({ Win32ExitCode: '1066', ServiceExitCode: `${code}` });
    expect(service.state()).toMatchObject({
      ActiveState: 'failed',
      ExecMainStatus: `${code}`,
      NRestarts: '0',
      Result: 'exit-code',
    });
    expect(service.log()).toContain('The configuration is wrong.');
  });

  test('all that the bridge has started ends with it or with the host, and cannot notify in its place', async () => {
    const { port, open: connected } = await connections();
    const sender = `${prelude} say('STATUS=from a sender'); connect(${port}, '127.0.0.1', function () { this.write('sender ' + process.argv[1]); });`;
    const { machine, service } = await open(
      `${healthy}
      require('node:child_process')
        .spawn(process.execPath, ['-e', ${JSON.stringify(sender)}, String(process.pid)], { detached: true, stdio: 'ignore' }).unref();`,
      { RestartSeconds: 1 },
    );
    await service.start();
    const { MainPID } = await service.untilState({ ActiveState: 'active' });
    await until(() => connected().length === 1);
    expect(connected()).toEqual([`sender ${MainPID}`]);
    await machine.ok('taskkill', ['/f', '/pid', String(MainPID)]);
    const again = await service.untilState({ ActiveState: 'active', NRestarts: '1' });
    await until(() => connected().join() === `sender ${again.MainPID}`, {
      what: 'only the sender of the second bridge',
    });
    expect(service.state().StatusText).toBe('Polling.');
    await machine.ok('taskkill', ['/f', '/pid', String(again.HostPID)]);
    await until(() => connected().length === 0, { what: 'the end of all that a killed host has started' });
  });

  test('a log file that is full becomes an older one, and the five newest of them stay', async () => {
    const lines = 60;
    const { service } = await open(
      `for (let line = 0; line < ${lines}; line++) console.log(String(line).padStart(99, '.')); console.log('the last line');${healthy}`,
      { LogKilobytes: 1 },
    );
    await service.start();
    await until(() => service.log().includes('the last line'), { what: 'all lines' });
    expect(service.logFiles().toSorted()).toEqual([
      ...[1, 2, 3, 4, 5].map((number) => `bridge.${number}.log`),
      'bridge.log',
    ]);
    const kept = [5, 4, 3, 2, 1, undefined].map((number) =>
      service.log(number).filter((line) => line.startsWith('...')),
    );
    // Ten lines of a hundred bytes are the most below 1,024 bytes.
    for (const file of kept.slice(0, 5)) expect(file).toHaveLength(10);
    const numbers = kept.flat().map((line) => Number(line.replaceAll('.', '')));
    const [first = Number.NaN] = numbers;
    expect(numbers).toEqual(Array.from({ length: lines - first }, (_, at) => first + at));
  });

  test('a log file that a reader does not let be renamed becomes an older one nevertheless', async () => {
    const lines = 60;
    const { machine, service } = await open(
      `const { existsSync } = require('node:fs');
      const waiting = setInterval(() => {
        if (!existsSync('C:\\\\held')) return;
        clearInterval(waiting);
        for (let line = 0; line < ${lines}; line++) console.log(String(line).padStart(99, '.'));
        console.log('the last line');
      }, 50);${healthy}`,
      { LogKilobytes: 1 },
    );
    const reader = 'C:\\hold-file.exe';
    writeFileSync(
      machine.file(reader),
      compile(readFileSync(join(import.meta.dirname, 'hold-file.c')), { isWide: true }),
    );
    await service.start();
    await service.untilState({ ActiveState: 'active' });
    const held = machine.run(reader, [`${dataFolder}\\logs\\bridge.log`], { timeoutMs: 60_000 });
    await until(() => service.log().includes('the last line'), { what: 'all lines' });
    expect(service.logFiles().toSorted()).toContain('bridge.5.log');
    const numbered = [5, 4, 3, 2, 1, undefined].map((number) =>
      service.log(number).filter((line) => line.startsWith('...')),
    );
    for (const file of numbered) expect(file.length).toBeLessThanOrEqual(10);
    const numbers = numbered.flat().map((line) => Number(line.replaceAll('.', '')));
    const [first = Number.NaN] = numbers;
    expect(numbers).toEqual(Array.from({ length: lines - first }, (_, at) => first + at));
    await machine.ok('taskkill', ['/f', '/im', 'hold-file.exe']);
    await held;
  });
});
