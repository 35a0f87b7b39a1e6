/**
 * Aborted when the terminal is closed (SIGHUP). For interactive commands only: a service that was started with `nohup` must survive it,
 * so the process as a whole does not listen.
 */
export function hangup(): AbortSignal {
  const closed = new AbortController();
  process.once('SIGHUP', () => closed.abort());
  return closed.signal;
}
