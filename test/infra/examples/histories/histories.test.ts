import { expect, test } from 'vitest';
import { actOnce, memoryStore, parseEventData } from '../../../../src/consumer/index.ts';
import type { LifecycleRecord } from '../../../../src/lifecycle/record.ts';
import { encodeEvent } from '../../../../src/sinks/event-hubs/encode.ts';
import { validatorOf } from '../../../support/published-schema.ts';
import { type Message, partitionOf } from './bridge.ts';
import { bodyOf, byVm, historyFiles, interrupted, readHistories, textOf, writeHistories } from './read.ts';
import { histories } from './table.ts';

const written = new Map(Object.entries(histories).map(([name, history]) => [name, textOf(history())]));

/** `UPDATE=1 npm run test:unit -- test/infra/examples/histories` writes them. */
test('the files of histories are those of the table', () => {
  if (process.env.UPDATE) writeHistories(written);
  else expect(historyFiles()).toEqual(new Map([...written].sort()));
});

const messagesOf = (history: ReturnType<(typeof histories)[string]>): readonly Message[] =>
  history.runs.flatMap(({ before, steps }) => [...before, ...steps.flatMap(({ messages }) => messages)]);

/** Those that a bridge of this release can have sent. */
const sent = [...readHistories()].flatMap(([name, history]) =>
  messagesOf(history).flatMap((message) => {
    const { schemaVersion, vmId } = (message.body ?? {}) as Partial<LifecycleRecord>;
    return schemaVersion === '1.1' && vmId !== undefined ? [{ name, message }] : [];
  }),
);

test('every message of the histories is as the bridge sends it, and its record is valid', () => {
  const problemsOf = validatorOf('lifecycle-record.v1.json');
  expect(sent.length).toBeGreaterThan(80);
  for (const { name, message } of sent) {
    const record = message.body as LifecycleRecord;
    const { body, ...attributes } = encodeEvent({ record, json: bodyOf(message) });
    const { partition, partitionKey, body: _, ...own } = message;
    expect(own, name).toEqual(attributes);
    expect(problemsOf(record), name).toEqual([]);
    expect({ partition, partitionKey }, name).toEqual({
      partition: partitionOf(record.eventId.toLowerCase()),
      partitionKey: record.eventId.toLowerCase(),
    });
  }
});

test.each(['partitions', 'snapshot-first'])('the events of the history %s are in different partitions', (name) => {
  const of = sent.filter((one) => one.name === name).map(({ message }) => message);
  const events = new Set(of.map(({ partitionKey }) => partitionKey));
  expect(new Set(of.map(({ partition }) => partition)).size).toBe(events.size);
});

test('no VM name is in two histories, so that a subscriber can play all of them at once', () => {
  const names = [...readHistories()].flatMap(([name, { runs }]) => {
    const acts = runs.flatMap((run) => [run.acts, ...run.steps.map((step) => step.acts)]).flat();
    return [...new Set(acts.map((act) => act.split(' ')[1]))].map((vm) => ({ vm, name }));
  });
  expect(new Set(names.map(({ vm }) => vm)).size).toBe(names.length);
});

test.each([...readHistories()])('actOnce does what the history %s demands', async (_, { runs }) => {
  const store = memoryStore();
  const hub: Message[] = [];
  for (const [number, { before, acts: expected, steps, killedDuring = [] }] of runs.entries()) {
    const acts: string[] = [];
    const actions = await actOnce(store, {
      drain: ({ name }) => void acts.push(`drain ${name}`),
      restore: ({ name }) => void acts.push(`restore ${name}`),
      // Histories contain invalid messages.
      onError: () => {},
    });
    const read = (messages: readonly Message[]): void =>
      actions.onMessages(messages.map((message) => parseEventData({ ...message, body: bodyOf(message) })));
    hub.push(...before);
    // One partition after the other, and one message after the other.
    for (const message of hub.toSorted((a, b) => Number(b.partition) - Number(a.partition))) read([message]);
    actions.onHistoryRead();
    await actions.settled();
    expect(byVm(acts.splice(0)), `start of run ${number + 1}`).toEqual(byVm(expected));
    for (const [index, step] of steps.entries()) {
      hub.push(...step.messages);
      read(step.messages);
      await actions.settled();
      expect(byVm(acts.splice(0)), `step ${index + 1} of run ${number + 1}`).toEqual(byVm(step.acts));
    }
    const state = await store.load();
    if (state !== null) await store.save(interrupted(state, killedDuring));
  }
});
