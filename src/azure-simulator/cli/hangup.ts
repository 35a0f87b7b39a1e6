/**
 * Aborted when the terminal is closed. For commands that a person watches; a service that was started with `nohup` must not
 * end with it, so the process as a whole does not listen.
 */
export function hangup(): AbortSignal {
  const gone = new AbortController();
  process.once('SIGHUP', () => gone.abort());
  return gone.signal;
}
