import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { contentsOf } from '../../infra/package/contents.ts';
import type { PackedFile } from '../../infra/package/packed-file.ts';
import { serviceHost } from '../../infra/package/service-host.ts';
import { version } from '../../src/process/version.ts';
import { moment, smallProgram, smallRuntime } from '../infra/package/harness.ts';
import { mainFile } from '../support/program.ts';
import { compile } from './compile.ts';
import { nodeProgram, type WindowsMachine } from './windows-machine.ts';

/** What becomes of the service of a version. */
export type Fault = 'none' | 'dies';

/** The files of a package for Windows: the bridge of this run, under another number. */
export async function packageOf(number: string, fault: Fault = 'none'): Promise<readonly PackedFile[]> {
  const host = await serviceHost();
  if ('whyNot' in host) throw new Error(host.whyNot);
  const dies = 'if (process.argv[2] === "run") { console.error("This version is broken."); process.exit(1); }';
  const bundle = readFileSync(mainFile, 'utf8')
    .replace(/^#!.*\n/, '')
    .replaceAll(`"${version}"`, `"${number}"`);
  return contentsOf({
    platform: 'win-x64',
    program: { ...smallProgram, version: number, bundle: Buffer.from(`${fault === 'dies' ? dies : ''}\n${bundle}`) },
    runtime: { ...smallRuntime, program: readFileSync(await nodeProgram()) },
    serviceHost: host.program,
    at: moment,
    key: null,
  });
}

/** Puts the folder of a package on a machine, as its archive unpacks to. @returns the folder. */
export async function placePackage(machine: WindowsMachine, number: string, fault?: Fault): Promise<string> {
  const folder = `C:\\packages\\the ${number}`;
  for (const { path, content } of await packageOf(number, fault)) {
    const file = machine.file(`${folder}\\${path}`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return folder;
}

/** Replaces sc.exe of the machine by one that has all verbs of the installer: see sc.c. */
export function placeServiceControl(machine: WindowsMachine): void {
  const source = readFileSync(join(import.meta.dirname, 'sc.c'));
  writeFileSync(machine.file('C:\\windows\\system32\\sc.exe'), compile(source, { isWide: true }));
}
