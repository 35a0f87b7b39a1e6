import type { SinkCounters, SinkProgress } from '../outbox/outbox.ts';
import type { Snapshot } from './snapshot.ts';

type Check = (value: unknown) => boolean;

/** Every key of a type that a reader depends on. */
type Checks<T> = { readonly [key in keyof Required<T>]: Check };

const text: Check = (value) => typeof value === 'string';
const figure: Check = (value) => typeof value === 'number';
const flag: Check = (value) => typeof value === 'boolean';
const time: Check = (value) => typeof value === 'string' && Number.isFinite(Date.parse(value));
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const mapOf =
  (check: Check): Check =>
  (value) =>
    isObject(value) && Object.values(value).every(check);
const shape =
  <T>(checks: Checks<T>): Check =>
  (value) =>
    isObject(value) && Object.entries<Check>(checks).every(([key, check]) => check(value[key]));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Outbox = Snapshot['outbox'];
type Observer = NonNullable<Outbox['observer']>;

const failure = shape<{ code: string; reason: string }>({ code: text, reason: text });

const counters = shape<SinkCounters>({
  ...{ accepted: figure, delivered: figure, pending: figure, dead: figure, expired: figure, abandoned: figure },
  undurable: figure,
});

const progress = shape<SinkProgress>({
  ...{ step: figure, retryAt: orNull(time), lastSuccessAt: orNull(time), lastErrorAt: orNull(time) },
  ...{ lastErrorCode: orNull(text), lastErrorReason: orNull(text) },
});

const outbox = shape<Outbox>({
  ...{ streamId: text, position: figure, bytes: figure },
  ...{ lastDocumentAt: orNull(time), incarnation: orNull(figure), clockOffsetSeconds: orNull(figure) },
  undecided: shape<Outbox['undecided']>({ documents: figure }),
  events: listOf(
    shape<Outbox['events'][number]>({
      ...{ eventId: text, eventType: orNull(text), eventSource: orNull(text), phase: text },
      ...{ notBefore: orNull(time), firstSeenAt: time, startedAt: orNull(time), affectsUs: flag, inScope: flag },
    }),
  ),
  observer: orNull(
    shape<Pick<Observer, 'vmName' | 'vmId' | 'resourceGroup' | 'location'>>({
      ...{ vmName: text, vmId: text, resourceGroup: orNull(text), location: orNull(text) },
    }),
  ),
  openApprovals: listOf(shape<Outbox['openApprovals'][number]>({ eventId: text, cause: text, at: time })),
  sinks: listOf(
    shape<Outbox['sinks'][number]>({ name: text, configured: flag, counters, progress, oldestPendingAt: orNull(time) }),
  ),
  recovery: orNull(
    shape<Pick<NonNullable<Outbox['recovery']>, 'at' | 'reason' | 'movedTo'>>({
      at: time,
      reason: text,
      movedTo: text,
    }),
  ),
});

/** Whether an answer has every field that `status` reads, as this version writes it. */
export const hasSnapshotShape = shape<Snapshot>({
  ...{ form: figure, version: text, pid: figure, isStopping: flag, stuck: listOf(text), connectJitterSeconds: figure },
  poll: shape<Snapshot['poll']>({
    ...{ intervalSeconds: figure, answerSeconds: figure, isFirstAnswer: flag, upSeconds: figure, ageSeconds: figure },
    ...{ documentAgeSeconds: orNull(figure), failing: orNull(failure) },
  }),
  storage: shape<Snapshot['storage']>({
    fault: orNull(
      shape<NonNullable<Snapshot['storage']['fault']>>({ kind: text, code: text, reason: text, since: time }),
    ),
    undurable: figure,
  }),
  holdSeconds: (value) => value === undefined || mapOf(figure)(value),
  recordsInFlight: (value) => value === undefined || mapOf(figure)(value),
  senders: listOf(
    shape<Snapshot['senders'][number]>({
      ...{ role: text, pid: orNull(figure), residentBytes: figure, starts: figure, deaths: mapOf(figure) },
      ...{ recentDeaths: figure, lastDeath: orNull(failure) },
    }),
  ),
  outbox,
});
