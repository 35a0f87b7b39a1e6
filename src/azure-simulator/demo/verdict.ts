import { foldEvents } from '../../lifecycle/fold.ts';
import { type StepKind, stepOf } from '../../lifecycle/record-id.ts';
import { plural } from '../../terminal/styled-text.ts';
import type { IssuedStep } from '../index.ts';
import type { SentRecord } from './model.ts';

export type Issued = Pick<IssuedStep, 'eventId' | 'eventType' | 'step' | 'resources'>;

/** What Azure issued, compared with what the destinations hold. */
export interface Verdict {
  readonly events: readonly EventVerdict[];
  readonly hub: Count;
  readonly table: Count;
  /** Each difference as a sentence; none: they agree. */
  readonly differences: readonly string[];
}

export interface EventVerdict {
  readonly eventId: string;
  readonly eventType: string;
  readonly issued: readonly Issued['step'][];
  /** Steps that the records of all VMs fold to. */
  readonly onHub: number;
  readonly inTable: number;
  /** VMs that the event is about, and those of them that reported every step. */
  readonly affected: number;
  readonly complete: number;
}

export interface Count {
  readonly records: number;
  /** Arrivals of a record that had arrived before. */
  readonly copies: number;
}

/**
 * Every step that Azure issued has to be one transition of the records at each destination, however many VMs reported it, and both
 * destinations have to hold the same records. Copies are allowed: delivery is at least once, and readers drop copies by `streamId` and `recordId`. That every
 * VM reports every step is counted but not required: on an overloaded machine one may poll only after a step has ended.
 */
export function compare(issued: readonly Issued[], hub: readonly SentRecord[], table: readonly SentRecord[]): Verdict {
  const all = [...issued, ...hub, ...table];
  const events = [...Map.groupBy(all, idOf).keys()].map((id) => {
    const steps = issued.filter((step) => idOf(step) === id);
    const { eventId = id, eventType } = all.find((one) => idOf(one) === id) ?? {};
    const expected = steps.map(({ step }) => stepIssued[step]);
    const [onHub, inTable] = [stepsIn(hub, id), stepsIn(table, id)];
    const event: EventVerdict = {
      eventId,
      eventType: eventType ?? 'an event',
      issued: steps.map(({ step }) => step),
      onHub: onHub.length,
      inTable: inTable.length,
      affected: steps[0]?.resources.length ?? 0,
      complete: completeVms(hub, id, expected),
    };
    const differences = [
      ...differencesOf(expected, onHub, 'on the event hub'),
      ...differencesOf(expected, inTable, 'in the table'),
    ];
    return { event, differences: differences.map((text) => `${event.eventType} ${eventId}: ${text}`) };
  });
  const [onHub, inTable] = [keysOf(hub), keysOf(table)];
  return {
    events: events.map(({ event }) => event),
    hub: { records: onHub.size, copies: hub.length - onHub.size },
    table: { records: inTable.size, copies: table.length - inTable.size },
    differences: [
      ...events.flatMap(({ differences }) => differences),
      ...onlyIn(onHub, inTable, 'on the event hub, but not in the table'),
      ...onlyIn(inTable, onHub, 'in the table, but not on the event hub'),
    ],
  };
}

const idOf = ({ eventId }: { readonly eventId: string }): string => eventId.toLowerCase();

const stepIssued: Readonly<Record<Issued['step'], StepKind>> = {
  scheduled: 'scheduled',
  started: 'started',
  updated: 'updated',
  removed: 'end',
};

/** The steps that the records of an event fold to. Of one VM's ends each counts: no VM may report two. */
function stepsIn(records: readonly SentRecord[], id: string): readonly StepKind[] {
  const ofEvent = records.filter((record) => idOf(record) === id);
  const [folded] = foldEvents(ofEvent);
  const ends = Map.groupBy(
    ofEvent.filter(({ phase }) => stepOf(phase) === 'end'),
    ({ vmId }) => vmId,
  );
  const most = Math.max(0, ...[...ends.values()].map((ofVm) => keysOf(ofVm).size));
  return [
    ...(folded?.steps ?? []).map(({ phase }) => stepOf(phase)),
    ...Array.from({ length: most }, () => 'end' as const),
  ];
}

/** How many VMs reported every step of an event of their own. */
function completeVms(records: readonly SentRecord[], id: string, expected: readonly StepKind[]): number {
  const own = records.filter((record) => idOf(record) === id && record.observerAffected);
  return [...Map.groupBy(own, ({ vmId }) => vmId).values()].filter((ofVm) =>
    expected.every((step) => ofVm.some(({ phase }) => stepOf(phase) === step)),
  ).length;
}

function differencesOf(expected: readonly StepKind[], found: readonly StepKind[], where: string): readonly string[] {
  return [...new Set([...expected, ...found])].flatMap((step) => {
    const count = (steps: readonly StepKind[]): number => steps.filter((one) => one === step).length;
    const [issued, held] = [count(expected), count(found)];
    if (issued === held) return [];
    if (issued === 0) return [`step "${step}" is ${where}, but Azure never issued it.`];
    if (held === 0) return [`step "${step}" is missing ${where}.`];
    return [`step "${step}" is ${where} ${plural(held, 'time')}; Azure issued it ${plural(issued, 'time')}.`];
  });
}

const keysOf = (records: readonly SentRecord[]): ReadonlySet<string> =>
  new Set(records.map(({ recordId, phase }) => `${recordId} ${phase}`));

function onlyIn(one: ReadonlySet<string>, other: ReadonlySet<string>, where: string): readonly string[] {
  const { size } = one.difference(other);
  return size === 0 ? [] : [`${size === 1 ? '1 record is' : `${size} records are`} ${where}.`];
}
