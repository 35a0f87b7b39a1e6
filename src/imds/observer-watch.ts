import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Observer } from '../lifecycle/scheduled-event.ts';
import { createRateLimit, type Log } from '../log.ts';
import type { Imds } from './client.ts';
import { observerFrom, observerWithoutMetadata, parseInstance, parseTags } from './instance.ts';

const hourMs = 3_600_000;
const longestBackoffMs = 60_000;
const longestRetryAfterMs = 300_000;

export interface ObserverWatchOptions {
  readonly imds: Pick<Imds, 'instance'>;
  /** `observer` of the configuration: fields that override the instance metadata, and names of tags to publish. */
  readonly configured: Config['observer'];
  /** Host name of the operating system. */
  readonly computer: string | null;
  /** As stored by an earlier process. */
  readonly stored: Observer | null;
  readonly clock: Clock;
  readonly log: Log;
}

/** Who this VM is. */
export interface ObserverWatch {
  /** Null until vmId and name are known: on the first start, until the instance metadata was read once. */
  known(): Observer | null;
  /** Whether vmId was read, or set by configuration, in this process: a copy of the disk brings that of another VM. */
  fresh(): boolean;
  /** Asks the service again now: after a boot or a change of the physical host. */
  refresh(): void;
  /** Calls back after each successful reading, changed or not. @returns how to stop that. */
  onRead(listener: (observer: Observer) => void): () => void;
  /** Reads until it succeeds, then once an hour. Never rejects; ends when `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

// assumption: imds-vm-id
export function createObserverWatch(options: ObserverWatchOptions): ObserverWatch {
  const { imds, configured, computer, stored, clock, log } = options;
  const { tags: tagNames, ...overrides } = configured;
  const logRateLimited = createRateLimit({ clock, everyMs: hourMs });
  const listeners = new Set<(observer: Observer) => void>();
  let known = observerWithoutMetadata({ stored, computer }, overrides, tagNames);
  let isFresh = overrides.vmId !== undefined;
  let wake = new AbortController();
  let failures = 0;

  /** One reading. @returns how long to wait for the next. */
  const read = async (signal: AbortSignal): Promise<number> => {
    const answer = await imds.instance(signal);
    if (signal.aborted) return 0;
    const metadata = answer.kind === 'metadata' ? answer.metadata : null;
    const observer =
      metadata === null
        ? null
        : observerFrom({ ...parseInstance(metadata), computer }, overrides, parseTags(metadata, tagNames));
    if (observer !== null) {
      if (failures > 0) log.info({ vmId: observer.vmId }, 'The instance metadata can be read again.');
      failures = 0;
      known = observer;
      isFresh = true;
      for (const listener of [...listeners]) listener(observer);
      return hourMs;
    }
    const { code, reason, retryAfterMs } = answer.kind === 'unavailable' ? answer : nameless;
    failures += 1;
    logRateLimited(code, (leftOut) => log.warn({ code, failures, leftOut }, describeFailure(reason, known !== null)));
    const backoffMs = Math.min(longestBackoffMs, 1000 * 2 ** Math.min(failures - 1, 10));
    return Math.max(backoffMs, Math.min(retryAfterMs ?? 0, longestRetryAfterMs));
  };

  return {
    known: () => known,
    fresh: () => isFresh,
    refresh: () => wake.abort(),
    onRead(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async run(signal) {
      while (!signal.aborted) {
        wake = new AbortController();
        const woken = AbortSignal.any([wake.signal, signal]);
        const waitMs = await read(signal);
        await clock.sleep(waitMs, woken);
      }
    },
  };
}

const nameless = {
  code: 'no-identity',
  reason:
    'The instance metadata names no vmId or no name for this VM: set observer.vmId and observer.vmName if the endpoint is not that of Azure.',
  retryAfterMs: null,
};

const describeFailure = (reason: string, isKnown: boolean): string =>
  isKnown
    ? `The instance metadata cannot be read; the identity known so far is used. ${reason}`
    : `The instance metadata cannot be read; scheduled events are buffered, and recorded once the name of this VM is known. ${reason}`;
