import { cloudEventAttributes, partitionKey } from '../../../src/sinks/cloud-event.ts';
import type { EnqueuedRecord } from '../target.ts';

/** What a bridge has given to its sinks, as `status --json` reports it. */
export interface WrittenStream {
  readonly machine: string;
  readonly streamId: string;
  /** Position of the newest record. */
  readonly position: number;
}

/**
 * What is wrong with the messages of a hub, each a sentence: a record is missing, or its message has not the properties that `infra/record.md`
 * describes. Copies are allowed: delivery is at least once.
 *
 * @param streams whose records are all expected
 */
export const hubProblems = (
  messages: readonly EnqueuedRecord[],
  streams: readonly WrittenStream[],
): readonly string[] => [
  ...streams.flatMap((stream) => missingPositions(messages, stream)),
  ...messages.flatMap(messageProblems),
  ...partitionProblems(messages),
  ...orderProblems(messages),
];

function missingPositions(
  messages: readonly EnqueuedRecord[],
  { machine, streamId, position }: WrittenStream,
): string[] {
  const held = new Set(messages.flatMap(({ record }) => (record.streamId === streamId ? [record.position] : [])));
  const missing = Array.from({ length: position }, (_, index) => index + 1).filter((each) => !held.has(each));
  return missing.length === 0
    ? []
    : [
        `The hub does not hold ${missing.length} of the ${position} records of ${machine}: position ${missing.slice(0, 5).join(', ')}.`,
      ];
}

function messageProblems({ record, ...message }: EnqueuedRecord): string[] {
  const attributes = Object.entries(cloudEventAttributes(record)).map(([name, value]) => [
    `cloudEvents:${name}`,
    value,
  ]);
  const expected: Readonly<Record<string, unknown>> = {
    partitionKey: partitionKey(record),
    messageId: record.recordId,
    correlationId: record.transitionId,
    contentType: 'application/json',
    ...Object.fromEntries(attributes),
  };
  const actual: Readonly<Record<string, unknown>> = { ...message, ...message.properties };
  const wrong = Object.entries(expected).filter(([name, value]) => actual[name] !== value);
  const tooMany = Object.keys(message.properties).filter((name) => !(name in expected));
  const early = message.enqueuedAt.getTime() < Date.parse(record.observedAt) - clockToleranceMs;
  return [
    ...wrong.map(
      ([name, value]) =>
        `${name} of the record ${record.recordId} is ${JSON.stringify(actual[name] ?? null)}; expected was ${JSON.stringify(value)}.`,
    ),
    ...tooMany.map((name) => `The record ${record.recordId} has the property ${name}, which is not documented.`),
    ...(early
      ? [
          `The record ${record.recordId} was enqueued at ${message.enqueuedAt.toISOString()}, before it was observed (${record.observedAt}).`,
        ]
      : []),
  ];
}

/** The clocks of a VM and of the hub differ by less. */
const clockToleranceMs = 60_000;

function partitionProblems(messages: readonly EnqueuedRecord[]): string[] {
  const partitions = Map.groupBy(messages, ({ record }) => partitionKey(record));
  return [...partitions].flatMap(([key, of]) => {
    const ids = [...new Set(of.map(({ partitionId }) => partitionId))];
    return ids.length < 2
      ? []
      : [`The event ${key} is in the partitions ${ids.join(' and ')}: readers lose its order.`];
  });
}

/** In one partition, the records of an event and a stream are in the order of `sequence`, apart from copies of earlier ones. */
function orderProblems(messages: readonly EnqueuedRecord[]): string[] {
  const newest = new Map<string, number>();
  const seen = new Set<string>();
  return messages.flatMap(({ record }) => {
    const { streamId, eventId, sequence, recordId } = record;
    const event = `${streamId} ${eventId.toLowerCase()}`;
    const last = newest.get(event) ?? 0;
    newest.set(event, Math.max(last, sequence));
    const isCopy = seen.has(`${streamId} ${recordId}`);
    seen.add(`${streamId} ${recordId}`);
    return sequence >= last || isCopy
      ? []
      : [`The record ${recordId} (sequence ${sequence}) follows sequence ${last} of its event.`];
  });
}

/**
 * The streams of VMs that cannot be asked any more, such as a deleted one, up to their last record in the hub: one that is missing before it
 * was lost.
 */
export const otherStreams = (
  messages: readonly EnqueuedRecord[],
  known: readonly WrittenStream[],
): readonly WrittenStream[] =>
  [...Map.groupBy(messages, ({ record }) => record.streamId)].flatMap(([streamId, of]) =>
    known.some((stream) => stream.streamId === streamId)
      ? []
      : [
          {
            machine: of[0]?.record.vmName ?? streamId,
            streamId,
            position: Math.max(...of.map(({ record }) => record.position)),
          },
        ],
  );

/** One message for each record, the first. */
export const withoutCopies = (messages: readonly EnqueuedRecord[]): readonly EnqueuedRecord[] =>
  [...Map.groupBy(messages, ({ record }) => `${record.streamId} ${record.recordId}`).values()].flatMap(
    ([first]) => first ?? [],
  );
