import { createHash } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** In the state directory. */
export const socketName = 'status.sock';

/** For a state directory that cannot be written at start. systemd makes it for the service (RuntimeDirectory), root for itself. */
const runtimeDirectory = '/run/scheduled-events-bridge';

/** Bytes of a path that every platform accepts; Linux takes 107. https://man7.org/linux/man-pages/man7/unix.7.html */
const longestPath = 100;

/** A constant of open(2) that Node does not name: a handle on a directory, for which the right to search it is enough. */
const openPath = 0o10000000;

/** Where the service listens, best first: one named pipe on Windows, elsewhere a socket in one of two directories. */
export function statusPaths(directory: string, platform: NodeJS.Platform = process.platform): readonly string[] {
  const absolute = resolve(directory);
  const name = createHash('sha256')
    .update(platform === 'win32' ? absolute.toLowerCase() : absolute)
    .digest('hex')
    .slice(0, 16);
  if (platform === 'win32') return [`\\\\.\\pipe\\scheduled-events-bridge-${name}`];
  return [join(absolute, socketName), join(runtimeDirectory, `${name}.sock`)];
}

// assumption: windows-status-pipe
/**
 * Whether it is a named pipe. Node creates it with the default rights of Windows: full control for the system, administrators and the
 * account of the service, and reading for everyone. So that only the former are answered, an answer has to be asked for with a line.
 * https://learn.microsoft.com/windows/win32/ipc/named-pipe-security-and-access-rights
 */
export const isPipe = (path: string): boolean => path.startsWith('\\\\');

/** A path as the kernel takes it, valid until disposed of. */
export interface ShortPath extends Disposable {
  readonly path: string;
}

/**
 * A path that is too long for a socket address is reached through a handle on its directory, which only Linux offers.
 * @throws the error of the system where there is no such directory.
 */
export function shortPath(path: string): ShortPath {
  if (isPipe(path) || Buffer.byteLength(path) <= longestPath) return { path, [Symbol.dispose]: () => {} };
  const handle = openSync(dirname(path), openPath | constants.O_DIRECTORY);
  return {
    path: `/proc/self/fd/${handle}/${basename(path)}`,
    [Symbol.dispose]: () => closeSync(handle),
  };
}
