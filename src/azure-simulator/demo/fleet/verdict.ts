import { foldEvents } from '../../../lifecycle/fold.ts';
import { type StepKind, stepOf } from '../../../lifecycle/record-id.ts';
import type { IssuedStep } from '../../index.ts';
import { stepSaid } from '../verdict.ts';
import type { FleetRecord } from './moment.ts';

export type FleetSaid = Pick<IssuedStep, 'eventId' | 'eventType' | 'step' | 'resources'>;

/** What Azure said, beside what the records of all VMs fold to. */
export interface FleetVerdict {
  readonly events: readonly FleetEventVerdict[];
  /** Different records. */
  readonly onHub: number;
  readonly inTable: number;
  /** What is not as it should be, one sentence each; none: they agree. */
  readonly complaints: readonly string[];
}

export interface FleetEventVerdict {
  readonly eventId: string;
  readonly eventType: string;
  readonly affected: number;
  readonly said: readonly FleetSaid['step'][];
  /** The steps that the records fold to. */
  readonly folded: readonly StepKind[];
  /** Affected VMs that told every step of it. */
  readonly toldAll: number;
}

/**
 * The transitions that the records fold to have to be those that Azure issued, however many VMs told them, and both
 * destinations have to hold the same records. That every VM tells every step is counted but not asked: on a machine that is too
 * slow for them all, one may come to look when a step is over.
 */
export function compareFleet(
  said: readonly FleetSaid[],
  records: readonly FleetRecord[],
  rowIds: readonly string[],
): FleetVerdict {
  const foldedEvents = foldEvents(records);
  const ids = new Set([...said.map(({ eventId }) => eventId.toLowerCase()), ...foldedEvents.map((one) => one.eventId)]);
  const events = [...ids].map((id): FleetEventVerdict => {
    const ofEvent = said.filter(({ eventId }) => eventId.toLowerCase() === id);
    const [first] = ofEvent;
    const found = foldedEvents.find(({ eventId }) => eventId === id);
    const folded = [...(found?.steps ?? []), ...(found?.end ? [found.end] : [])].map(({ phase }) => stepOf(phase));
    const expected = ofEvent.map(({ step }) => stepSaid[step]);
    const own = records.filter((record) => record.eventId.toLowerCase() === id && record.observerAffected);
    const stepsOf = Map.groupBy(own, ({ vmName }) => vmName ?? '');
    const toldAll = [...stepsOf.values()].filter((ofVm) => {
      const steps = new Set(ofVm.map(({ phase }) => stepOf(phase)));
      return expected.every((step) => steps.has(step));
    });
    return {
      eventId: first?.eventId ?? id,
      eventType: first?.eventType ?? 'an event that Azure never issued,',
      affected: first?.resources.length ?? 0,
      said: ofEvent.map(({ step }) => step),
      folded,
      toldAll: toldAll.length,
    };
  });
  const onHub = new Set(records.map(({ recordId }) => recordId));
  const inTable = new Set(rowIds);
  return {
    events,
    onHub: onHub.size,
    inTable: inTable.size,
    complaints: [
      ...events.flatMap(judge),
      ...onlyIn(onHub, inTable, 'on the event hub, but not in the table'),
      ...onlyIn(inTable, onHub, 'in the table, but not on the event hub'),
    ],
  };
}

function judge({ eventId, eventType, said, folded }: FleetEventVerdict): readonly string[] {
  const expected = said.map((step) => stepSaid[step]);
  if ([...expected].sort().join() === [...folded].sort().join()) return [];
  const list = (steps: readonly StepKind[]): string => (steps.length === 0 ? 'nothing' : steps.join(', '));
  return [`${eventType} ${eventId}: Azure issued ${list(expected)}; the records fold to ${list(folded)}.`];
}

function onlyIn(one: ReadonlySet<string>, other: ReadonlySet<string>, where: string): readonly string[] {
  const only = [...one].filter((id) => !other.has(id)).length;
  return only === 0 ? [] : [`${only === 1 ? '1 record is' : `${only} records are`} ${where}.`];
}
