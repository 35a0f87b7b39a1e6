import type { ApproveAnswer } from '../approver/manual.ts';
import { createBridge, pollOnce } from '../bridge.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { ObserverWatch } from '../imds/observer-watch.ts';
import { openImds } from '../imds/open-imds.ts';
import type { ApproveRequest } from '../lifecycle/approval-request.ts';
import type { Log } from '../log.ts';
import { confirmOwnership } from '../outbox/confirm-ownership.ts';
import { openOutbox } from '../outbox/durable-outbox.ts';
import { readOutbox } from '../outbox/reader.ts';
import { version } from '../process/version.ts';

/** The metadata service has this long to return the identity of this VM. */
const identityMs = 15_000;
/** Nothing is approved automatically: the operator approves one event. */
const nothingElse = { userInitiated: false, freezeUpToSeconds: null, onBehalfOf: [], onBehalfAfterSeconds: 0 };

/**
 * Approves while no service runs: polls once on its behalf. Has to run as the owner of the state directory. The next start of
 * the service sends what it records.
 * @throws OutboxInUse, OutboxTooNew, or a system error.
 */
export async function approveAlone(
  request: ApproveRequest,
  around: { readonly config: Config; readonly clock: Clock; readonly log: Log; readonly stop: AbortSignal },
): Promise<ApproveAnswer> {
  const { config, clock, log, stop } = around;
  const { stateDirectory: directory } = config;
  // The sinks that the service had last: deliveries to any other would be discarded.
  const sinks = (readOutbox(directory)?.sinks ?? []).filter(({ configured }) => configured).map(({ name }) => name);
  const outbox = openOutbox({ directory, sinks, maxMegabytes: config.outbox.maxMegabytes, clock, log, version });
  const over = new AbortController();
  const signal = AbortSignal.any([stop, over.signal]);
  const imds = openImds(config, { warm: () => true, clock, log });
  const bridge = createBridge({ config, policy: nothingElse, imds, outbox, clock, log });
  const { host, observer, approver } = bridge;
  const reading = observer.run(signal);
  try {
    const isVmIdSet = config.observer.vmId !== undefined;
    void confirmOwnership({ outbox, observer, host, isVmIdSet }, signal);
    await isFresh(observer, clock, signal);
    await pollOnce(bridge, signal);
    return await approver.approve(request);
  } finally {
    await approver.close(0);
    over.abort();
    await reading;
    await imds.close();
    host.close();
    outbox.close();
  }
}

/** Resolves once the identity of this VM is confirmed, or after a deadline: the approver then refuses. */
async function isFresh(observer: ObserverWatch, clock: Clock, stop: AbortSignal): Promise<void> {
  const read = new AbortController();
  const noLonger = observer.onRead(() => read.abort());
  if (!observer.fresh()) await clock.sleep(identityMs, AbortSignal.any([read.signal, stop]));
  noLonger();
}
