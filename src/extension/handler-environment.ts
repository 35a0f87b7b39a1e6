import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../clock.ts';
import { messageOf } from '../log.ts';
import { Refusal } from '../service/refusals.ts';

/**
 * The folders that the guest agent gives a handler.
 * https://github.com/Azure/azure-vmextension-publishing/wiki/2.0-Partner-Guide-Handler-Design-Details
 */
export interface HandlerEnvironment {
  /** For the handler's own logs. */
  readonly logFolder: string;
  /** Holds `<sequence number>.settings`. */
  readonly configFolder: string;
  /** Takes `<sequence number>.status`. */
  readonly statusFolder: string;
}

export const environmentFile = 'HandlerEnvironment.json';
const attempts = 5;
const pauseMs = 1_000;

/**
 * Reads `HandlerEnvironment.json` in the folder of the handler, or in the one above it. Again where that fails: the guest agent may
 * be writing it. @throws Refusal where it stays unreadable or names too few folders.
 */
export async function readHandlerEnvironment(folder: string, clock: Clock): Promise<HandlerEnvironment> {
  let why = '';
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    if (attempt > 1) await clock.sleep(pauseMs);
    for (const file of [join(folder, environmentFile), join(dirname(folder), environmentFile)]) {
      try {
        return environmentIn(readFileSync(file, 'utf8'));
      } catch (error) {
        const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
        if (!isAbsent || why === '') why = isAbsent ? `there is none in ${folder}` : `${file}: ${messageOf(error)}`;
      }
    }
  }
  throw new Refusal(
    'missing',
    `${environmentFile} of the guest agent cannot be used: ${why}. Only the Azure guest agent can run this command; elsewhere use "scheduled-events-bridge service".`,
  );
}

/** @throws Error with the reason, a phrase. */
export function environmentIn(text: string): HandlerEnvironment {
  const parsed: unknown = JSON.parse(withoutMark(text));
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  const folders: unknown = isObject(first) ? first.handlerEnvironment : null;
  if (!isObject(folders)) throw new Error('it has no handlerEnvironment');
  const folderAt = (name: keyof HandlerEnvironment): string => {
    const path = folders[name];
    if (typeof path !== 'string' || path === '') throw new Error(`it names no ${name}`);
    return path;
  };
  return {
    logFolder: folderAt('logFolder'),
    configFolder: folderAt('configFolder'),
    statusFolder: folderAt('statusFolder'),
  };
}

/** Text without the byte order mark that Windows' tools put first. */
export const withoutMark = (text: string): string => text.replace(/^\uFEFF/, '');

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
