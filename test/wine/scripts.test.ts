import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentsOf } from '../../infra/package/contents.ts';
import { refusals } from '../../src/service/refusals.ts';
import { commandScript } from '../../src/service/windows/scripts.ts';
import { moment, smallProgram, smallRuntime } from '../infra/package/harness.ts';
import { nodeProgram, openWindows, type WindowsMachine, whyNoWine } from './windows-machine.ts';

/** Replaces the program: prints how it was called, and ends with a code that a command line can set. */
const printing = `
const { SCRIPT_CODE: code, NODE_OPTIONS, NODE_PATH, ProgramFiles } = process.env;
console.log(JSON.stringify({ args: process.argv.slice(2), NODE_OPTIONS, NODE_PATH, ProgramFiles }));
process.exit(Number(code ?? 0));
`;

/** Each has characters that are special to cmd.exe. */
const folder = 'C:\\Users\\R&D (team) 100!\\the package';

let machine: WindowsMachine;

/** Lays out a package with a program that prints. */
function layOut(to: string, runtime: Buffer): void {
  const program = { ...smallProgram, bundle: Buffer.from(printing) };
  const serviceHost = Buffer.from('not started here');
  for (const { path, content } of contentsOf({
    platform: 'win-x64',
    program,
    runtime: { ...smallRuntime, program: runtime },
    serviceHost,
    at: moment,
    key: null,
  })) {
    const file = machine.file(`${to}\\${path}`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/** Runs lines as cmd.exe reads them from a script, and ends with the code of the last one. */
async function cmd(...lines: readonly string[]) {
  const script = 'C:\\run.cmd';
  writeFileSync(machine.file(script), ['@echo off', ...lines, 'exit /b %ERRORLEVEL%', ''].join('\r\n'));
  const { code, out, err } = await machine.run('cmd.exe', ['/c', script]);
  return { code, out: out.trim(), err: err.trim() };
}

describe.skipIf(whyNoWine !== '')(`the scripts of the Windows package${whyNoWine}`, () => {
  beforeAll(async () => {
    machine = await openWindows();
    layOut(folder, readFileSync(await nodeProgram()));
  });
  afterAll(() => machine[Symbol.asyncDispose]());

  const calls: readonly { name: string; line: string; args: readonly string[] }[] = [
    { name: 'install', line: 'install.cmd"', args: ['install', '--from', `${folder}\\.`] },
    {
      name: 'install with a configuration and options',
      line: 'install.cmd" "my config & more.json" --no-start --key "a b.pem"',
      args: [
        'install',
        '--from',
        `${folder}\\.`,
        '--config',
        'my config & more.json',
        '--no-start',
        '--key',
        'a b.pem',
      ],
    },
    {
      name: 'install with options only',
      line: 'install.cmd" --no-start',
      args: ['install', '--from', `${folder}\\.`, '--no-start'],
    },
    {
      name: 'update with a configuration',
      line: 'UPDATE.CMD" config.json',
      args: ['update', '--from', `${folder}\\.`, '--config', 'config.json'],
    },
    { name: 'remove', line: 'remove.cmd" --keep-state', args: ['uninstall', '--keep-state'] },
  ];

  test.for(calls)('cmd.exe calls $name', async ({ line, args }) => {
    const { code, out, err } = await cmd(`call "${folder}\\${line}`);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out).args).toEqual(['service', ...args]);
  });

  test('cmd.exe gets the exit code of the program', async () => {
    for (const script of ['install', 'update', 'remove', 'scheduled-events-bridge']) {
      expect([script, (await cmd('set SCRIPT_CODE=55', `call "${folder}\\${script}.cmd"`)).code]).toEqual([script, 55]);
    }
  });

  test('cmd.exe passes all words to the command', async () => {
    const { out } = await cmd(`call "${folder}\\scheduled-events-bridge.cmd" status "a&b" "x (y)" --json`);
    expect(JSON.parse(out).args).toEqual(['status', 'a&b', 'x (y)', '--json']);
  });

  test('the command of an installation passes all words to its version, without variables for other Node processes', async () => {
    const home = 'C:\\Program Files\\scheduled-events-bridge';
    layOut(`${home}\\versions\\1.0.0`, readFileSync(await nodeProgram()));
    writeFileSync(machine.file(`${home}\\scheduled-events-bridge.cmd`), commandScript('1.0.0'));
    const { code, out } = await cmd(
      'set SCRIPT_CODE=20',
      'set NODE_OPTIONS=--require=C:\\agent.js',
      'set NODE_PATH=C:\\elsewhere',
      `call "${home}\\scheduled-events-bridge.cmd" status --config "C:\\R & D (x)\\a|b>c.json" --json`,
    );
    expect({ code, ...JSON.parse(out) }).toEqual({
      ...{ code: 20, args: ['status', '--config', 'C:\\R & D (x)\\a|b>c.json', '--json'] },
      ProgramFiles: 'C:\\Program Files',
    });
  });

  test('variables for other Node processes, and folders of 32-bit programs, are not used on Windows', async () => {
    const { out } = await cmd(
      'set NODE_OPTIONS=--require=C:\\agent.js',
      'set NODE_PATH=C:\\elsewhere',
      'set "ProgramFiles=C:\\Program Files (x86)"',
      `call "${folder}\\scheduled-events-bridge.cmd" check`,
    );
    expect(JSON.parse(out)).toEqual({ args: ['check'], ProgramFiles: 'C:\\Program Files' });
  });

  const processors = [
    ['PROCESSOR_ARCHITECTURE', 'ARM64'],
    ['PROCESSOR_ARCHITEW6432', 'ARM64'],
    ['PROCESSOR_ARCHITECTURE', 'x86'],
  ] as const;
  test.for(processors)('a package for another processor is refused where %s is %s', async ([name, value]) => {
    expect(await cmd(`set ${name}=${value}`, `call "${folder}\\install.cmd"`)).toEqual({
      code: refusals.unsupported.code,
      out: '',
      err: `The package is for x64 (AMD64), and this machine is ${value}: there is no package for it.`,
    });
  });

  test('a 32-bit program on a 64-bit machine can install', async () => {
    const { code } = await cmd(
      'set PROCESSOR_ARCHITECTURE=x86',
      'set PROCESSOR_ARCHITEW6432=AMD64',
      `call "${folder}\\install.cmd"`,
    );
    expect(code).toBe(0);
  });

  describe('in a folder where something is missing or damaged', () => {
    const damaged = 'C:\\R&D (copy)!';
    const here = `${damaged}\\`;
    const cases: readonly { name: string; change: () => void; message: string }[] = [
      {
        name: 'without a manifest',
        change: () => rmSync(machine.file(`${here}manifest.json`)),
        message: `The package in ${here} is not complete: manifest.json is missing. Unpack the archive again.`,
      },
      {
        name: 'without a runtime',
        change: () => rmSync(machine.file(`${here}node.exe`)),
        message: `The package in ${here} is not complete: node.exe is missing. Unpack the archive again.`,
      },
      {
        name: 'with half a runtime',
        change: () => writeFileSync(machine.file(`${here}node.exe`), 'MZ half'),
        message: `The package in ${here} is damaged: node.exe has 7 bytes, which is another size than in manifest.json. Fetch it again.`,
      },
      {
        name: 'with a runtime that Windows does not start',
        change: () => {},
        message: `Windows does not start ${here}node.exe: allow it where AppLocker, App Control or a virus scanner blocks it. It is signed by the OpenJS Foundation.`,
      },
    ];
    test.for(cases)('a package $name is refused', async ({ change, message }) => {
      rmSync(machine.file(damaged), { recursive: true, force: true });
      layOut(damaged, Buffer.from('MZ no program'));
      change();
      const expected = { code: refusals.missing.code, out: '', err: message };
      expect(await cmd(`call "${here}install.cmd" config.json`)).toEqual(expected);
      expect(await cmd(`call "${here}update.cmd"`)).toEqual(expected);
    });
  });
});
