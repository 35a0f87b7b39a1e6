import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import commands from '../../infra/package/windows/commands.json' with { type: 'json' };
import { startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { configurationFor } from '../support/bridge-process.ts';
import { until } from '../support/until.ts';
import { compile } from './compile.ts';
import { openWindows, type WindowsMachine, whyNoWine } from './windows-machine.ts';
import { placePackage, placeServiceControl } from './windows-packages.ts';

const folder = 'C:\\Packages\\Downloads\\the application\\1.0.0';
const installed = 'C:\\Program Files\\scheduled-events-bridge';

/** Unpacks as tar.exe and powershell.exe would, neither of which Wine has: copies a folder, if it finds the archive where it is named. */
const unpacker = (place: string): string => `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>
int main(void) {
  const char *line = GetCommandLineA();
  if (!strstr(line, "scheduled-events-bridge.zip") || !strstr(line, "package")) return 9;
  if (GetFileAttributesA("scheduled-events-bridge.zip") == INVALID_FILE_ATTRIBUTES) return 8;
  puts("unpacked by ${place}");
  fflush(stdout);
  return system("xcopy /e /i /q C:\\\\unpacked package >nul");
}
`;

let machine: WindowsMachine;
let programs: Readonly<Record<'tar' | 'powershell', Buffer>>;

function put(path: string, content: Buffer | string): void {
  const file = machine.file(path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, content);
}
const script = (name: string, code: number): string =>
  ['@echo off', `echo ${name} %*`, 'type %1', `exit /b ${code}`, ''].join('\r\n');

/** Runs a command as Azure does: by cmd.exe, in the folder of the application. */
async function run(command: string) {
  put('C:\\run.cmd', `@echo off\r\ncd /d "${folder}"\r\n${command}\r\n`);
  // sc.exe is that of the test: Wine prefers its own otherwise.
  const options = { env: { WINEDLLOVERRIDES: 'sc.exe=n' }, timeoutMs: 200_000 };
  const { code, out } = await machine.run('cmd.exe', ['/c', 'C:\\run.cmd'], options);
  return { code, lines: out.trim().split(/\s*\r\n/) };
}

describe.skipIf(whyNoWine !== '')(`the VM application for Windows${whyNoWine}`, () => {
  beforeAll(async () => {
    machine = await openWindows();
    programs = { tar: compile(unpacker('tar')), powershell: compile(unpacker('PowerShell')) };
  });
  afterAll(() => machine[Symbol.asyncDispose]());
  beforeEach(() => {
    for (const path of ['C:\\unpacked', folder, installed])
      rmSync(machine.file(path), { recursive: true, force: true });
    put(`${folder}\\${commands.packageFileName}`, 'the archive');
    put(`${folder}\\${commands.configFileName}`, 'the configuration');
    put('C:\\windows\\system32\\tar.exe', programs.tar);
    put('C:\\windows\\system32\\WindowsPowershell\\v1.0\\powershell.exe', programs.powershell);
  });

  const unpackedPackage = `${folder}\\package`;
  const lay = (code: number): void => {
    for (const verb of ['install', 'update']) put(`C:\\unpacked\\${verb}.cmd`, script(verb, code));
  };

  test.for(['install', 'update'] as const)(
    'its command can %s repeatedly, and leaves no copy of the package',
    async (verb) => {
      lay(0);
      // What a run that was cut off has left.
      put(`${unpackedPackage}\\node.exe`, 'half');
      for (const _ of [1, 2]) {
        const lines = ['unpacked by tar', `${verb} config.json`, 'the configuration'];
        expect(await run(commands[verb])).toEqual({ code: 0, lines });
        expect(existsSync(machine.file(unpackedPackage))).toBe(false);
      }
    },
  );

  test.for(['install', 'update'] as const)(
    'a failed %s ends with its code, and can be repeated on the VM',
    async (verb) => {
      lay(53);
      const { code, lines } = await run(commands[verb]);
      expect([code, lines[1]]).toEqual([53, `${verb} config.json`]);
      expect(existsSync(machine.file(`${unpackedPackage}\\${verb}.cmd`))).toBe(true);
    },
  );

  test('where there is no tar.exe, PowerShell unpacks the package', async () => {
    lay(0);
    rmSync(machine.file('C:\\windows\\system32\\tar.exe'));
    const { code, lines } = await run(commands.install);
    expect([code, lines.slice(0, 2)]).toEqual([0, ['unpacked by PowerShell', 'install config.json']]);
  });

  test('nothing is installed where the archive is missing', async () => {
    lay(0);
    rmSync(machine.file(`${folder}\\${commands.packageFileName}`));
    const { code, lines } = await run(commands.install);
    expect(code).not.toBe(0);
    expect(lines.join()).not.toContain('config.json');
  });

  test.for([
    { name: 'is removed by its own remover', remover: 0, code: 0 },
    { name: 'that cannot be removed fails with its code', remover: 22, code: 22 },
    { name: 'that was refused or removed before can be removed', remover: null, code: 0 },
  ])('an application for Windows $name', async ({ remover, code }) => {
    if (remover !== null) put(`${installed}\\remove.cmd`, script('remove', remover));
    const ended = await run(commands.remove);
    expect(ended.code).toBe(code);
    expect(ended.lines[0]).toBe(remover === null ? '' : 'remove');
  });

  test('the commands install, update and remove the bridge, and the version before can be installed again', async () => {
    const azure = await startAzureSimulator();
    onTestFinished(() => azure.close());
    placeServiceControl(machine);
    const { imds } = configurationFor(azure, 'web_0', '');
    put(`${folder}\\${commands.configFileName}`, JSON.stringify({ imds, sinks: { stdout: {} } }));
    const bring = async (version: string): Promise<void> => {
      rmSync(machine.file('C:\\unpacked'), { recursive: true, force: true });
      renameSync(machine.file(await placePackage(machine, version)), machine.file('C:\\unpacked'));
    };
    const status = async (): Promise<{ readonly version: string; readonly enabled: boolean }> => {
      const { lines } = await run(`call "${installed}\\scheduled-events-bridge.cmd" service status --json`);
      return JSON.parse(lines.join('\n'));
    };

    await bring('1.0.0');
    expect((await run(commands.install)).code).toBe(0);
    expect(await status()).toMatchObject({ version: '1.0.0', enabled: true, service: { active: 'active' } });
    expect(existsSync(machine.file(unpackedPackage))).toBe(false);

    await bring('1.1.0');
    expect((await run(commands.update)).code).toBe(0);
    expect(await status()).toMatchObject({ version: '1.1.0', previous: '1.0.0', service: { active: 'active' } });

    // As the documents show the way back.
    expect((await run(`call "${installed}\\versions\\1.0.0\\update.cmd"`)).code).toBe(0);
    expect(await status()).toMatchObject({ version: '1.0.0', previous: '1.1.0', service: { active: 'active' } });

    expect((await run(commands.remove)).code).toBe(0);
    await until(() => !existsSync(machine.file(installed)), { timeoutMs: 30_000, what: 'the end of the program' });
  });
});
