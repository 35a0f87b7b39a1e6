import { closeSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { win32 } from 'node:path';
import { operatingSystemOf } from '../operating-system.ts';
import { describeMistake, duplicateKeys } from './json-mistake.ts';
import type { ConfigDocument } from './read-config.ts';

/** Default paths of the configuration file and the state directory. */
export function platformPaths(platform: NodeJS.Platform, env: NodeJS.ProcessEnv) {
  const { configurationFile, stateDirectory } = operatingSystemOf(platform);
  if (platform !== 'win32') return { configFile: configurationFile, stateDirectory };
  const home = env.ProgramData ?? 'C:\\ProgramData';
  const complete = (path: string): string => win32.normalize(path.replace('%ProgramData%', () => home));
  return { configFile: complete(configurationFile), stateDirectory: complete(stateDirectory) };
}

/** `absent`: there is no such file. `problem`: one sentence; it never quotes the file, which may hold a secret. */
export type ConfigFile =
  | { readonly kind: 'read'; readonly document: ConfigDocument }
  | { readonly kind: 'absent' }
  | { readonly kind: 'problem'; readonly problem: string };

/**
 * Reads one JSON file. On POSIX it is refused when every user can change it, and may hold secrets only when others cannot read it; on
 * Windows only `check` looks at access rights.
 */
export function readConfigFile(file: string, platform: NodeJS.Platform): ConfigFile {
  let text: string;
  let stat: Stats;
  try {
    const fd = openSync(file, 'r');
    try {
      stat = fstatSync(fd);
      text = readFileSync(fd, 'utf8').replace(/^\uFEFF/, '');
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return describeReadError(file, error as NodeJS.ErrnoException);
  }
  const isPosix = platform !== 'win32';
  // Only of a file: a device such as /dev/null keeps no configuration.
  if (isPosix && stat.isFile() && (stat.mode & 0o002) !== 0) {
    const problem = `Every user can change ${file}, and with it where records go and what is approved: expected a file that only its owner can change (chmod o-w ${file}).`;
    return { kind: 'problem', problem };
  }
  const problem = mistakeIn(text, file);
  if (problem !== null) return { kind: 'problem', problem };
  const keepsSecrets = !isPosix || (stat.mode & 0o004) === 0;
  return { kind: 'read', document: { value: JSON.parse(text), source: file, keepsSecrets } };
}

function mistakeIn(text: string, file: string): string | null {
  try {
    JSON.parse(text);
  } catch {
    return `${file} is not JSON: ${describeMistake(text)}.`;
  }
  const [first] = duplicateKeys(text);
  return first === undefined
    ? null
    : `${first.path} is set twice in ${file}, again ${first.place}: keep one of the two.`;
}

const denied = 'permission denied; run as a user that may read it, or change its access rights';

function describeReadError(file: string, error: NodeJS.ErrnoException): ConfigFile {
  if (error.code === 'ENOENT') return { kind: 'absent' };
  const why = new Map([
    ['EACCES', denied],
    // What Windows answers.
    ['EPERM', denied],
    ['EISDIR', 'it is a directory; name the file in it'],
  ]).get(error.code ?? '');
  return { kind: 'problem', problem: `The configuration file ${file} cannot be read: ${why ?? error.message}.` };
}
