import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../log.ts';
import type { HandlerLog } from './handler-log.ts';
import { replaceFile } from './replace-file.ts';

export type StatusWord = 'transitioning' | 'warning' | 'error' | 'success';

/** One part of a status: the service, or something that it uses. */
export interface Substatus {
  readonly name: string;
  readonly status: StatusWord;
  readonly message: string;
}

// assumption: extension-status-shown
/** What the guest agent reports to Azure for one sequence number. `success` and `error` are final. */
export interface ExtensionStatus {
  readonly status: Exclude<StatusWord, 'warning'>;
  /** Exit code of the command; 0 unless it failed. */
  readonly code: number;
  /** Begins with one sentence for an operator. */
  readonly message: string;
  readonly substatuses: readonly Substatus[];
}

/** The guest agent shortens messages of a status file of more than 128 KiB; these never make one. In characters. */
const longest = { message: 3_000, substatus: 1_000 } as const;

const statusFile = (statusFolder: string, number: number): string => join(statusFolder, `${number}.status`);

/** These settings have a final status, which is success. Any other has to be replaced: a command that was killed leaves "transitioning". */
export function hasSucceeded(statusFolder: string, number: number): boolean {
  try {
    const [entry] = JSON.parse(readFileSync(statusFile(statusFolder, number), 'utf8'));
    return entry.status.status === 'success';
  } catch {
    return false;
  }
}

interface StatusOrigin {
  /** Default: `Enable`. */
  readonly operation?: 'Enable' | 'Update';
  readonly now: Date;
  /** When the settings were taken up. */
  readonly began: Date;
}

/** Replaces the status in one step: the guest agent may read it at any moment. */
export function writeStatus(statusFolder: string, number: number, status: ExtensionStatus, about: StatusOrigin): void {
  // Readable by all, as the agent expects: https://github.com/Azure/azure-extension-platform/blob/main/pkg/status/status.go
  replaceFile(statusFile(statusFolder, number), `${statusText(status, about)}\n`, 0o644);
}

/** A status that cannot be written, perhaps because the disk is full, must not hide why. */
export function unlessImpossible(log: HandlerLog, write: () => void): void {
  try {
    write();
  } catch (error) {
    log.write(`The status cannot be written: ${messageOf(error)}`);
  }
}

/** An array, of which the guest agent reports the first entry only. */
const statusText = (
  { status, code, message, substatuses }: ExtensionStatus,
  { operation = 'Enable', now, began }: StatusOrigin,
): string =>
  JSON.stringify([
    {
      version: 1.0,
      timestampUTC: inSeconds(now),
      status: {
        name: 'scheduled-events-bridge',
        operation,
        configurationAppliedTime: inSeconds(began),
        status,
        code,
        formattedMessage: formatted(message, longest.message),
        substatus: substatuses.map(({ name, status: word, message: text }) => ({
          name,
          status: word,
          code: 0,
          formattedMessage: formatted(text, longest.substatus),
        })),
      },
    },
  ]);

const formatted = (message: string, most: number) => ({ lang: 'en-US', message: shortened(message, most) });

/** Of whole characters. */
export const shortened = (text: string, most: number): string => {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
};

const inSeconds = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z');
