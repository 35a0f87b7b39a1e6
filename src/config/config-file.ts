import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { win32 } from 'node:path';
import type { ConfigDocument } from './read-config.ts';

/** Default paths of the configuration file and the state directory. */
export function platformPaths(platform: NodeJS.Platform, env: NodeJS.ProcessEnv) {
  if (platform !== 'win32') {
    return {
      configFile: '/etc/scheduled-events-bridge/config.json',
      stateDirectory: '/var/lib/scheduled-events-bridge',
    };
  }
  const home = win32.join(env.ProgramData ?? 'C:\\ProgramData', 'scheduled-events-bridge');
  return { configFile: win32.join(home, 'config.json'), stateDirectory: win32.join(home, 'state') };
}

/** `absent`: there is no such file. `problem`: one sentence; it never quotes the file, which may hold a secret. */
export type ConfigFile =
  | { readonly kind: 'read'; readonly document: ConfigDocument }
  | { readonly kind: 'absent' }
  | { readonly kind: 'problem'; readonly problem: string };

/** Reads one JSON file. On POSIX it may hold secrets only when others cannot read it; access rights of Windows are not checked. */
export function readConfigFile(file: string, platform: NodeJS.Platform): ConfigFile {
  let text: string;
  let mode: number;
  try {
    const fd = openSync(file, 'r');
    try {
      mode = fstatSync(fd).mode;
      text = readFileSync(fd, 'utf8').replace(/^\uFEFF/, '');
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return describeReadError(file, error as NodeJS.ErrnoException);
  }
  try {
    const keepsSecrets = platform === 'win32' || (mode & 0o004) === 0;
    return { kind: 'read', document: { value: JSON.parse(text), source: file, keepsSecrets } };
  } catch {
    return { kind: 'problem', problem: `${file} is not JSON: ${locateMistake(text)}.` };
  }
}

function describeReadError(file: string, error: NodeJS.ErrnoException): ConfigFile {
  if (error.code === 'ENOENT') return { kind: 'absent' };
  const why = new Map([
    ['EACCES', 'permission denied; run as a user that may read it, or change its mode'],
    ['EISDIR', 'it is a directory; name the file in it'],
  ]).get(error.code ?? '');
  return { kind: 'problem', problem: `The configuration file ${file} cannot be read: ${why ?? error.message}.` };
}

/**
 * Line and column of the first mistake. Node's own message quotes the text around it, which may be a secret, and often has no
 * position. Text cut off before the mistake fails at its end, text cut off after it fails at the mistake: a binary search finds the
 * border.
 */
function locateMistake(text: string): string {
  if (text.trim() === '') return 'it is empty; expected at least {}';
  let good = 0;
  let bad = text.length;
  if (isTruncated(text)) return 'it ends too early; is a closing } or ] or a quotation mark missing?';
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isTruncated(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  const lines = text.slice(0, bad).split('\n');
  const place = `at line ${lines.length}, column ${lines.at(-1)?.length ?? 0}`;
  const isComment = /^\/[/*]/.test(text.slice(bad - 1));
  return isComment ? `a comment ${place}; JSON has none, write it as "$comment": "…" instead` : `syntax error ${place}`;
}

/** Whether its only mistake is that it ends too early. */
function isTruncated(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const message = (error as Error).message;
    const position = /at position (\d+)/.exec(message)?.[1];
    return position === undefined ? !message.startsWith('Unexpected token') : Number(position) >= text.length;
  }
}
