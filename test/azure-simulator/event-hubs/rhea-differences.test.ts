import rhea, { type Connection, type Sender } from 'rhea';
import { expect, test } from 'vitest';
import { attach, event, open, outcome, putToken, signature, startNamespace } from './bare-client.ts';

interface Described {
  readonly value: readonly unknown[];
}

interface Frame {
  readonly performative: { readonly value: readonly unknown[]; readonly handle_max?: number; readonly state?: unknown };
}

/** Keeps the performatives of one kind that come in, as they were on the wire. */
function listen(connection: Connection, kind: string): Frame['performative'][] {
  const seen: Frame['performative'][] = [];
  const handle: (frame: Frame) => void = connection[`on_${kind}`].bind(connection);
  connection[`on_${kind}`] = (frame: Frame) => {
    seen.push({ ...frame.performative, value: [...frame.performative.value] });
    handle(frame);
  };
  return seen;
}

test('every field of an answer is on the wire, for clients that read by position', async () => {
  const namespace = await startNamespace();
  const connection = open(namespace.eventHubs);
  const kinds = ['open', 'begin', 'attach', 'flow', 'transfer', 'disposition', 'detach', 'close'] as const;
  const seen = Object.fromEntries(kinds.map((kind) => [kind, listen(connection, kind)]));
  const closed = new Promise((resolve) => connection.once('connection_error', resolve));
  await putToken(connection, signature(namespace.eventHubs));
  const sender = (await attach(connection, 'vm-lifecycle')) as Sender;
  namespace.eventHubs.fault({ reject: 'com.microsoft:server-busy' }, 1);
  expect(await outcome(sender, event(1))).toBe('com.microsoft:server-busy');
  namespace.eventHubs.fault('detach', 1);
  sender.send(event(1), undefined, 0);
  await new Promise((resolve) => sender.once('sender_close', resolve));
  namespace.eventHubs.fault('force-close', 1);
  const other = (await attach(connection, 'vm-lifecycle')) as Sender;
  other.send(event(1), undefined, 0);
  await closed;

  const lengths = (kind: string): number[] => [...new Set(seen[kind]?.map(({ value }) => value.length))];
  expect(Object.fromEntries(kinds.map((kind) => [kind, lengths(kind)]))).toEqual({
    open: [10],
    begin: [8],
    attach: [14],
    flow: [11],
    transfer: [11],
    disposition: [6],
    detach: [3],
    close: [1],
  });
  const errors = [
    ...(seen.disposition?.map(({ value }) => (value[4] as Described).value[0]) ?? []),
    ...(seen.detach?.map(({ value }) => value[2]) ?? []),
    ...(seen.close?.map(({ value }) => value[0]) ?? []),
  ].filter((error): error is Described => Array.isArray((error as Described | undefined)?.value));
  expect(errors.map(({ value }) => value.length)).toEqual([3, 3, 3]);
  expect(seen.begin?.map(({ value }) => rhea.types.unwrap(value[4]))).toEqual([0xffff_ffff]);
  await namespace.close();
  expect(namespace.errors).toEqual([]);
});

test('an accepted event beside a rejected one of the same moment is reported as accepted', async () => {
  const namespace = await startNamespace();
  const connection = open(namespace.eventHubs);
  await putToken(connection, signature(namespace.eventHubs));
  const sender = (await attach(connection, 'vm-lifecycle')) as Sender;
  namespace.eventHubs.fault({ reject: 'com.microsoft:argument-error', when: (body) => body.length === 1 });
  const outcomes: string[] = [];
  for (const name of ['accepted', 'rejected']) sender.on(name, () => outcomes.push(name));
  for (const bytes of [1, 2, 3]) sender.send(event(bytes), undefined, 0);
  await expect.poll(() => outcomes).toEqual(['rejected', 'accepted', 'accepted']);
  await namespace.close();
});
