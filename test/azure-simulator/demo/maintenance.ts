import {
  beginningOf,
  fold,
  type Happening,
  type Moment,
  type SentRecord,
  type Show,
} from '../../../src/azure-simulator/demo/model.ts';
import type { Phase } from '../../../src/lifecycle/record.ts';
import { type StepKind, stepOf } from '../../../src/lifecycle/record-id.ts';

const fleet = beginningOf(['web_0', 'web_1', 'web_2', 'web_3', 'web_4'], 2);

/** What a VM reports of an event. `affected`: the event is about it. */
export function record(eventId: string, vmName: string, phase: Phase, at: number, affected = true): SentRecord {
  const step: StepKind = stepOf(phase);
  return {
    recordId: `${eventId} ${step} ${vmName}`,
    transitionId: `${eventId} ${step}`,
    eventId,
    vmId: vmName,
    vmName,
    streamId: vmName,
    sequence: at,
    eventType: 'Reboot',
    phase,
    evidence: phase === 'Completed' ? ['left-after-started'] : ['said-by-azure'],
    observedAt: new Date(1000 * at).toISOString(),
    observerAffected: affected,
    notBefore: null,
    noticeSeconds: null,
    observedPauseMs: null,
  };
}

type AzureStep = (Happening & { kind: 'azure' })['step'];
const azure = (
  at: number,
  eventId: string,
  step: AzureStep,
  resources: readonly string[],
  incarnation: number,
): Moment => ({
  at,
  kind: 'azure',
  eventId,
  eventType: 'Reboot',
  step,
  resources,
  incarnation,
});
const momentsOf = (one: SentRecord, at: number): readonly Moment[] => [
  { at, kind: 'hub', record: one, notBefore: null },
  { at, kind: 'table', row: one },
];

const even = ['web_0', 'web_2', 'web_4'];
const odd = ['web_1', 'web_3'];

/** Maintenance of five VMs in two update domains, cut off while the second is under way. */
export const maintenance: readonly Moment[] = [
  { at: 2, kind: 'polling', vms: 3 },
  { at: 4, kind: 'polling', vms: 5 },
  azure(5, 'D0', 'scheduled', even, 2),
  ...even.flatMap((vm) => momentsOf(record('d0', vm, 'Scheduled', 6), 6)),
  ...momentsOf(record('d0', 'web_3', 'Scheduled', 6, false), 6),
  azure(10, 'D0', 'started', even, 3),
  azure(10, 'D1', 'scheduled', odd, 4),
  ...even.flatMap((vm) => momentsOf(record('d0', vm, 'Started', 11), 11)),
  ...odd.flatMap((vm) => momentsOf(record('d1', vm, 'Scheduled', 11), 11)),
  azure(15, 'D0', 'removed', even, 5),
  ...['web_0', 'web_4'].flatMap((vm) => momentsOf(record('d0', vm, 'Completed', 16), 16)),
  { at: 17, kind: 'hub', record: record('d0', 'web_0', 'Completed', 16), notBefore: null },
];

export const fleetAt = (seconds: number): Show => maintenance.filter(({ at }) => at <= seconds).reduce(fold, fleet);
