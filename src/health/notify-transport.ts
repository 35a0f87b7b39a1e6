import { execFile } from 'node:child_process';
import { connect } from 'node:net';

/** Why a notification was not sent: a stable code, and a reason in a few words. */
export interface NotifyFailure {
  readonly code: string;
  readonly reason: string;
}

/** Sends words like `READY=1` to a service manager. */
export interface NotifyTransport {
  /** Never rejects. @returns null if they were sent. */
  send(words: readonly string[], env: NodeJS.ProcessEnv): Promise<NotifyFailure | null>;
  /** What to do about failures. */
  readonly remedy: string;
}

const timeoutMs = 5_000;

/** By the form of NOTIFY_SOCKET: a pipe of Windows is one of the service host, all else is systemd's. */
export const transportFor = (socket: string): NotifyTransport =>
  socket.startsWith('\\\\.\\pipe\\') ? serviceHost : systemd;

/** Node has no datagram sockets of the Unix kind, so a program sends them. */
const systemd: NotifyTransport = {
  remedy: 'install systemd-notify, and set NotifyAccess=all in the unit',
  send: (words, env) =>
    new Promise((resolve) => {
      execFile('systemd-notify', words, { env, timeout: timeoutMs }, (error) => {
        if (error === null) return resolve(null);
        const code = typeof error.code === 'string' ? error.code : 'failed';
        resolve({
          code,
          reason: code === 'ENOENT' ? 'systemd-notify is not installed' : (error.message.split('\n', 1)[0] ?? ''),
        });
      });
    }),
};

const serviceHost: NotifyTransport = {
  remedy: 'restart the service; until then its service host restarts the bridge, because it sees no progress',
  send: (words, { NOTIFY_SOCKET = '' }) => sendLines(NOTIFY_SOCKET, words),
};

/** Writes each word as a line to a pipe of Windows, or to a Unix socket. The service host takes one connection at a time. */
export function sendLines(path: string, words: readonly string[]): Promise<NotifyFailure | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (failure: NotifyFailure | null): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(failure);
    };
    const timer = setTimeout(() => end({ code: 'ETIMEDOUT', reason: `${path} takes nothing` }), timeoutMs);
    socket.on('error', ({ code = 'failed', message }: NodeJS.ErrnoException) => end({ code, reason: message }));
    socket.end(`${words.join('\n')}\n`, () => end(null));
  });
}
