import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** On Windows a file that another process reads cannot be replaced; the guest agent reads for milliseconds. */
const attempts = 20;
const pauseMs = 50;

/**
 * A reader finds the old content or the new one, never a part: written beside it, then renamed over it. Beside it each process has a file
 * of its own: the guest agent may repeat a command while the one before still runs.
 */
export function replaceFile(path: string, content: string, mode: number): void {
  const beside = join(dirname(path), `.${basename(path)}.${process.pid}.new`);
  rmSync(beside, { force: true });
  const fd = openSync(beside, 'wx', mode);
  try {
    writeFileSync(fd, content);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      renameSync(beside, path);
      return;
    } catch (error) {
      if (process.platform !== 'win32' || attempt === attempts) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
}
