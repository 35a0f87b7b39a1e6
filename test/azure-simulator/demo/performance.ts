import {
  beginningOf,
  fold,
  type Happening,
  type Moment,
  type SentRecord,
  type Show,
} from '../../../src/azure-simulator/demo/model.ts';
import type { Phase } from '../../../src/lifecycle/record.ts';

/** A record as the demo shows it. Its id is made of event and phase, so that a second one is a copy. */
export function sentRecord(
  eventId: string,
  eventType: string,
  phase: Phase,
  more: Partial<SentRecord> = {},
): SentRecord {
  return {
    recordId: `${eventId} ${phase}`,
    transitionId: `${eventId} ${phase}`,
    vmId: 'web_0',
    vmName: 'web_0',
    streamId: 'web_0',
    sequence: 1,
    observedAt: '2026-11-21T09:00:00.000Z',
    observerAffected: true,
    eventId,
    eventType,
    phase,
    evidence: ['said-by-azure'],
    notBefore: null,
    noticeSeconds: null,
    observedPauseMs: null,
    ...more,
  };
}

/** A short show, by seconds: a freeze with its pause, a cancellation, and a reboot whose `Started` waits for the hub. */
export const performance: readonly Moment[] = [
  { at: 0, kind: 'bridge', state: 'starting' },
  { at: 1, kind: 'bridge', state: 'running' },
  azure(1, 'f', 'Freeze', 'scheduled', 2),
  { at: 2, kind: 'hub', record: sentRecord('F', 'Freeze', 'Scheduled'), notBefore: 7 },
  { at: 2, kind: 'table', row: sentRecord('f', 'Freeze', 'Scheduled') },
  azure(3, 'c', 'Freeze', 'scheduled', 3),
  { at: 3.5, kind: 'hub', record: sentRecord('c', 'Freeze', 'Scheduled'), notBefore: 600 },
  azure(6, 'c', 'Freeze', 'removed', 4),
  {
    at: 6.5,
    kind: 'hub',
    record: sentRecord('c', 'Freeze', 'Canceled', { evidence: ['left-before-not-before'] }),
    notBefore: 600,
  },
  azure(7, 'f', 'Freeze', 'started', 5),
  { at: 9, kind: 'bridge', state: 'frozen' },
  { at: 10.5, kind: 'bridge', state: 'running' },
  azure(12, 'f', 'Freeze', 'removed', 6),
  {
    at: 12.5,
    kind: 'hub',
    record: sentRecord('f', 'Freeze', 'Completed', {
      evidence: ['left-after-started', 'not-before-passed'],
      observedPauseMs: 1480,
      noticeSeconds: 6,
    }),
    notBefore: 7,
  },
  azure(13, 'r', 'Reboot', 'scheduled', 7),
  { at: 13.5, kind: 'hub', record: sentRecord('r', 'Reboot', 'Scheduled'), notBefore: 15 },
  { at: 14, kind: 'outage', begins: true },
  azure(16, 'r', 'Reboot', 'started', 8),
  { at: 16.5, kind: 'table', row: sentRecord('r', 'Reboot', 'Started') },
  { at: 16.5, kind: 'pending', records: 1 },
  { at: 18, kind: 'bridge', state: 'killed' },
  { at: 20, kind: 'bridge', state: 'starting' },
  { at: 20.5, kind: 'bridge', state: 'running' },
  { at: 20.5, kind: 'table', row: sentRecord('r', 'Reboot', 'Started') },
  { at: 21, kind: 'outage', begins: false },
  { at: 21.5, kind: 'hub', record: sentRecord('r', 'Reboot', 'Started', { noticeSeconds: 3 }), notBefore: 15 },
  { at: 22, kind: 'pending', records: 0 },
];

function azure(
  at: number,
  eventId: string,
  eventType: string,
  step: (Happening & { kind: 'azure' })['step'],
  incarnation: number,
): Moment {
  return { at, kind: 'azure', eventId, eventType, step, resources: ['web_0'], incarnation };
}

/** The show as it stands at this time. */
export const showAt = (seconds: number): Show =>
  performance.filter(({ at }) => at <= seconds).reduce(fold, beginningOf(['web_0']));
