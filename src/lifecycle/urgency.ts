import type { LifecycleRecord } from './record.ts';

/** Below this notice a record is urgent: some events give no more than 30 s of it. */
const shortNoticeMs = 5 * 60_000;

// assumption: imds-preempt
/** Types of events that end the VM, some of them 30 s after their notice. */
export const endsVm = (eventType: string | null): boolean => eventType === 'Preempt' || eventType === 'Terminate';

/**
 * Whether a record may not wait for a sink that is being left alone for a while: all that is said of `Preempt` and
 * `Terminate`, every `Started`, and what is `Scheduled` or `Updated` with a `notBefore` that is unknown, passed or less
 * than 5 minutes after the record's own `observedAt`, by Azure's time. An end or an approval of any other type has nothing left to warn of.
 */
export function isUrgent(record: LifecycleRecord): boolean {
  if (endsVm(record.eventType)) return true;
  if (record.phase === 'Started') return true;
  if (record.phase !== 'Scheduled' && record.phase !== 'Updated') return false;
  // Written so that an unreadable time (NaN) counts as unknown.
  const azureMs = Date.parse(record.observedAt) + 1000 * (record.clockOffsetSeconds ?? 0);
  return !(record.notBefore && Date.parse(record.notBefore) - azureMs >= shortNoticeMs);
}
