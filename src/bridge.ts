import type { Approver } from './approver/approver.ts';
import type { Clock } from './clock.ts';
import type { RuntimeStats } from './health/runtime-stats.ts';
import type { Host } from './host/index.ts';
import type { Imds } from './imds/client.ts';
import type { ObserverWatch } from './imds/observer-watch.ts';
import { createPollLog } from './imds/poll-log.ts';
import { nextPollIn } from './imds/poll-pace.ts';
import type { Seen } from './lifecycle/scheduled-event.ts';
import { impactWithin, type Scope } from './lifecycle/scope.ts';
import { type Transition, transition } from './lifecycle/transition.ts';
import type { Log } from './log.ts';
import type { Outbox } from './outbox/outbox.ts';

/** Everything that one turn needs. */
export interface Bridge {
  readonly imds: Imds;
  readonly host: Host;
  readonly observer: ObserverWatch;
  readonly scope: Scope;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** More than this without a valid document is a gap. */
  readonly gapAfterMs: number;
  /** So long after the service was switched on its list may still be incomplete. */
  readonly enablingMs: number;
  readonly bridgeVersion: string;
  /** Who approves events; none where a turn is taken only to look. */
  readonly approver?: Pick<Approver, 'consider'>;
}

/** One turn: look, decide, remember. A turn that changes nothing writes nothing. */
export async function pollOnce(bridge: Bridge, signal: AbortSignal): Promise<Transition> {
  const { imds, host, observer, scope, outbox, clock, gapAfterMs, enablingMs, bridgeVersion } = bridge;
  const seen = await look(imds, outbox, signal);
  const began = clock.monotonicMs();
  const turn = transition(outbox.state, seen, {
    host: host.evidence(),
    observer: observer.known(),
    scope,
    gapAfterMs,
    enablingMs,
    bridgeVersion,
    at: clock.now(),
    monotonicMs: clock.monotonicMs(),
  });
  outbox.append(turn.state, turn.records); // one transaction: a crash loses both or neither
  outbox.retry(); // what the disk refused before, and whether the files are still there
  bridge.approver?.consider(turn);
  host.excuse(clock.monotonicMs() - began); // our own work is no pause of the VM
  return turn;
}

/** Once more where the outbox took up another state meanwhile: that nothing changed was said of the one before. */
async function look(imds: Imds, outbox: Outbox, signal: AbortSignal): Promise<Seen> {
  for (;;) {
    const { history } = outbox;
    const seen = await imds.observe(signal, history);
    if (seen.kind !== 'unchanged' || outbox.history === history) return seen;
  }
}

/** From so long before an impact on, the machine's pauses are measured. */
const watchPausesMs = 5 * 60_000;

/** Polls until stopped. Whatever a turn brings, the next one comes. */
export async function poll(
  bridge: Bridge,
  {
    pollIntervalMs,
    runtimeStats,
    log,
    stop,
  }: {
    readonly pollIntervalMs: number;
    readonly runtimeStats: Pick<RuntimeStats, 'recordPoll' | 'turnFailed'>;
    readonly log: Log;
    readonly stop: AbortSignal;
  },
): Promise<void> {
  const { clock, host, observer } = bridge;
  const pollLog = createPollLog(log, clock);
  let { physicalHost } = bridge.outbox.state;
  while (!stop.aborted) {
    const began = clock.monotonicMs();
    try {
      const turn = await pollOnce(bridge, stop);
      const pace = nextPollIn(turn.seen, { tookMs: clock.monotonicMs() - began, pollIntervalMs });
      pollLog.polled(turn, pace);
      runtimeStats.recordPoll(turn);
      host.watchPauses(impactWithin(turn.state, clock.now(), watchPausesMs));
      if (turn.state.physicalHost !== physicalHost) observer.refresh();
      physicalHost = turn.state.physicalHost;
      await clock.sleep(pace.waitMs, stop);
    } catch (error) {
      // A mistake of ours about one document: ending here would make it a crash loop, and the VM blind for all the others.
      pollLog.failed(error);
      bridge.imds.forget(); // else the next answer may be that nothing changed since a document that was never decided
      runtimeStats.turnFailed();
      await clock.sleep(pollIntervalMs, stop);
    }
  }
}
