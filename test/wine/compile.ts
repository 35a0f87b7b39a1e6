import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findCompiler } from '../../infra/package/service-host.ts';

/** A program for Windows of this source in C. `isWide`: it begins with wmain. */
export function compile(source: string | Buffer, { isWide = false } = {}): Buffer {
  const compiler = findCompiler();
  if (compiler === null) throw new Error('There is no compiler for Windows.');
  const { root } = compiler;
  const folder = mkdtempSync(join(root ?? '', '/tmp/compiled-'));
  const made = `${root === null ? folder : folder.slice(root.length)}/made.exe`;
  const flags = ['-Os', '-Wall', '-Wextra', '-Werror', ...(isWide ? ['-municode'] : [])];
  const gcc = ['x86_64-w64-mingw32-gcc', ...flags, '-x', 'c', '-', '-o', made];
  const [program = '', ...args] = root === null ? gcc : ['chroot', root, 'env', '-i', 'PATH=/usr/bin:/bin', ...gcc];
  try {
    execFileSync(program, args, { input: source, stdio: ['pipe', 'ignore', 'inherit'] });
    return readFileSync(join(folder, 'made.exe'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
