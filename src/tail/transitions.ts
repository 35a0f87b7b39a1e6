import {
  azureTime,
  type EventState,
  type FleetView,
  isEnd,
  type LifecycleRecord,
  type Phase,
} from '../consumer/index.ts';

/** A change of an event, by what all VMs reported: many records, one transition. */
export interface Transition {
  readonly phase: Phase;
  /** By Azure's clock. */
  readonly at: Date;
  /** The report of it that counts. Of a presumed end, the last word on the event. */
  readonly record: LifecycleRecord;
  /** After it. */
  readonly event: EventState;
  /** No VM reported the end: it was due to be deleted, or lost its state (then `record` is its `Snapshot`). */
  readonly isPresumed: boolean;
  /** The phase of the end that was given out before: a VM reported better evidence since, a presumed end, or a longer outage. */
  readonly corrects: Phase | null;
  /** The end was given out before; `record` is of another VM, which measured a longer outage. */
  readonly isLongerOutage: boolean;
}

/** What was already given out of one event. */
interface Known {
  readonly steps: Set<string>;
  end: { readonly phase: Phase; readonly isPresumed: boolean } | null;
  /** The longest, of its end. */
  outageSeconds: number;
  /** The transitions that a VM reported which the event affects. */
  readonly own: Set<string>;
}

export interface TransitionsOptions {
  /** Only transitions that a VM reported which the event affects, so none that only witnesses saw. */
  readonly onlyOwn?: boolean;
}

/** Finds what is new in a view: each transition once, however many records report it. */
export class Transitions {
  readonly #view: FleetView;
  readonly #onlyOwn: boolean;
  /** By lower-case event id. */
  readonly #known = new Map<string, Known>();
  #pruneAt = 1_000;

  constructor(view: FleetView, { onlyOwn = false }: TransitionsOptions = {}) {
    this.#view = view;
    this.#onlyOwn = onlyOwn;
  }

  /** To be called with every record, before `since` is asked for what it changed. */
  note({ eventId, transitionId, observerAffected }: LifecycleRecord): void {
    if (observerAffected) this.#knownOf(eventId.toLowerCase()).own.add(transitionId);
  }

  /** What is new of these events, in the order in which it happened. */
  news(eventIds: readonly string[], now: Date): readonly Transition[] {
    this.#prune();
    return eventIds
      .flatMap((eventId) => {
        const event = this.#view.event(eventId);
        return event === undefined ? [] : this.#newsOf(event, now);
      })
      .sort((a, b) => a.at.getTime() - b.at.getTime());
  }

  /** What is new of all events: after history, and of events whose VM was deleted and can report no end. */
  allNews(now: Date): readonly Transition[] {
    return this.news(
      this.#view.events().map(({ eventId }) => eventId),
      now,
    );
  }

  #newsOf(event: EventState, now: Date): readonly Transition[] {
    const known = this.#knownOf(event.eventId);
    const isDue = ({ transitionId }: LifecycleRecord): boolean => !this.#onlyOwn || known.own.has(transitionId);
    const steps = event.steps.filter((step) => !known.steps.has(step.transitionId) && isDue(step));
    for (const { transitionId } of steps) known.steps.add(transitionId);
    return [
      ...steps.map((record) => ({ phase: record.phase, record, at: timeOf(record), isPresumed: false, ...noEnd })),
      ...this.#newEnds(known, endOf(event, now), event, isDue),
    ].map((one) => ({ ...one, event }));
  }

  #newEnds(
    known: Known,
    end: End | null,
    event: EventState,
    isDue: (record: LifecycleRecord) => boolean,
  ): readonly Omit<Transition, 'event'>[] {
    if (end === null) {
      known.end = null;
      known.outageSeconds = 0;
      return [];
    }
    const ends: Omit<Transition, 'event'>[] = [];
    const isNew = end.phase !== known.end?.phase || (known.end.isPresumed && !end.isPresumed);
    if (isNew && (end.isPresumed || isDue(end.record))) {
      ends.push({ ...end, corrects: known.end?.phase ?? null, isLongerOutage: false });
      known.end = end;
      known.outageSeconds = Math.max(known.outageSeconds, outageOf(end.record));
    }
    const worst = end.isPresumed ? null : longestOutage(event);
    if (known.end !== null && worst !== null && outageOf(worst) > known.outageSeconds) {
      ends.push({ ...end, record: worst, at: timeOf(worst), corrects: known.end.phase, isLongerOutage: true });
      known.outageSeconds = outageOf(worst);
    }
    return ends;
  }

  #knownOf(eventId: string): Known {
    const known = this.#known.get(eventId) ?? { steps: new Set(), end: null, outageSeconds: 0, own: new Set() };
    this.#known.set(eventId, known);
    return known;
  }

  /** Forgets what the view has forgotten. */
  #prune(): void {
    if (this.#known.size < this.#pruneAt) return;
    for (const eventId of this.#known.keys()) if (!this.#view.event(eventId)) this.#known.delete(eventId);
    this.#pruneAt = 2 * this.#known.size + 1_000;
  }
}

const timeOf = (record: LifecycleRecord): Date => new Date(azureTime(record));

/** Whether something may still happen, or is happening. */
export const isCurrent = (event: EventState, now: Date): boolean => event.isOpen && !isPresumedOver(event, now);

const isPresumedOver = ({ presumedOverAt }: EventState, now: Date): boolean =>
  presumedOverAt !== null && presumedOverAt <= now;

type End = Omit<Transition, 'event' | keyof typeof noEnd>;
const noEnd = { corrects: null, isLongerOutage: false };

const outageOf = ({ observedOutageSeconds }: LifecycleRecord): number => observedOutageSeconds ?? 0;

/** Of the ends that VMs reported, and no VM withdrew. */
function longestOutage({ views }: EventState): LifecycleRecord | null {
  const ends = views.filter(({ last, isAffected, isEndWithdrawn }) => isEnd(last) && isAffected && !isEndWithdrawn);
  return ends.map(({ last }) => last).sort((a, b) => outageOf(b) - outageOf(a))[0] ?? null;
}

function endOf(event: EventState, now: Date): End | null {
  const { end, presumedEnd, presumedOverAt, latest } = event;
  if (end !== null) return { phase: end.phase, record: end, at: timeOf(end), isPresumed: false };
  if (presumedEnd !== null) return { phase: 'Ended', record: presumedEnd, at: timeOf(presumedEnd), isPresumed: true };
  if (latest === null || presumedOverAt === null || !isPresumedOver(event, now)) return null;
  return { phase: 'Ended', record: latest, at: presumedOverAt, isPresumed: true };
}
