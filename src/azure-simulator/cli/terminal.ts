import { readFileSync } from 'node:fs';
import type { ReadStream } from 'node:tty';
import type { Key } from './keys.ts';

/** Whether keys can be read: stdin and stdout are a terminal, and this is its foreground process. */
export function hasKeyboard(): boolean {
  return Boolean(process.stdin.isTTY && process.stdout.isTTY) && isInFront();
}

/** A background job that changed the terminal would be stopped by it. */
function isInFront(): boolean {
  try {
    const [, , processGroup, , , foreground] = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return processGroup === foreground;
  } catch {
    return true;
  }
}

/** Handles each key press until closed; closing restores the terminal. Ctrl+C counts as `q`. */
export function readKeys(input: ReadStream, keys: readonly Key[], print: (text: string) => void): { close(): void } {
  const press = async (char: string): Promise<void> => {
    const key = keys.find((one) => one.key === (char === '\u0003' ? 'q' : char));
    const text = await key?.press();
    if (text !== undefined) print(text);
  };
  const read = (chunk: Buffer): void => {
    const text = chunk.toString('utf8');
    // Arrows and the like come as a sequence that begins with Escape.
    if (!text.startsWith('\u001b')) for (const char of text) void press(char);
  };
  input.setRawMode(true);
  input.on('data', read);
  input.resume();
  return {
    close() {
      input.off('data', read);
      input.pause();
      input.setRawMode(false);
    },
  };
}
