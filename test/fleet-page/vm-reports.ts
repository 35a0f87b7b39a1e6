import { FleetView, type LifecycleRecord } from '../../src/consumer/index.ts';
import { FleetModel } from '../../src/fleet-page/fleet-model.ts';
import { parseQuery } from '../../src/fleet-page/query.ts';
import { sampleRecord } from '../support/sample-record.ts';

/** `time('10:01:40')` is that time of the day of the test. */
export const time = (clock: string): string => `2026-11-20T${clock}.000Z`;
export const ms = (clock: string): number => Date.parse(time(clock));

/** A report of a Reboot that was announced at ten for eleven o'clock. */
export function report(vmName: string, phase: string, clock: string, overrides: Partial<LifecycleRecord> = {}) {
  const sequence = overrides.sequence ?? (phase === 'Scheduled' ? 1 : 2);
  const step = `${overrides.eventId ?? 'one'} ${phase} ${(overrides.evidence ?? []).join()}`;
  const resources = overrides.affectedResources ?? ['web_0', 'web_1'];
  return sampleRecord({
    recordId: `${step} ${vmName} ${sequence}`,
    transitionId: step,
    eventId: 'one',
    eventType: 'Reboot',
    phase: phase as never,
    evidence: [],
    changes: [],
    sequence,
    position: sequence,
    streamId: `stream of ${vmName}`,
    vmName,
    vmId: `id of ${vmName}`,
    observedAt: time(clock),
    firstSeenAt: time('10:00:00'),
    notBefore: time('11:00:00'),
    startedAt: null,
    startSeen: null,
    observedPauseMs: null,
    observedPauseTotalMs: null,
    observedOutageSeconds: null,
    affectedResources: resources,
    affectedResourceCount: resources.length,
    eventsInSight: null,
    tags: {},
    ...overrides,
  } as never) as LifecycleRecord;
}

/** What the page answers at this time of the day, or at this time (milliseconds). */
export function pageOf(records: readonly LifecycleRecord[], now: string | number, search = '') {
  const view = new FleetView({ includeTests: true });
  for (const record of records) view.add(record);
  const at = typeof now === 'number' ? now : ms(now);
  const model = new FleetModel(view);
  return {
    ...model.view(parseQuery(new URLSearchParams(search)), at),
    trace: model.trace('one', at),
    notes: model.notes(at),
  };
}
