import { azureTime, type EventState, type FleetView, type LifecycleRecord, type Phase } from '../consumer/index.ts';

/** A change of an event, by what all VMs reported: many records, one transition. */
export interface Transition {
  readonly phase: Phase;
  /** By Azure's clock. */
  readonly at: Date;
  /** The report of it that counts. Of a presumed end, the last word on the event. */
  readonly record: LifecycleRecord;
  /** After it. */
  readonly event: EventState;
  /** No VM reported the end: the only one that could was deleted, or lost its state. */
  readonly isPresumed: boolean;
  /** The phase of the end that was known before: a VM reported better evidence since. */
  readonly corrects: Phase | null;
}

/** What was already given out of one event. */
interface Known {
  readonly steps: Set<string>;
  end: Phase | null;
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
    const end = endOf(event, now);
    const isNewEnd = end !== null && end.phase !== known.end && (end.isPresumed || isDue(end.record));
    const corrects = isNewEnd ? known.end : null;
    if (end === null) known.end = null;
    else if (isNewEnd) known.end = end.phase;
    return [
      ...steps.map((record) => ({ phase: record.phase, record, at: timeOf(record), isPresumed: false })),
      ...(isNewEnd ? [end] : []),
    ].map((one) => ({ ...one, event, corrects: one === end ? corrects : null }));
  }

  #knownOf(eventId: string): Known {
    const known = this.#known.get(eventId) ?? { steps: new Set(), end: null, own: new Set() };
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

function endOf(event: EventState, now: Date): Omit<Transition, 'event' | 'corrects'> | null {
  const { end, presumedEnd, presumedOverAt, latest } = event;
  if (end !== null) return { phase: end.phase, record: end, at: timeOf(end), isPresumed: false };
  if (presumedEnd !== null) return { phase: 'Ended', record: presumedEnd, at: timeOf(presumedEnd), isPresumed: true };
  if (latest === null || presumedOverAt === null || !isPresumedOver(event, now)) return null;
  return { phase: 'Ended', record: latest, at: presumedOverAt, isPresumed: true };
}
