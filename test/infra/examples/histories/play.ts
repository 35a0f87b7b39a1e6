import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { EventHubProducerClient } from '@azure/event-hubs';
import { expect } from 'vitest';
import { until } from '../../../support/until.ts';
import type { SubscriberProcess } from '../subscriber-process.ts';
import { Bridge, event, type Message, partitions } from './bridge.ts';
import { bodyOf, byVm, interrupted, readHistories } from './read.ts';

export interface Stage {
  /** Sends to the hub that the subscriber reads. */
  readonly client: EventHubProducerClient;
  readonly stateFile: string;
  start(): SubscriberProcess;
}

/**
 * Plays all histories at once, since no VM is in two of them: starts the subscriber for each run, sends the messages of each step, and
 * kills it with SIGKILL. Fails if the subscriber does anything else than they demand.
 * @returns what it complained of, over all runs.
 */
export async function playHistories({ client, stateFile, start }: Stage): Promise<string> {
  const histories = [...readHistories().values()];
  const acts: string[] = [];
  const expected: string[] = [];
  let complaints = '';
  for (const number of range(Math.max(...histories.map(({ runs }) => runs.length)))) {
    const runs = histories.flatMap((history) => history.runs[number] ?? []);
    for (const round of range(Math.max(...runs.map(({ before }) => before.length)))) {
      const messages = runs.flatMap(({ before }) => before[round] ?? []);
      await send(client, number === 0 && round < 3 ? [...messages, ...filler] : messages);
    }
    const subscriber = start();
    const earlier = [...acts];
    const settle = async (demanded: readonly string[]): Promise<void> => {
      expected.push(...demanded);
      const done = (): readonly string[] => [...earlier, ...withoutFences(subscriber.acts)];
      const what = `${demanded.join(', ')} in run ${number + 1}, after which it did`;
      await until(() => byVm(done()).join() === byVm(expected).join(), { timeoutMs: 120_000, what }).catch(() => {
        expect(byVm(done()), subscriber.complaints()).toEqual(byVm(expected));
      });
      await passFences(client, subscriber);
      expect(byVm(done()), subscriber.complaints()).toEqual(byVm(expected));
      acts.splice(0, acts.length, ...done());
    };
    await settle(runs.flatMap((run) => run.acts));
    for (const index of range(Math.max(...runs.map(({ steps }) => steps.length)))) {
      const steps = runs.flatMap((run) => run.steps[index] ?? []);
      await send(
        client,
        steps.flatMap(({ messages }) => messages),
      );
      await settle(steps.flatMap((step) => step.acts));
    }
    // Killed between an act and saving it, it would repeat the act.
    const isSaved = (): boolean => existsSync(stateFile) && !readFileSync(stateFile, 'utf8').includes('"draining"');
    await until(isSaved, { what: 'every act to be saved' });
    await subscriber.kill('SIGKILL');
    complaints += subscriber.complaints();
    const killedDuring = runs.flatMap((run) => run.killedDuring ?? []);
    writeFileSync(stateFile, interrupted(readFileSync(stateFile, 'utf8'), killedDuring));
  }
  return complaints;
}

const range = (length: number): readonly number[] => Array.from({ length }, (_, index) => index);

/** More than readers take at once: a subscriber that acts on a part of the backlog does so between two messages of `before`. */
const filler: readonly Message[] = range(partitions).flatMap((partition) =>
  range(120).map(() => ({ partition: String(partition), body: {} })),
);

/** Sends messages in their order, those of one event as a batch. */
async function send(client: EventHubProducerClient, messages: readonly Message[]): Promise<void> {
  const destination = ({ partitionKey, partition }: Message): object =>
    partitionKey === undefined ? { partitionId: partition } : { partitionKey };
  const same = (one: Message | undefined, other: Message): boolean =>
    one !== undefined && JSON.stringify(destination(one)) === JSON.stringify(destination(other));
  for (let first = 0; first < messages.length; ) {
    const head = messages[first] as Message;
    let next = first + 1;
    while (same(messages[next], head)) next += 1;
    const batch = await client.createBatch(destination(head));
    for (const message of messages.slice(first, next)) {
      const { contentType, messageId, correlationId, properties } = message;
      const fields = Object.entries({ contentType, messageId, correlationId, properties });
      const given = Object.fromEntries(fields.filter(([, value]) => value !== undefined));
      expect(batch.tryAdd({ body: bodyOf(message), ...given })).toBe(true);
    }
    await client.sendBatch(batch);
    first = next;
  }
}

const fencePrefix = 'fence_';
const withoutFences = (acts: readonly string[]): readonly string[] =>
  acts.filter((act) => !act.includes(fencePrefix)).map((act) => act.replace(/[:,].*/, ''));

/** Announces an event of another VM in each partition, and waits until the subscriber drains them: it has read what was sent before. */
async function passFences(client: EventHubProducerClient, subscriber: SubscriberProcess): Promise<void> {
  const fences = range(partitions).map((partition) => {
    const vm = new Bridge(`${fencePrefix}${randomUUID()}`);
    const { partitionKey: _, ...message } = vm.reports(
      'Scheduled',
      '09:00',
      event(vm.vmName, 'Freeze', '10:59', [vm.vmName]),
    );
    return { vm, message: { ...message, partition: String(partition) } };
  });
  await send(
    client,
    fences.map(({ message }) => message),
  );
  const isDrained = ({ vm }: { readonly vm: Bridge }): boolean =>
    subscriber.acts.some((act) => act.startsWith(`drain ${vm.vmName}`));
  await until(() => fences.every(isDrained), { what: `the fences; ${subscriber.complaints()}`, timeoutMs: 60_000 });
}
