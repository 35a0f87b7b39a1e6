import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Why nothing can be traced here; null if it can. */
export function whyNoStrace(): string | null {
  const { status, error, stderr } = spawnSync('strace', ['-o', '/dev/null', 'true'], { encoding: 'utf8' });
  if (status === 0) return null;
  return `strace cannot be used (${error?.message ?? stderr.trim()})`;
}

/** Every call that opens, writes, flushes, renames or removes files, sends, or could do so unseen. */
const traced = [
  'open,openat,creat,write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,sendfile,copy_file_range,fallocate',
  'fsync,fdatasync,sync_file_range,msync,rename,renameat,renameat2,unlink,unlinkat,rmdir,truncate,ftruncate',
  'mmap,link,linkat,symlink,symlinkat,mkdir,mkdirat,io_uring_setup',
].join(',');

/** Of all threads, with the names behind descriptors and all that is written. */
export const traceOptions = (out: string): readonly string[] => [
  '-f',
  '-y',
  '-s',
  '200000',
  '-o',
  out,
  '-e',
  `trace=${traced}`,
];

/**
 * Writes a program that runs another one under strace, as the same process: signals reach the traced program.
 * @param out where strace writes, with what the buffers hold.
 */
export function tracedProgram(program: string, folder: string, out: string): string {
  const file = join(folder, 'traced.cjs');
  const command = ['strace', '-D', '-q', ...traceOptions(out), process.execPath, program];
  const strace = spawnSync('sh', ['-c', 'command -v strace'], { encoding: 'utf8' }).stdout.trim();
  writeFileSync(
    file,
    `process.execve(${JSON.stringify(strace)}, [...${JSON.stringify(command)}, ...process.argv.slice(2)], process.env);\n`,
  );
  chmodSync(file, 0o755);
  return file;
}

/** One call that succeeded, at the moment of its return; a call that sends or writes, at its beginning. */
export interface TracedCall {
  readonly name: string;
  /** The file or the kind of socket behind its first descriptor or name, as strace shows it. */
  readonly path: string;
  /** The whole line or, of a call that was interrupted, its beginning. */
  readonly text: string;
}

/** Reads what strace wrote with `-f -y`; calls of several threads are put together. */
export function readTrace(file: string): readonly TracedCall[] {
  if (!existsSync(file)) return [];
  const open = new Map<string, string>();
  const calls: TracedCall[] = [];
  for (const line of readFileSync(file, 'latin1').split('\n')) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/s.exec(line) ?? [];
    if (rest.endsWith('<unfinished ...>')) {
      open.set(thread, rest.slice(0, -'<unfinished ...>'.length));
      continue;
    }
    const [, resumed] = /^<\.\.\. \w+ resumed>(.*)$/s.exec(rest) ?? [];
    const text = resumed === undefined ? rest : `${open.get(thread) ?? ''}${resumed}`;
    open.delete(thread);
    const [, name = ''] = /^(\w+)\(/.exec(text) ?? [];
    if (name === '' || / = -1 E\w+/.test(text.slice(-200)) || /\) += \?$/.test(text)) continue;
    calls.push({ name, path: pathOf(name, text), text });
  }
  return calls;
}

function pathOf(name: string, text: string): string {
  if (name === 'mmap') return /, \d+<([^>]*)>/.exec(text)?.[1] ?? '';
  const byFd = /^\w+\((?:\d+|AT_FDCWD)<([^>]*)>(?:, "([^"]*)")?/.exec(text);
  if (!byFd) return /^\w+\("([^"]*)"/.exec(text)?.[1] ?? '';
  const [, file = '', below] = byFd;
  if (!/at2?$/.test(name) || below === undefined) return file;
  return below.startsWith('/') ? below : `${file}/${below}`;
}
