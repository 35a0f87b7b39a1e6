import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { createStatusLogger, type Log, type StatusLogger } from '../log.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Failure } from '../sinks/sink.ts';
import { configHash } from './config-hash.ts';
import { nextEvent } from './next-event.ts';
import type { HeartbeatFacts, HeartbeatPolls, HeartbeatState } from './row.ts';
import type { HeartbeatSender } from './sender.ts';
import { timetable } from './timetable.ts';

export interface HeartbeatOptions {
  readonly config: Config;
  readonly outbox: Pick<Outbox, 'state' | 'storedObserver' | 'counters' | 'backlog' | 'pending'>;
  readonly counts: () => HeartbeatPolls;
  readonly upMs: () => number;
  readonly senders: readonly HeartbeatSender[];
  readonly version: string;
  /** Asked for each heartbeat: an installation may have been refused since. */
  readonly refusedVersion: () => string | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Resolves true when it is certain whose outbox this is; nothing is sent in the name of another VM. */
  readonly ready: Promise<boolean>;
  /** In [0, 1). */
  readonly random?: () => number;
}

export interface HeartbeatLoop {
  /** Sends a last heartbeat with the reason, for at most four seconds; nothing is sent afterwards. Never rejects. */
  stopped(reason: 'asked' | 'failed'): Promise<void>;
}

/** The longest that stopping waits for the last heartbeat. */
const lastHeartbeatMs = 4_000;

// assumption: host-stops-orderly
/**
 * The heartbeat: when the bridge has started, every `heartbeat.everyMinutes`, and when it stops. Best effort: what cannot be sent is
 * not kept, since the next one has newer figures, and nothing waits for it. 0 minutes disables it.
 */
export function startHeartbeat(options: HeartbeatOptions): HeartbeatLoop {
  const { config, clock, log, ready, random = Math.random } = options;
  if (config.heartbeat.everyMinutes === 0) return { stopped: async () => {} };
  const over = new AbortController();
  const everyMs = 60_000 * config.heartbeat.everyMinutes;
  const hash = configHash(config);
  let senders: readonly LoggedSender[] = [];
  /** Counts at the heartbeat before, whether or not it arrived. */
  let before: PollTotals = { polls: 0, failedPolls: 0 };

  async function beat(state: HeartbeatState, stopReason: string | null, signal: AbortSignal): Promise<void> {
    const polls = options.counts();
    const totals = totalsOf(polls);
    const recent = { polls: totals.polls - before.polls, failedPolls: totals.failedPolls - before.failedPolls };
    const facts = factsOf(options, { state, stopReason, hash, polls, recent });
    if (facts === null) return;
    before = totals;
    await Promise.all(
      senders.map(async ({ sender, statusLogger }) => {
        const failure = await sender.send(facts, signal);
        if (!signal.aborted) logOutcome(sender, statusLogger, failure);
      }),
    );
  }

  /** Logs the start and the end of a failure, not each heartbeat. */
  function logOutcome(sender: HeartbeatSender, statusLogger: StatusLogger, failure: Failure | null): void {
    const { code = null, reason = '' } = failure ?? {};
    const part = 'heartbeat';
    statusLogger(code, {
      begins: () =>
        log.warn(
          { part, code },
          `A heartbeat could not be sent to ${sender.name}; records are not affected, and the next one is sent on schedule. ${reason}`,
        ),
      lasts: (seconds) =>
        log.debug({ part, code, seconds }, `Heartbeats still cannot be sent to ${sender.name}: ${reason}`),
      over: () => log.info({ part }, `Heartbeats arrive at ${sender.name} again.`),
    });
  }

  async function run(): Promise<void> {
    if (!(await ready)) return;
    senders = options.senders.map((sender) => ({ sender, statusLogger: createStatusLogger({ clock }) }));
    if (senders.length === 0) return;
    const began = clock.monotonicMs();
    let state: HeartbeatState = 'starting';
    for (const dueMs of timetable(everyMs, random)) {
      const waitMs = began + dueMs - clock.monotonicMs();
      // After a pause of the machine only the one that is due now is sent, not all that were missed.
      if (waitMs < -everyMs) continue;
      await clock.sleep(Math.max(0, waitMs), over.signal);
      if (over.signal.aborted) return;
      await beat(state, null, over.signal);
      state = 'running';
    }
  }
  const running = run().catch((error: unknown) =>
    log.error(
      { part: 'heartbeat', error },
      'Heartbeats stopped after an internal error; everything else continues. Please report it.',
    ),
  );

  return {
    async stopped(reason) {
      if (over.signal.aborted) return;
      over.abort();
      if (senders.length === 0) return;
      const late = new AbortController();
      const timer = clock.sleep(lastHeartbeatMs, late.signal).then(() => late.abort());
      await Promise.race([Promise.all([running, beat('stopping', reason, late.signal)]), timer]);
      late.abort();
    },
  };
}

/** A sender of heartbeats, and what its log lines report. */
interface LoggedSender {
  readonly sender: HeartbeatSender;
  readonly statusLogger: StatusLogger;
}

interface PollTotals {
  readonly polls: number;
  readonly failedPolls: number;
}

const totalsOf = ({ polls, failedPolls }: HeartbeatPolls): PollTotals => ({
  polls,
  failedPolls: Object.values(failedPolls).reduce((total, count) => total + count, 0),
});

/** Null while this VM does not know its name. */
function factsOf(
  { outbox, upMs, version, refusedVersion, clock, config }: HeartbeatOptions,
  {
    state,
    stopReason,
    hash,
    polls,
    recent,
  }: {
    readonly state: HeartbeatState;
    readonly stopReason: string | null;
    readonly hash: string;
    readonly polls: HeartbeatPolls;
    readonly recent: PollTotals;
  },
): HeartbeatFacts | null {
  const observer = outbox.storedObserver?.observer;
  if (!observer) return null;
  const { streamId, position, events, imdsApiVersion, lastDocumentAt } = outbox.state;
  const at = clock.now();
  const waiting = outbox.backlog().filter(({ pending }) => pending > 0);
  const oldest = waiting.flatMap(({ sink }) => outbox.pending(sink, { limit: 1 }).map(({ appendedAt }) => appendedAt));
  return {
    at,
    observer,
    state,
    stopReason,
    bridgeVersion: version,
    refusedVersion: refusedVersion(),
    upMs: upMs(),
    polls,
    streamId,
    lastPosition: position,
    openEvents: [...events.values()].filter(({ open, inScope }) => open && inScope).length,
    sinks: outbox.counters(),
    oldestPendingAt: oldest.toSorted()[0] ?? null,
    imdsApiVersion: imdsApiVersion ?? config.imds.apiVersion,
    configHash: hash,
    intervalMinutes: config.heartbeat.everyMinutes,
    lastDocumentAgeMs: lastDocumentAgeMs({ polls, lastDocumentAt, at, monotonicMs: clock.monotonicMs(), upMs: upMs() }),
    recent,
    next: nextEvent(outbox.state),
  };
}

/** By the monotonic clock; before the first document since the start by the time that the state remembers. */
function lastDocumentAgeMs({
  polls: { lastDocument },
  lastDocumentAt,
  at,
  monotonicMs,
  upMs,
}: {
  readonly polls: HeartbeatPolls;
  readonly lastDocumentAt: string | null;
  readonly at: Date;
  readonly monotonicMs: number;
  readonly upMs: number;
}): number {
  if (lastDocument !== null) return monotonicMs - lastDocument.monotonicMs;
  return lastDocumentAt === null ? upMs : at.getTime() - Date.parse(lastDocumentAt);
}
