import type { Approver } from '../approver/approver.ts';
import { approveRequest, refusal } from '../approver/manual.ts';
import type { Clock } from '../clock.ts';
import type { RuntimeStats } from '../health/runtime-stats.ts';
import { isInCluster, notInCluster } from '../host/in-cluster.ts';
import type { Observer } from '../lifecycle/scheduled-event.ts';
import { outboxHandlers } from '../outbox/control/handlers.ts';
import type { Handlers } from '../outbox/control/queue.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Relay } from '../relay/relay.ts';
import { createEmitTest, emitTestRequest } from './emit-test.ts';
import { createPing, pingRequest } from './ping.ts';
import { createTryNow, tryNowRequest } from './try-now.ts';

/** Everything that a command may ask of the running service, by the verb of the request. */
export function createHandlers({
  outbox,
  observer,
  approver,
  relays,
  runtimeStats,
  clock,
  version,
  imdsApiVersion,
  env,
}: {
  readonly outbox: Outbox;
  readonly observer: { known(): Observer | null };
  readonly approver: Pick<Approver, 'approve'>;
  /** By the name of their sink. */
  readonly relays: ReadonlyMap<string, Pick<Relay, 'resume' | 'wake'>>;
  readonly runtimeStats: Pick<RuntimeStats, 'counts'>;
  readonly clock: Clock;
  readonly version: string;
  readonly imdsApiVersion: string;
  readonly env: NodeJS.ProcessEnv;
}): Handlers {
  return {
    [emitTestRequest]: createEmitTest({ outbox, observer, clock, version, imdsApiVersion }),
    [pingRequest]: createPing(runtimeStats, clock),
    // A command outside of the pod, on the node, can reach the files of the pod.
    [approveRequest]: isInCluster(env) ? () => refusal(notInCluster) : approver.approve,
    [tryNowRequest]: createTryNow(outbox, relays),
    ...outboxHandlers(outbox, () => {
      for (const relay of relays.values()) relay.wake();
    }),
  };
}
