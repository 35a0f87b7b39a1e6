import type { ContainerClient } from '@azure/storage-blob';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SharedActions } from '../../infra/examples/shared-partitions/shared-actions.ts';
import { FleetView, type LifecycleRecord, parseEventData, type VmId } from '../../src/consumer/index.ts';
import { historyOf } from '../consumer/worlds.ts';
import { type Message, partitionOf } from '../infra/examples/histories/bridge.ts';
import { bodyOf, byVm, readHistories } from '../infra/examples/histories/read.ts';
import { runs } from '../support/runs.ts';
import { sampleRecord } from '../support/sample-record.ts';
import { type Azurite, startAzurite, whyNoAzurite } from './azurite.ts';

const reason = whyNoAzurite();

describe.skipIf(reason)(`two processes that share their state in blobs${reason}`, { timeout: 300_000 }, () => {
  let azurite: Azurite;
  let container: ContainerClient;

  beforeAll(async () => {
    azurite = await startAzurite();
    container = await azurite.container('histories');
  });
  afterAll(() => azurite.close());

  test.each([...readHistories()])('do what the history %s demands', async (_, history) => {
    const hub: Message[] = [];
    for (const { before, acts: expected, steps, killedDuring = [] } of history.runs) {
      const acts: string[] = [];
      const [one, other] = [0, 1].map(
        () =>
          new SharedActions(container, {
            drain({ name }) {
              acts.push(`drain ${name}`);
              // What is stored is the same as after a kill.
              if (killedDuring.includes(name)) throw new Error('killed');
            },
            restore: ({ name }) => void acts.push(`restore ${name}`),
          }),
      );
      const recordsOf = (messages: readonly Message[]): readonly LifecycleRecord[] =>
        messages
          .map((message) => parseEventData({ ...message, body: bodyOf(message) }))
          .flatMap((message) => (message.kind === 'record' ? [message.record] : []));
      const handle = async (process: SharedActions | undefined, messages: readonly Message[]): Promise<void> => {
        const due = await process?.add(recordsOf(messages));
        await process?.act(due ?? new Set()).catch((error) => expect(String(error)).toContain('killed'));
      };
      // Without a checkpoint, what was there before is read again.
      hub.push(...before);
      await handle(one, hub);
      expect(byVm(acts.splice(0))).toEqual(byVm(expected));
      for (const step of steps) {
        hub.push(...step.messages);
        for (const partition of new Set(step.messages.map((message) => message.partition)))
          await handle(
            Number(partition) % 2 === 0 ? one : other,
            step.messages.filter((message) => message.partition === partition),
          );
        expect(byVm(acts.splice(0))).toEqual(byVm(step.acts));
      }
    }
  });

  const one = { eventId: 'E1', vmName: 'web_0', affectedResources: ['web_0'], affectedResourceCount: 1 };
  const recordAt = (second: number, given: Partial<LifecycleRecord> = {}): LifecycleRecord => ({
    ...sampleRecord({ ...one, evidence: ['said-by-azure'], sequence: second, recordId: `${second}` }),
    observedAt: new Date(Date.now() - 600_000 + 1000 * second).toISOString(),
    ...given,
  });
  const end = { phase: 'Completed' } as const;

  test.each([
    ['an event ends', [], recordAt(1), recordAt(2, end), 0],
    ['an event is listed again', [recordAt(1)], recordAt(2, end), recordAt(3, { evidence: ['reappeared'] }), 1],
  ] as const)(
    'see it where %s in the moment in which the other acts',
    async (name, history, first, second, drained) => {
      const own = await azurite.container(name.replaceAll(' ', '-'));
      const isDrained = new Set<string>();
      const actions = {
        drain: (vm: VmId) => void isDrained.add(vm.name),
        restore: (vm: VmId) => void isDrained.delete(vm.name),
      };
      const other = new SharedActions(own, actions);
      await other.act(await other.add(history));
      /** Before this process saves anything about the VM under its lease, the other one gets the second record. */
      let isMeanwhile = false;
      const delayed = Object.assign(Object.create(own) as ContainerClient, {
        getBlockBlobClient(blobName: string) {
          const blob = own.getBlockBlobClient(blobName);
          const upload = blob.upload.bind(blob);
          return Object.assign(blob, {
            async upload(...args: Parameters<typeof upload>) {
              if (args[2]?.conditions?.leaseId !== undefined && !isMeanwhile) {
                isMeanwhile = true;
                await other.act(await other.add([second]));
              }
              return upload(...args);
            },
          });
        },
      });
      const slow = new SharedActions(delayed, actions);
      await slow.act(await slow.add([first]));
      expect(isMeanwhile).toBe(true);
      expect(isDrained.size).toBe(drained);
    },
  );

  test('leave every VM of a random fleet as its records say, and repeat no act', async () => {
    const wrong: string[] = [];
    const last = runs('fleets', { quick: 12, full: 60 });
    const count = { acts: 0, drained: 0, vms: 0 };
    for (let seed = 1; seed <= last; seed += 1) {
      const { arrivals, world } = historyOf(7_000 + seed);
      const ofFleet = await azurite.container(`fleet-${seed}`);
      const drained = new Map<string, boolean>();
      const calls: string[] = [];
      const read = async (isOwn: (partition: number) => boolean): Promise<void> => {
        const shared = new SharedActions(ofFleet, {
          drain: ({ name }, { eventId }) => {
            drained.set(name, true);
            calls.push(`drain ${name} ${eventId}`);
          },
          restore: ({ name }) => void drained.set(name, false),
        });
        const own = arrivals.filter(({ eventId }) => isOwn(Number(partitionOf(eventId.toLowerCase()))));
        for (let at = 0; at < own.length; at += 2) await shared.act(await shared.add(own.slice(at, at + 2)));
      };
      await Promise.all([read((partition) => partition < 2), read((partition) => partition >= 2)]);
      const view = new FleetView();
      for (const record of arrivals) view.add(record);
      for (const { name } of world.vms) {
        const isAffected = view.events().some(({ affected }) => affected.some((vm) => vm.name === name));
        if (isAffected !== (drained.get(name) ?? false)) wrong.push(`fleet ${seed}: ${name}`);
      }
      // Each return of an event is a reason of its own.
      const hasReturns = arrivals.some(({ evidence }) => evidence.includes('reappeared'));
      count.acts += calls.length;
      count.drained += [...drained.values()].filter(Boolean).length;
      count.vms += world.vms.length;
      if (!hasReturns && new Set(calls).size !== calls.length) wrong.push(`fleet ${seed}: ${calls.join(', ')}`);
    }
    console.log(`  ${JSON.stringify(count)}`);
    expect(wrong).toEqual([]);
    expect(count.acts).toBeGreaterThan(last);
  });
});
