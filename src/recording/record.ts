import { setTimeout as sleep } from 'node:timers/promises';
import { apiVersion, type Endpoint } from './endpoint.ts';
import { type Change, type Header, isSame, type RecordedAnswer, writeChange, writeHeader } from './format.ts';

const timeoutMs = 10_000;
/** The first poll turns the feature on and may take two minutes. */
const firstTimeoutMs = 130_000;

export interface RecordOptions {
  readonly endpoint: Endpoint;
  /** The endpoint, as the header names it. */
  readonly url: string;
  /** Stores one line durably. */
  readonly write: (line: string) => void;
  readonly signal: AbortSignal;
  /** Between two polls. Default 1000. */
  readonly intervalMs?: number;
  readonly onHeader?: (header: Header) => void;
  readonly onChange?: (change: Change) => void;
}

/** Polls until `signal` and writes each change. Resolves with the number of changes. */
export async function record(options: RecordOptions): Promise<number> {
  const { endpoint, url, write, signal, intervalMs = 1000, onHeader, onChange } = options;
  const vm = await endpoint.vm(timeoutMs, signal);
  if (signal.aborted) return 0;
  const header: Header = { begunAt: new Date(), endpoint: url, apiVersion, vm };
  write(writeHeader(header));
  onHeader?.(header);

  let last: RecordedAnswer | null = null;
  let atSeconds = 0;
  let changes = 0;
  let deadlineMs = firstTimeoutMs;
  for (;;) {
    const polledMs = performance.now();
    const seen = await endpoint.poll(deadlineMs, signal);
    if (signal.aborted) return changes;
    if (!('failure' in seen)) deadlineMs = timeoutMs;
    // By the wall clock, as NotBefore is. It may be set back; the times of a recording never go back.
    atSeconds = Math.max(atSeconds, (Date.now() - header.begunAt.getTime()) / 1000);
    if (last === null || !isSame(last, seen)) {
      const change: Change = { atSeconds, seen };
      write(writeChange(change));
      onChange?.(change);
      changes += 1;
      last = seen;
    }
    await sleep(Math.max(0, intervalMs - (performance.now() - polledMs)), undefined, { signal }).catch(() => {});
    if (signal.aborted) return changes;
  }
}
