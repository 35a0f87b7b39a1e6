import { hostname } from 'node:os';
import { type Approver, createApprover } from '../approver/approver.ts';
import type { Bridge } from '../bridge.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { openHost } from '../host/index.ts';
import { createImds, type Imds } from '../imds/client.ts';
import { createDiscovery } from '../imds/discover.ts';
import { createObserverWatch } from '../imds/observer-watch.ts';
import type { ApprovalPolicy } from '../lifecycle/approval.ts';
import { gapAfterMs } from '../lifecycle/transition.ts';
import type { Log } from '../log.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { version } from '../process/version.ts';

/** The metadata service of this configuration. `warm`: whether the feature is known to be on. */
export const openImds = (
  { imds }: Pick<Config, 'imds'>,
  { warm, clock, log }: { readonly warm: () => boolean; readonly clock: Clock; readonly log: Log },
): Imds =>
  createImds({
    endpoint: imds.endpoint === 'auto' ? createDiscovery({ clock, log }) : imds.endpoint,
    apiVersion: imds.apiVersion,
    timeoutMs: 1000 * imds.timeoutSeconds,
    firstTimeoutMs: 1000 * imds.firstTimeoutSeconds,
    warm,
    clock,
  });

/** All that a turn needs, around an open outbox and metadata service; nothing begun. */
export function assembleBridge({
  config,
  policy,
  imds,
  outbox,
  clock,
  log,
}: {
  readonly config: Config;
  /** What is approved without being asked. */
  readonly policy: ApprovalPolicy;
  readonly imds: Imds;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Log;
}): { readonly bridge: Bridge; readonly approver: Approver } {
  const observer = createObserverWatch({
    imds,
    configured: config.observer,
    computer: hostname(),
    stored: outbox.observer,
    clock,
    log,
  });
  const { stateDirectory } = config;
  const approver = createApprover({
    imds,
    outbox,
    observer,
    policy,
    stateDirectory,
    isVmNameSet: config.observer.vmName !== undefined,
    bridgeVersion: version,
    clock,
    log,
  });
  const bridge: Bridge = {
    imds,
    host: openHost({ clock, storedBootId: outbox.state.bootId }),
    observer,
    scope: config.scope,
    outbox,
    clock,
    gapAfterMs: gapAfterMs(config.imds.pollIntervalSeconds),
    enablingMs: 1000 * config.imds.firstTimeoutSeconds,
    bridgeVersion: version,
    approver,
  };
  return { bridge, approver };
}
