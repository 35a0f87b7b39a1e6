import { describe } from './describe.ts';
import { neverListed } from './empty-memory.ts';
import type { IsoTime, LifecycleRecord } from './record.ts';
import type { Observer } from './scheduled-event.ts';
import type { EventMemory, LifecycleState } from './state.ts';

/** Begins every EventId of a test: it cannot be confused with an EventId of Azure, which is a GUID. */
export const testEventIdPrefix = 'emit-test-';

export interface TestRecordGiven {
  /** Makes the EventId its own: each test is another event. */
  readonly unique: string;
  readonly observer: Observer;
  readonly at: Date;
  readonly imdsApiVersion: string;
  readonly bridgeVersion: string;
}

/**
 * One record with `isTest`, and the state with its position taken.
 *
 * It is `Scheduled`, the phase with which dashboards and alerts begin, for this VM, with `notBefore` unknown: so it is urgent, and a
 * sink in backoff gets it at once, which is the point of the test. Its type is `Test`, on which no reader acts. It has no evidence,
 * since Azure said nothing. It is not remembered: the next document would end an event that it does not list, and the record of
 * that end would not be a test.
 */
export function testRecord(
  state: LifecycleState,
  { unique, observer, at, imdsApiVersion, bridgeVersion }: TestRecordGiven,
): { readonly state: LifecycleState; readonly record: LifecycleRecord } {
  const observedAt = at.toISOString();
  const position = state.position + 1;
  const { record } = describe(
    memoryOf(`${testEventIdPrefix}${unique}`, observer, observedAt),
    { phase: 'Scheduled', evidence: [], changes: [], incarnation: state.incarnation ?? 0, startedSeconds: null },
    {
      at: observedAt,
      observer,
      host: state,
      streamId: state.streamId,
      imdsApiVersion: state.imdsApiVersion ?? imdsApiVersion,
      clockOffsetSeconds: state.clockOffsetSeconds,
      bridgeVersion,
    },
    position,
  );
  return { state: { ...state, position }, record: { ...record, isTest: true } };
}

function memoryOf(eventId: string, { vmName }: Observer, at: IsoTime): EventMemory {
  const { last, ...rest } = neverListed(eventId, at);
  return {
    ...rest,
    last: {
      ...last,
      eventStatus: 'Scheduled',
      eventType: 'Test',
      resourceType: 'VirtualMachine',
      resources: [vmName],
      description: 'A test by emit-test of scheduled-events-bridge. Nothing happens to the VM.',
      eventSource: 'User',
      durationSeconds: 0,
    },
    open: true,
    affectsUs: true,
    presentAtFirstLook: false,
    scheduledSince: rest.firstSeenAt,
    endedAt: null,
  };
}
