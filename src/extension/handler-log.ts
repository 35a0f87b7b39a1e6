import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The present file and one before it: the guest agent collects the folder, and nothing else empties it. */
const mostBytes = 1024 * 1024;

/** Writes what a command did to `handler.log` in the folder of the guest agent. Never throws: a log is no reason to fail. */
export interface HandlerLog {
  write(sentence: string): void;
}

export const noLog: HandlerLog = { write: () => {} };

export function openHandlerLog(logFolder: string, now: () => Date): HandlerLog {
  const file = join(logFolder, 'handler.log');
  return {
    write(sentence) {
      try {
        mkdirSync(logFolder, { recursive: true });
        const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
        if (size > mostBytes) renameSync(file, join(logFolder, 'handler.1.log'));
        appendFileSync(file, `${now().toISOString()} ${sentence}\n`, { mode: 0o600 });
      } catch {
        // The disk may be full, which is what the command then reports.
      }
    },
  };
}
