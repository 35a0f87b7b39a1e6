import { describe, expect, test } from 'vitest';
import { followHub, type HubClient, type HubReader, type ReceivedMessage } from '../../src/consumer/index.ts';
import { sampleRecord } from '../support/sample-record.ts';

type Partition = Awaited<ReturnType<HubClient['getPartitionProperties']>>;
type Handlers = Parameters<HubClient['subscribe']>[1];
type Options = Parameters<HubClient['subscribe']>[2];

const noon = new Date('2026-03-14T12:00:00.000Z');
const minutesLater = (minutes: number): Date => new Date(noon.getTime() + 60_000 * minutes);
const empty: Partition = { isEmpty: true, lastEnqueuedSequenceNumber: -1, lastEnqueuedOnUtc: new Date(0) };
const holding = (lastEnqueuedSequenceNumber: number, lastEnqueuedOnUtc = noon): Partition => ({
  isEmpty: false,
  lastEnqueuedSequenceNumber,
  lastEnqueuedOnUtc,
});

const message = (sequenceNumber: number): ReceivedMessage => ({ sequenceNumber, body: sampleRecord() });

/** A hub whose partitions deliver what a test hands to `deliver`. */
async function follow(
  partitions: Readonly<Record<string, Partition>>,
  options: { since?: Date } = {},
  reader: Partial<HubReader> = {},
) {
  const events: string[] = [];
  const subscribed = new Map<string, Handlers & { readonly options: Options }>();
  const client: HubClient = {
    getPartitionIds: async () => Object.keys(partitions),
    getPartitionProperties: async (id) => partitions[id] ?? empty,
    subscribe(id, handlers, given) {
      subscribed.set(id, { ...handlers, options: given });
      return { close: async () => void events.push(`closed ${id}`) };
    },
  };
  const subscription = await followHub(
    client,
    {
      onMessages: (messages, id) => void events.push(`${id}: ${messages.map(({ kind }) => kind).join(' ')}`),
      onHistoryRead: () => void events.push('history read'),
      onError: (error, id) => events.push(`${id}: ${(error as Error).message}`),
      ...reader,
    },
    options,
  );
  const deliver = async (id: string, ...messages: ReceivedMessage[]): Promise<void> =>
    await subscribed.get(id)?.processEvents(messages);
  return { events, subscribed, subscription, deliver };
}

describe('reading a hub', () => {
  test('reports that history is read once every partition has delivered its last message', async () => {
    const { events, deliver } = await follow({ 0: holding(7), 1: holding(1), 2: empty });
    await deliver('0', message(6));
    await deliver('1', message(0), message(1));
    await deliver('0');
    expect(events).toEqual(['0: record', '1: record record', '0: ']);
    await deliver('0', message(7), message(8));
    await deliver('1', message(2));
    expect(events.slice(3)).toEqual(['0: record record', 'history read', '1: record']);
  });

  test.each([
    ['every partition is empty', { 0: empty, 1: empty }, {}],
    [
      'what a partition held has expired',
      { 0: { ...empty, lastEnqueuedSequenceNumber: 812, lastEnqueuedOnUtc: noon } },
      {},
    ],
    ['nothing arrived since the time that is asked for', { 0: holding(7) }, { since: minutesLater(1) }],
    ['the last message arrived at that very time', { 0: holding(7) }, { since: noon }],
  ])('needs no message to know that history is read where %s', async (_, partitions, options) => {
    expect((await follow(partitions, options)).events).toEqual(['history read']);
  });

  test('starts at the oldest message, or after the time that is asked for', async () => {
    const all = await follow({ 0: holding(7) });
    expect(all.subscribed.get('0')?.options.startPosition).toEqual({ offset: '-1' });
    const since = minutesLater(-5);
    const recent = await follow({ 0: holding(7) }, { since });
    expect(recent.subscribed.get('0')?.options.startPosition).toEqual({ enqueuedOn: since });
    expect(recent.events).toEqual([]);
  });

  test('hands over what is invalid with its partition and number', async () => {
    const seen: unknown[] = [];
    const { deliver } = await follow({ 3: empty }, {}, { onMessages: (messages) => void seen.push(...messages) });
    await deliver('3', { sequenceNumber: 5, body: { ...sampleRecord(), vmId: 3 } }, { sequenceNumber: 6, body: 'x' });
    expect(seen).toEqual([
      { kind: 'invalid', problem: 'partition 3, message with sequence number 5: vmId: expected a text, found 3' },
      {
        kind: 'ignored',
        reason: expect.stringMatching(/^partition 3, message with sequence number 6: the body is not JSON/),
      },
    ]);
  });

  test('reports what a reader throws, and continues reading without counting the batch as read', async () => {
    let isBroken = true;
    const { events, deliver } = await follow(
      { 0: holding(1) },
      {},
      {
        onMessages: () => {
          if (isBroken) throw new Error('broken');
        },
      },
    );
    await deliver('0', message(0), message(1));
    expect(events).toEqual(['0: broken']);
    isBroken = false;
    await deliver('0', message(2));
    expect(events).toEqual(['0: broken', 'history read']);
  });

  test('reports what the client reports, and closes every partition', async () => {
    const { events, subscribed, subscription } = await follow({ 0: holding(1), 1: holding(1) });
    await subscribed.get('1')?.processError(new Error('link detached'));
    await subscription.close();
    expect(events).toEqual(['1: link detached', 'closed 0', 'closed 1']);
  });
});
