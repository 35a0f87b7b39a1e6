import type { ConcludedApproval } from './control/approvals.ts';
import type { Answered } from './control/requests.ts';
import type { Change } from './store/counters.ts';
import type { BufferedRecord, DeliveryUpdate, Outcome, PendingDelivery, PendingQuery } from './store/deliveries.ts';

/** A record that was given up, and which sinks never got it. */
export interface Tombstone {
  readonly record: Pick<BufferedRecord, 'position' | 'eventKey' | 'recordId' | 'phase' | 'observedAt'>;
  readonly sinks: readonly string[];
  readonly expiredAt: string;
}

/**
 * All that happened since the last commit. Usually empty: it fills for the moment of a commit, and for as long as the disk
 * takes none. Everything is here first, then on disk, so a commit that fails changes nothing but where things are.
 */
export interface WriteBuffer {
  readonly records: ReadonlyMap<number, BufferedRecord>;
  readonly bytes: number;
  readonly isEmpty: boolean;
  add(records: readonly BufferedRecord[]): void;
  settle(sink: string, updates: readonly DeliveryUpdate[], at: string): void;
  /** Settlements by position, of records in memory and on disk alike. */
  outcomes(sink: string): ReadonlyMap<number, Outcome>;
  /** What has been counted for this sink and stands in no row, here or on disk. */
  counted(sink: string): Change;
  readonly tombstones: readonly Tombstone[];
  /** Outcomes of approvals. */
  readonly concluded: readonly ConcludedApproval[];
  conclude(concluded: readonly ConcludedApproval[]): void;
  /** Answers by the number of the request. */
  readonly answers: ReadonlyMap<number, Answered>;
  answer(number: number, answered: Answered): void;
  /** What a sink has yet to get of the records held here, oldest first. */
  pending(sink: string, query: PendingQuery): PendingDelivery[];
  /** Gives up these records; what no sink has any more is lost. */
  giveUp(positions: Iterable<number>, sinks: readonly string[], at: string): void;
  /** Forgets the outcomes of records that are not held here: they are written. */
  outcomesWritten(): void;
  clear(): void;
}

const mostConcluded = 1_000;

const noOutcomes: ReadonlyMap<number, Outcome> = new Map();

export function createWriteBuffer(): WriteBuffer {
  const records = new Map<number, BufferedRecord>();
  const outcomes = new Map<string, Map<number, Outcome>>();
  const counted = new Map<string, Change>();
  const answers = new Map<number, Answered>();
  let tombstones: Tombstone[] = [];
  let concluded: ConcludedApproval[] = [];
  let bytes = 0;

  const count = (sink: string, change: Change): void => {
    const sum: Record<string, number> = { ...counted.get(sink) };
    for (const [name, n] of Object.entries(change)) sum[name] = (sum[name] ?? 0) + n;
    counted.set(sink, sum);
  };

  /** Gives up one record for one sink; true when the sink never got it. */
  const giveUpFor = (position: number, sink: string): boolean => {
    const outcome = outcomes.get(sink)?.get(position);
    outcomes.get(sink)?.delete(position);
    const isDelivered = outcome?.state === 'delivered';
    count(sink, { accepted: 1, ...(isDelivered ? { delivered: 1, undurable: 1 } : { expired: 1 }) });
    return !isDelivered;
  };

  return {
    records,
    get bytes() {
      return bytes;
    },
    get isEmpty() {
      const sizes = [records, outcomes, counted, answers].map(({ size }) => size);
      return [...sizes, tombstones.length, concluded.length].every((size) => size === 0);
    },
    get tombstones() {
      return tombstones;
    },
    get concluded() {
      return concluded;
    },
    conclude(more) {
      // Bounded as what is in memory is: an approval has a record.
      concluded = [...concluded, ...more].slice(-mostConcluded);
    },
    answers,
    answer: (number, answered) => void answers.set(number, answered),
    add(held) {
      for (const record of held) {
        records.set(record.position, record);
        bytes += record.json.length;
      }
    },
    settle(sink, updates, at) {
      const known = outcomes.get(sink) ?? new Map<number, Outcome>();
      for (const update of updates) {
        const before = known.get(update.position);
        if (before && before.state !== 'pending') continue;
        known.set(update.position, outcomeOf(update, before, { at, undurable: records.has(update.position) }));
      }
      if (known.size > 0) outcomes.set(sink, known);
    },
    outcomes: (sink) => outcomes.get(sink) ?? noOutcomes,
    counted: (sink) => counted.get(sink) ?? {},
    pending(sink, { limit, exceptEvents, onlyEvents, notAfterPosition = Number.POSITIVE_INFINITY }) {
      const known = outcomes.get(sink);
      const found: PendingDelivery[] = [];
      for (const { position, eventKey, json, appendedAt } of records.values()) {
        if (found.length >= limit) break;
        const outcome = known?.get(position);
        if (outcome && outcome.state !== 'pending') continue;
        if (position > notAfterPosition || exceptEvents?.has(eventKey) || onlyEvents?.has(eventKey) === false) continue;
        found.push({ position, eventKey, json, appendedAt, attempts: outcome?.attempts ?? 0 });
      }
      return found;
    },
    giveUp(positions, sinks, at) {
      for (const position of positions) {
        const record = records.get(position);
        if (!record) continue;
        records.delete(position);
        bytes -= record.json.length;
        const never = sinks.filter((sink) => giveUpFor(position, sink));
        // As many as records that can be held: their number is bounded by the same figure.
        if (never.length > 0) tombstones = [...tombstones.slice(-999), { record, sinks: never, expiredAt: at }];
      }
    },
    outcomesWritten() {
      for (const [sink, known] of outcomes) {
        const left = new Map([...known].filter(([position]) => records.has(position)));
        if (left.size > 0) outcomes.set(sink, left);
        else outcomes.delete(sink);
      }
    },
    clear() {
      records.clear();
      outcomes.clear();
      counted.clear();
      answers.clear();
      tombstones = [];
      concluded = [];
      bytes = 0;
    },
  };
}

function outcomeOf(
  update: DeliveryUpdate,
  before: Outcome | undefined,
  { at, undurable }: { readonly at: string; readonly undurable: boolean },
): Outcome {
  const attempts = (before?.attempts ?? 0) + (update.outcome === 'delivered' ? 0 : 1);
  if (update.outcome === 'delivered') {
    const { code = null, reason = null } = before ?? {};
    return { state: 'delivered', attempts, code, reason, at, undurable };
  }
  const { code, reason } = update;
  return { state: update.outcome === 'dead' ? 'dead' : 'pending', attempts, code, reason, at, undurable: false };
}
