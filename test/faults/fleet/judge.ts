import type { Phase } from '../../../src/lifecycle/record.ts';
import { type StepKind, stepOf } from '../../../src/lifecycle/record-id.ts';
import type { Announced } from './announced.ts';

/** A record as a destination has it; rows of the table have the same fields with other capitals. */
export interface Arrived {
  readonly recordId: string;
  readonly vmName: string;
  readonly eventId: string;
  readonly eventType: string | null;
  readonly phase: Phase;
  readonly sequence: number;
}

export interface Judgement {
  /** Steps that were announced and have not arrived, over all VMs and sinks. */
  readonly lost: number;
  /** Further copies of a record. */
  readonly copies: number;
  /** What no fault may cause, each a sentence. */
  readonly broken: readonly string[];
}

/**
 * Compares what arrived at the sinks, in the order of arrival and with all copies, with what was announced to these VMs. It knows nothing
 * of the bridge but the fields of a record.
 */
export function judge(
  announced: readonly Announced[],
  vms: readonly string[],
  arrived: Readonly<Record<string, readonly Arrived[]>>,
): Judgement {
  const parts = Object.entries(arrived).flatMap(([sink, all]) => {
    const first = firstCopies(all);
    // A snapshot says from when on a stream is complete: it is about no event.
    const ofEvents = first.filter(({ phase }) => phase !== 'Snapshot');
    const groups = Map.groupBy(ofEvents, (record) => keyOf(record.vmName, record.eventId));
    const perEvent = vms.flatMap((vm) =>
      announced.map((event) => {
        const own = groups.get(keyOf(vm, event.eventId)) ?? [];
        groups.delete(keyOf(vm, event.eventId));
        return judgeEvent(event, own, `${event.eventId} on ${vm} at ${sink}`);
      }),
    );
    const unannounced = [...groups.keys()].map((key) => `${key} at ${sink} was never announced`);
    return [...perEvent, { lost: 0, copies: all.length - first.length, broken: unannounced }];
  });
  return {
    lost: parts.reduce((sum, { lost }) => sum + lost, 0),
    copies: parts.reduce((sum, { copies }) => sum + copies, 0),
    broken: parts.flatMap(({ broken }) => broken),
  };
}

/** One event of one VM at one sink: its records without copies, in the order of arrival. */
function judgeEvent({ eventType, steps }: Announced, own: readonly Arrived[], what: string): Judgement {
  const kinds = own.map(({ phase }) => stepOf(phase));
  const isInOrder = own.every(({ sequence }, index) => index === 0 || sequence > (own[index - 1]?.sequence ?? 0));
  const sequences = own.map(({ sequence }) => sequence).toSorted((a, b) => a - b);
  const { missing, surplus } = compare(steps, kinds);
  return {
    lost: missing,
    copies: 0,
    broken: [
      ...(isInOrder ? [] : [`${what} arrived in the order ${own.map(({ sequence }) => sequence).join(' ')}`]),
      ...(missing > 0 || sequences.every((sequence, index) => sequence === index + 1)
        ? []
        : [`${what} has the sequences ${sequences.join(' ')}`]),
      ...(surplus.length === 0 ? [] : [`${what} has steps that were not announced: ${surplus.join(' ')}`]),
      ...(own.every((record) => record.eventType === eventType) ? [] : [`${what} has another type than ${eventType}`]),
    ],
  };
}

/** How many announced steps are missing, and which are there that were not announced. */
function compare(announced: readonly StepKind[], found: readonly StepKind[]) {
  const rest = [...found];
  let missing = 0;
  for (const step of announced) {
    const index = rest.indexOf(step);
    if (index === -1) missing += 1;
    else rest.splice(index, 1);
  }
  return { missing, surplus: rest };
}

function firstCopies(records: readonly Arrived[]): readonly Arrived[] {
  const byId = new Map<string, Arrived>();
  for (const record of records) if (!byId.has(record.recordId)) byId.set(record.recordId, record);
  return [...byId.values()];
}

const keyOf = (vm: string, eventId: string): string => `${eventId.toUpperCase()} on ${vm}`;
