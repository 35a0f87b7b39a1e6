import type { Clock } from '../clock.ts';
import type { HostEvidence } from '../lifecycle/scheduled-event.ts';
import { readBootId } from './boot-id.ts';
import { createPauses } from './pauses.ts';
import { createPhysicalHost } from './physical-host.ts';

/** The machine under the bridge. Nothing here throws. */
export interface Host {
  /** What the machine shows now; the tick and the step of the clock are counted from the call before. */
  evidence(): HostEvidence;
  /** Starts or stops what is worth its cost only while an impact may come: ten wake-ups a second to measure pauses, and frequent readings of the physical host. */
  watchImpact(on: boolean): void;
  /** Our own synchronous work blocked the thread for `ms`: not a pause. Call it before the thread is released. */
  discountOwnWork(ms: number): void;
  /** Equal within one boot, different between two. */
  bootId(): string | null;
  close(): void;
}

export interface HostOptions {
  readonly clock: Clock;
  readonly platform?: NodeJS.Platform;
  /** Replaces `/`. */
  readonly root?: string;
  /** As stored by an earlier process. Where a boot is known only by its time, this keeps equal boots equal. */
  readonly storedBootId?: string | null;
}

export function openHost(options: HostOptions): Host {
  const { clock, platform = process.platform, root = '/', storedBootId = null } = options;
  const bootId = readBootId({ clock, platform, root, stored: storedBootId });
  const physicalHost = createPhysicalHost({ clock, platform, root });
  const pauses = createPauses(clock);
  const step = wallStep(clock);
  return {
    evidence: () => ({ bootId, physicalHost: physicalHost.read(), tick: pauses.take(), wallStepMs: step() }),
    watchImpact(on) {
      pauses.watch(on);
      physicalHost.watch(on);
    },
    discountOwnWork: pauses.discountOwnWork,
    bootId: () => bootId,
    close: pauses.close,
  };
}

/** How far the wall clock ran ahead of the monotonic one since the last call. */
function wallStep(clock: Clock): () => number {
  const lead = (): number => clock.now().getTime() - clock.monotonicMs();
  let before = lead();
  return () => {
    const now = lead();
    const stepMs = Math.round(now - before);
    before = now;
    return stepMs + 0;
  };
}
