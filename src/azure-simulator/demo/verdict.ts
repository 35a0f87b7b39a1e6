import { type StepKind, stepOf } from '../../lifecycle/record-id.ts';
import type { IssuedStep } from '../index.ts';
import { plural } from './figures.ts';
import type { Told } from './moment.ts';

export type Said = Pick<IssuedStep, 'eventId' | 'eventType' | 'step'>;
export type Held = Pick<Told, 'recordId' | 'eventId' | 'eventType' | 'phase'>;

/** What Azure said, beside what the destinations hold. */
export interface Verdict {
  readonly events: readonly EventVerdict[];
  readonly hub: Count;
  readonly table: Count;
  /** What is not as it should be, one sentence each; none: they agree. */
  readonly complaints: readonly string[];
}

export interface EventVerdict {
  readonly eventId: string;
  readonly eventType: string;
  readonly said: readonly Said['step'][];
  /** Different records about this event. */
  readonly onHub: number;
  readonly inTable: number;
}

export interface Count {
  readonly records: number;
  /** What was sent again: the same `recordId` once more. */
  readonly copies: number;
}

/**
 * Every step that Azure issued has to be one record on the event hub, and the same record in the table. A copy is no
 * complaint: it is what delivery at least once means, and readers fold it by its `recordId`.
 */
export function compare(said: readonly Said[], hub: readonly Held[], table: readonly Held[]): Verdict {
  const onHub = once(hub);
  const inTable = once(table);
  const ids = [...new Set([...said, ...onHub, ...inTable].map(idOf))];
  const events = ids.map((id): EventVerdict & { readonly complaints: readonly string[] } => {
    const steps = said.filter((one) => idOf(one) === id);
    const [first] = [...steps, ...onHub, ...inTable].filter((one) => idOf(one) === id);
    const eventType = first?.eventType ?? 'an event';
    const held = [onHub, inTable].map((records) => records.filter((record) => idOf(record) === id));
    const [ofHub = [], ofTable = []] = held;
    const complaints = [
      ...judge(steps, ofHub, 'on the event hub'),
      ...judge(steps, ofTable, 'in the table'),
      ...different(ofHub, ofTable),
    ].map((what) => `${eventType} ${first?.eventId}: ${what}`);
    return {
      eventId: first?.eventId ?? id,
      eventType,
      said: steps.map(({ step }) => step),
      onHub: ofHub.length,
      inTable: ofTable.length,
      complaints,
    };
  });
  return {
    events: events.map(({ complaints: _, ...event }) => event),
    hub: { records: onHub.length, copies: hub.length - onHub.length },
    table: { records: inTable.length, copies: table.length - inTable.length },
    complaints: events.flatMap(({ complaints }) => complaints),
  };
}

const idOf = ({ eventId }: { readonly eventId: string }): string => eventId.toLowerCase();

const once = (held: readonly Held[]): readonly Held[] => [
  ...new Map(held.map((record) => [record.recordId, record])).values(),
];

/** The step that a record calls what Azure does. */
export const stepSaid: Readonly<Record<Said['step'], StepKind>> = {
  scheduled: 'scheduled',
  started: 'started',
  updated: 'updated',
  removed: 'end',
};

/** Where the records of one event are not one for each step. */
function judge(said: readonly Said[], held: readonly Held[], where: string): readonly string[] {
  const expected = said.map(({ step }) => stepSaid[step]);
  const found = held.map(({ phase }) => stepOf(phase));
  return [...new Set([...expected, ...found])].flatMap((step) => {
    const count = (steps: readonly StepKind[]): number => steps.filter((one) => one === step).length;
    const [wanted, there] = [count(expected), count(found)] as const;
    if (wanted === there) return [];
    if (wanted === 0) return [`its step “${step}” is ${where}, but Azure never said it.`];
    if (there === 0) return [`its step “${step}” is missing ${where}.`];
    return [`its step “${step}” is ${plural(there, 'record')} ${where}, where ${wanted} should be.`];
  });
}

/** Steps of which both hold a record, but not the same. */
function different(hub: readonly Held[], table: readonly Held[]): readonly string[] {
  const others = hub.filter((record) => {
    const same = table.filter(({ phase }) => stepOf(phase) === stepOf(record.phase));
    return (
      same.length > 0 && !same.some(({ recordId, phase }) => recordId === record.recordId && phase === record.phase)
    );
  });
  return others.map(
    ({ phase }) => `the event hub and the table hold different records of its step “${stepOf(phase)}”.`,
  );
}
