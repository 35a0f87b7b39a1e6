import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentsOf } from '../../infra/package/contents.ts';
import { extensionZip } from '../../infra/package/extension.ts';
import { readZip } from '../extension/read-zip.ts';
import { moment, smallProgram, smallRuntime } from '../infra/package/harness.ts';
import { root } from '../support/source-tree.ts';
import { nodeProgram, openWindows, type WindowsMachine, whyNoWine } from './windows-machine.ts';

/** As the guest agent of Windows names it. */
const folder = 'C:\\Packages\\Plugins\\Contoso.Bridge.ScheduledEventsBridge\\1.0.0';

/**
 * Replaces the program. `enable` remembers settings in the registry, and prints what was there before and is then; the others
 * print how they were called, and end with the code that a variable names.
 */
const program = `
import { replaceFile } from './src/extension/replace-file.ts';
import { inRegistry } from './src/extension/sequence-number.ts';
const { EXIT_CODE, NODE_OPTIONS, NODE_PATH } = process.env;
const [, , , verb, , folder] = process.argv;
async function remember() {
  const applied = inRegistry(folder, process.env);
  const before = await applied.read();
  await applied.write({ number: 31, hash: '0f3a' });
  for (const content of ['first', 'second']) replaceFile(folder + '\\\\status\\\\31.status', content, 0o644);
  console.log(JSON.stringify({ before, after: await applied.read() }));
}
if (verb === 'enable') remember();
else {
  console.log(JSON.stringify({ args: process.argv.slice(2), NODE_OPTIONS, NODE_PATH }));
  process.exit(Number(EXIT_CODE ?? 0));
}
`;

let machine: WindowsMachine;

function put(path: string, content: Buffer | string): void {
  mkdirSync(dirname(machine.file(path)), { recursive: true });
  writeFileSync(machine.file(path), content);
}

/** Runs a command of the manifest as the guest agent does, in the folder of the extension. */
async function command(name: string, ...lines: readonly string[]) {
  const [entry] = JSON.parse(readFileSync(machine.file(`${folder}\\HandlerManifest.json`), 'utf8'));
  const call = `call ${folder}\\${entry.handlerManifest[`${name}Command`]}`;
  put('C:\\run.cmd', ['@echo off', `cd /d ${folder}`, ...lines, call, 'exit /b %ERRORLEVEL%', ''].join('\r\n'));
  const { code, out, err } = await machine.run('cmd.exe', ['/c', 'C:\\run.cmd']);
  return { code, out: out.trim(), err: err.trim() };
}

describe.skipIf(whyNoWine !== '')(`the extension for Windows${whyNoWine}`, () => {
  beforeAll(async () => {
    const { outputFiles } = await build({
      stdin: { contents: program, resolveDir: root },
      bundle: true,
      platform: 'node',
      format: 'cjs',
      write: false,
    });
    const contents = contentsOf({
      platform: 'win-x64',
      program: { ...smallProgram, bundle: Buffer.from(outputFiles[0]?.contents ?? '') },
      runtime: { ...smallRuntime, program: readFileSync(await nodeProgram()) },
      serviceHost: Buffer.from('not started here'),
      at: moment,
      key: null,
    });
    machine = await openWindows();
    const zip = readZip(await extensionZip(contents, { platform: 'win-x64', at: moment }));
    for (const [path, content] of zip) put(`${folder}\\${path.replaceAll('/', '\\')}`, content);
    put(`${folder}\\status\\0.status`, '');
  });
  afterAll(() => machine[Symbol.asyncDispose]());

  test.for(['install', 'disable', 'update', 'uninstall'])(
    'the command %s of its manifest runs the package in its folder, without what other Nodes load',
    async (name) => {
      const { code, out } = await command(name, 'set NODE_OPTIONS=--no-such-option', 'set NODE_PATH=C:\\elsewhere');
      expect([code, JSON.parse(out)]).toEqual([0, { args: ['extension', name, '--folder', folder] }]);
    },
  );

  test('the script says who uses it and how, if it is run without a command', async () => {
    const { code, err } = await machine.run('cmd.exe', ['/c', `${folder}\\bin\\handler.cmd`]);
    expect([code, err.trim()]).toEqual([
      2,
      'Usage: handler.cmd install|enable|disable|update|uninstall. The guest agent of Azure runs this; people run scheduled-events-bridge service.',
    ]);
  });

  test('a failed command ends with its code', async () => {
    expect((await command('update', 'set EXIT_CODE=53')).code).toBe(53);
  });

  test('the settings are remembered in the registry, and a status is replaced', async () => {
    const after = { number: 31, hash: '0f3a' };
    expect(JSON.parse((await command('enable')).out)).toEqual({ before: null, after });
    expect(JSON.parse((await command('enable')).out)).toEqual({ before: after, after });
    expect(readFileSync(machine.file(`${folder}\\status\\31.status`), 'utf8')).toBe('second');
  });

  test('a package without its runtime is refused with 52 and what to do', async () => {
    rmSync(machine.file(`${folder}\\package\\node.exe`));
    const { code, err } = await command('install');
    expect([code, err]).toEqual([
      52,
      'The package in C:\\Packages\\Plugins\\Contoso.Bridge.ScheduledEventsBridge\\1.0.0\\package\\ is not complete: node.exe is missing. Remove the extension and deploy it again.',
    ]);
  });
});
