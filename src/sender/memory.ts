import { readFileSync } from 'node:fs';

/**
 * Memory of a process that no file backs, in bytes: heap, stacks, buffers. The kernel is asked, since a process that is busy
 * allocating does not respond. Null where there is no /proc, or no such process.
 */
export function anonymousBytesOf(pid: number): number | null {
  try {
    const [, kilobytes] = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  } catch {
    return null;
  }
}
