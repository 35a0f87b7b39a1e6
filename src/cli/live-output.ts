import type { Writable } from 'node:stream';
import type { CommandContext } from './command-context.ts';

/** Aborted when the command is asked to stop, or when the reader of its output has ended, as with `| head`. */
export function stopOrReaderGone(stop: AbortSignal, stdout: Writable = process.stdout): AbortSignal {
  const reader = new AbortController();
  stdout.on('error', () => reader.abort());
  return AbortSignal.any([stop, reader.signal]);
}

/** Whether a picture can be drawn over itself. NO_COLOR takes only its colours: `mayColour`. */
export const canRedraw = ({ isTTY }: { readonly isTTY?: boolean }, env: CommandContext['env']): boolean =>
  isTTY === true && env.TERM !== 'dumb';
