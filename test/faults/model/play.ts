import type { SmallDisk } from '../../outbox/small-disk.ts';
import { Divergence } from './model.ts';
import type { Sequence, Step } from './steps.ts';
import { type Product, World } from './world.ts';

/** What a sequence did, for the proof that the faults happened. */
export type Played = World['counts'] & {
  readonly copies: number;
  readonly allowedCopies: number;
  readonly deadLetters: number;
  readonly retried: number;
  readonly purged: number;
  readonly expired: number;
};

/** Plays a sequence, compares outbox and destinations with the model after each step, and heals everything at the end. @throws Divergence */
export async function play({ disk, steps }: Sequence, product: Product, disks: Disks): Promise<Played> {
  const isTight = steps.some((step) => 'kilobytes' in step && step.kilobytes > 1);
  const world = new World(product, disks[disk], isTight);
  const { model, counts } = world;
  const done = { deadLetters: 0, retried: 0, purged: 0 };
  try {
    for (const step of steps) {
      await take(step, world, done);
      await world.pass();
      world.observe();
    }
    await heal(world);
    done.deadLetters += model.deadLetters;
    const expired = Object.values(world.outbox.counters()).reduce((sum, counter) => sum + counter.expired, 0);
    return { ...counts, ...done, copies: model.copies, allowedCopies: model.allowedCopies, expired };
  } finally {
    await world.close();
  }
}

export type Disks = Readonly<Record<Sequence['disk'], SmallDisk>>;

async function take(step: Step, world: World, done: { deadLetters: number; retried: number; purged: number }) {
  const { model, clock } = world;
  const sinkOf = ({ sink }: { readonly sink: number }): string => model.sinks[sink % model.sinks.length] ?? '';
  switch (step.do) {
    case 'append': {
      const isNotified = world.append(step);
      for (let turns = 0; !isNotified() && turns < 200; turns += 1) await world.turn(1);
      if (!isNotified()) throw new Divergence('the relays were not notified of an append');
      return;
    }
    case 'crash in append': {
      const before = { open: new Map(model.open), position: model.position };
      const isNotified = world.append(step);
      await world.turn(step.turns);
      const wasNotified = isNotified();
      await world.crash(false);
      if (!wasNotified && !world.isCommittedUpTo(model.position)) model.undo(before);
      return world.begin({ mayExpire: true });
    }
    case 'sink':
      return world.setMood(sinkOf(step), step.mood, step.answerMs);
    case 'accept refused':
      return world.acceptRefused();
    case 'retry':
    case 'purge dead':
    case 'purge pending': {
      const sink = sinkOf(step);
      const state = step.do === 'purge pending' ? 'pending' : 'dead';
      const wanted = model.in(sink, state).length;
      const changed =
        step.do === 'retry' ? world.outbox.retryDeadLetters({ sink }) : world.outbox.purge({ sink, state });
      const isHealthy = world.outbox.storage.fault === null;
      if (changed !== wanted && (isHealthy || changed !== 0))
        throw new Divergence(`${step.do} changed ${changed} deliveries of ${sink} instead of ${wanted}`);
      if (changed === 0) return;
      if (step.do === 'retry') {
        model.retry(sink);
        done.retried += changed;
      } else {
        model.purge(sink, state);
        done.purged += changed;
      }
      return world.wake();
    }
    case 'crash':
      await world.crash(step.taken);
      return world.begin();
    case 'restart':
      await world.restart(step.taken);
      return world.begin();
    case 'restart smaller':
      await world.restart(true);
      // The bound is a share of what is free at the start.
      if (step.isDiskFull) world.fill(2 * 2 ** 20);
      return world.begin({ maxMegabytes: step.maxMegabytes });
    case 'configure':
      // With a full disk the sinks of the file stay as they were, until there is room.
      world.empty();
      await world.restart(true);
      model.configure(step.sinks, world.storedPositions());
      return world.begin();
    case 'damage':
      // What replaces the file needs space of its own.
      world.empty();
      await world.crash(true, world.damage(step.damage, step.where));
      return world.begin();
    case 'fill disk':
      return world.fill(step.freeKilobytes * 1024);
    case 'empty disk':
      return world.empty();
    case 'maintain':
      world.outbox.maintain();
      return;
    case 'wait':
      await world.pass(step.ms);
      world.outbox.retry();
      return;
    case 'step clock':
      clock.stepWall(step.ms);
      model.now = clock.now().getTime();
  }
}

const proof = { count: 1, kilobytes: 0, open: false, isUrgent: false, refused: 'none' } as const;

/** Ends every fault: then every record arrives, and a fresh one of a new event. */
async function heal(world: World): Promise<void> {
  const { model } = world;
  world.empty();
  world.acceptRefused();
  for (const sink of model.sinks) world.setMood(sink, 'delivers', 0);
  for (let n = 0; n < 40 && (n < 2 || model.pending > 0); n += 1) {
    world.append({ ...proof, eventId: `PROOF-${n}` });
    await world.pass(600_000);
    world.outbox.retry();
    await world.pass(2_000);
    world.observe();
  }
  if (model.pending > 0)
    throw new Divergence(`${model.pending} deliveries wait for hours, although no fault is left`, model.pending);
}
