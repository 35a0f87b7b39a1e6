import { type Clock, systemClock } from '../clock.ts';
import {
  azureTime,
  FleetView,
  followHub,
  type HubReader,
  type LifecycleRecord,
  type Message,
} from '../consumer/index.ts';
import type { Hub } from './hub.ts';
import { type HubProblem, HubRefused } from './refusal.ts';

/** What a listener of a feed learns. */
export interface FeedListener {
  /** @param changedEventIds lower case; none for a copy of a record that was known. */
  onRecord?(record: LifecycleRecord, changedEventIds: readonly string[]): void;
  /** Once: from now on, what arrives is new. */
  onHistoryRead?(): void;
  /** Reading began to fail, fails otherwise, or works again. */
  onProblems?(problems: readonly FeedProblem[]): void;
  /** Once, when `refusal` is set; before `onProblems`. */
  onRefused?(): void;
  /** A message that claims to be a record, but is none; it was skipped. */
  onInvalid?(problem: string): void;
}

/** A partition cannot be read at present. It is tried again every ten seconds. */
export interface FeedProblem extends HubProblem {
  readonly partitionId: string;
  readonly since: Date;
}

/** What the records of a hub say of a fleet, now and as they arrive. */
export interface FleetFeed {
  readonly view: FleetView;
  /** All that the hub held at the start is in the view: only now is an open event known to be open. */
  readonly isHistoryRead: boolean;
  /** Resolves when it is. */
  readonly history: Promise<void>;
  /** A partition that has never been read is refused for good: waiting will not help. */
  readonly refusal: HubRefused | null;
  /** Records so far, copies too. */
  readonly recordCount: number;
  /** Messages that claim to be records, but are none. */
  readonly skippedCount: number;
  /** Of the first report that was read, by Azure's clock: nothing is known of the time before. Null: there was none. */
  readonly oldestAt: Date | null;
  /** Empty while every partition is read. */
  readonly problems: readonly FeedProblem[];
  /** @returns a function that ends the subscription. A listener that throws ends the process. */
  subscribe(listener: FeedListener): () => void;
  /** Stops reading. Never rejects. */
  close(): Promise<void>;
}

export interface FleetFeedOptions {
  /** Also fold records that `emit-test` wrote. Default: false. */
  readonly includeTests?: boolean;
  /** How long ended events stay in the view, in hours. Default: 24. */
  readonly rememberHours?: number;
  /** Until history is read, ended events of this time and later stay as well. */
  readonly keepSince?: Date;
  readonly clock?: Clock;
}

/**
 * Reads a hub from its oldest message on.
 * @throws HubRefused if the hub cannot be reached.
 */
export async function openFleetFeed(hub: Hub, options: FleetFeedOptions = {}): Promise<FleetFeed> {
  const feed = createFleetFeed({ ...options, explain: (error) => hub.explain(error, 'partition') });
  try {
    const subscription = await followHub(hub.client, feed);
    return Object.assign(feed, { close: () => subscription.close().catch(() => {}) });
  } catch (error) {
    throw new HubRefused(hub.explain(error, 'hub'), { cause: error });
  }
}

interface FeedSettings extends FleetFeedOptions {
  readonly explain: (error: unknown) => HubProblem;
}

/** A feed that is handed what was read. */
export interface ManualFeed extends FleetFeed {
  onMessages(messages: readonly Message[], partitionId: string): void;
  onHistoryRead(): void;
  onError(error: unknown, partitionId: string): void;
}

/** A feed without a hub: pass it to `followHub`, or hand it messages. */
export function createFleetFeed(settings: FeedSettings): ManualFeed {
  return new Feed(settings);
}

const hourMs = 3_600_000;
/** An event without an end that no VM has reported for so long is forgotten: its VM is gone. Longer than most hubs keep messages. */
const abandonedMs = 30 * 24 * hourMs;
/** Records between two looks at what can be forgotten while history is read. */
const forgetEvery = 20_000;

class Feed implements ManualFeed, HubReader {
  readonly view: FleetView;
  readonly history: Promise<void>;
  refusal: HubRefused | null = null;
  isHistoryRead = false;
  recordCount = 0;
  skippedCount = 0;
  oldestAt: Date | null = null;
  readonly #clock: Clock;
  readonly #explain: FeedSettings['explain'];
  readonly #rememberMs: number;
  readonly #keepSince: number;
  readonly #listeners = new Set<FeedListener>();
  readonly #problems = new Map<string, FeedProblem>();
  readonly #history = Promise.withResolvers<void>();
  /** Partitions that were read at least once. */
  readonly #read = new Set<string>();
  #forgetAt = 0;
  #forgetAtCount = forgetEvery;

  constructor(settings: FeedSettings) {
    const { includeTests = false, rememberHours = 24, keepSince, clock = systemClock, explain } = settings;
    this.view = new FleetView({ includeTests });
    this.#clock = clock;
    this.#explain = explain;
    this.#rememberMs = rememberHours * hourMs;
    this.#keepSince = keepSince?.getTime() ?? Number.POSITIVE_INFINITY;
    this.history = this.#history.promise;
  }

  get problems(): readonly FeedProblem[] {
    return [...this.#problems.values()];
  }

  subscribe(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  onMessages(messages: readonly Message[], partitionId: string): void {
    this.#read.add(partitionId);
    if (this.#problems.delete(partitionId)) this.#notify((one) => one.onProblems?.(this.problems));
    for (const message of messages) {
      if (message.kind === 'invalid') {
        this.skippedCount += 1;
        this.#notify((one) => one.onInvalid?.(message.problem));
      }
      if (message.kind === 'record') this.#add(message.record);
    }
    this.#forget();
  }

  onHistoryRead(): void {
    this.isHistoryRead = true;
    this.#history.resolve();
    this.#notify((one) => one.onHistoryRead?.());
  }

  onError(error: unknown, partitionId: string): void {
    const problem = this.#explain(error);
    if (problem.isPermanent && !this.#read.has(partitionId) && this.refusal === null) {
      this.refusal = new HubRefused(problem, { cause: error });
      this.#notify((one) => one.onRefused?.());
    }
    const known = this.#problems.get(partitionId);
    this.#problems.set(partitionId, { ...problem, partitionId, since: known?.since ?? this.#clock.now() });
    if (known?.code !== problem.code) this.#notify((one) => one.onProblems?.(this.problems));
  }

  async close(): Promise<void> {}

  #add(record: LifecycleRecord): void {
    this.recordCount += 1;
    const at = azureTime(record);
    if (this.oldestAt === null || at < this.oldestAt.getTime()) this.oldestAt = new Date(at);
    const changed = this.view.add(record);
    this.#notify((one) => one.onRecord?.(record, changed));
  }

  #notify(say: (listener: FeedListener) => void): void {
    for (const listener of this.#listeners) say(listener);
  }

  #forget(): void {
    const now = this.#clock.now().getTime();
    if (this.isHistoryRead ? now < this.#forgetAt : this.recordCount < this.#forgetAtCount) return;
    this.#forgetAt = now + hourMs;
    this.#forgetAtCount = this.recordCount + forgetEvery;
    const keepSince = this.isHistoryRead ? Number.POSITIVE_INFINITY : this.#keepSince;
    const before = Math.min(now - this.#rememberMs, keepSince);
    const abandonedBefore = new Date(Math.min(now - abandonedMs, before - this.#rememberMs));
    const streamsBefore = this.isHistoryRead ? new Date(before) : abandonedBefore;
    this.view.forget(new Date(before), undefined, abandonedBefore, streamsBefore);
  }
}
