import { statSync } from 'node:fs';
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

/** How long the metadata service may take to tell which VM this is. */
const identityMs = 15_000;
/** Whatever the policy: here a person approves one event. */
const nothingElse = { userInitiated: false, freezeUpToSeconds: null, onBehalfOf: [], onBehalfAfterSeconds: 0 };

/**
 * Approves while no service runs: takes its place for one turn, as the owner of the state directory. What it records is
 * sent by the next start of the service.
 * @throws OutboxInUse, OutboxTooNew, or the error of the system where this user may not do that.
 */
export async function approveAlone(
  request: ApproveRequest,
  around: { readonly config: Config; readonly clock: Clock; readonly log: Log; readonly stop: AbortSignal },
): Promise<ApproveAnswer> {
  const { config, clock, log, stop } = around;
  const { stateDirectory: directory } = config;
  becomeOwnerOf(directory);
  // Those that the service last had: sinks that are not named here would be given up.
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

/** Resolves once it is certain which VM this is, or when that takes too long: the approver then refuses. */
async function isFresh(observer: ObserverWatch, clock: Clock, stop: AbortSignal): Promise<void> {
  const read = new AbortController();
  const noLonger = observer.onRead(() => read.abort());
  if (!observer.fresh()) await clock.sleep(identityMs, AbortSignal.any([read.signal, stop]));
  noLonger();
}

/** Root would leave files that the service may not write: it becomes the user whose directory it is, for good. */
function becomeOwnerOf(directory: string): void {
  const { uid, gid } = statSync(directory);
  if (process.geteuid?.() !== 0 || uid === 0) return;
  process.setgroups?.([gid]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}
