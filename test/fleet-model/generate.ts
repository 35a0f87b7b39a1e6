import { type DraftEvent, type DraftVm, finishVm, isFree, quietVm } from './draft.ts';
import { generateEvent } from './generate-event.ts';
import { createRandom, type Random } from './random.ts';
import type { PlatformEvent, World } from './world.ts';

const second = 1000;
const minute = 60_000;

/** So long after the last change everything is decided: reset windows and unreadable entries included. */
const tailMs = 30 * minute;

/** The world of this seed: the same one each time. */
export function generateWorld(seed: number): World {
  const random = createRandom(seed);
  const isAlone = random.chance(0.15);
  const vms = Array.from({ length: isAlone ? random.int(1, 2) : random.int(2, 4) }, (_, index) =>
    quietVm(`vm-${'abcd'[index]}`),
  );
  for (const vm of vms) equip(vm, random);
  const isRough = random.chance(0.75);
  const drafts: DraftEvent[] = [];
  let fromMs = random.int(30, 200) * second;
  const count = random.pick([1, 1, 2, 2, 3, 4]);
  for (let number = 1; number <= count; number += 1) {
    const event = generateEvent(`EVENT-${seed}-${number}`, fromMs, { vms, random });
    drafts.push(event);
    const lastMs = event.listings.at(-1)?.atMs ?? fromMs;
    // A third of them share their time with the one before.
    fromMs = random.chance(0.35)
      ? fromMs + random.int(5, 300) * second
      : Math.min(lastMs, fromMs + 40 * minute) + random.int(5, 400) * second;
  }
  const events = drafts.map((draft) => draft.finish());
  const lastMs = Math.max(...events.flatMap(({ listings }) => listings.map(({ atMs }) => atMs)));
  if (isRough) for (const vm of vms) disturb(vm, { random, lastMs, events });
  else for (const vm of vms) resetAfterMoves(vm, random);
  const backMs = Math.max(0, ...vms.flatMap((vm) => [...vm.outages, ...vm.processOutages].map(({ toMs }) => toMs)));
  return {
    title: `seed ${seed}`,
    lengthMs: Math.max(lastMs, backMs) + tailMs,
    view: isAlone ? 'alone' : 'group',
    witnessRate: random.chance(0.5) ? 1 : 0,
    vms: vms.map(finishVm),
    events,
  };
}

/** What a VM is from the beginning. */
function equip(vm: DraftVm, random: Random): void {
  // Most had been looking for ten minutes when the world begins.
  vm.joinsMs = random.int(0, 999) - (random.chance(0.8) ? 10 * minute : 0);
  vm.showsHost = random.chance(0.6);
  vm.driftPpm = random.chance(0.3) ? random.int(-100, 100) : 0;
  if (random.chance(0.35)) {
    vm.clock.push({
      atMs: 0,
      errorMs: random.pick([-3_600_000, -300_000, -4000, 700, 5000, 300_000, 3_600_000]),
      isStep: false,
    });
  }
  vm.endpoint.hasEtag = random.chance(0.7);
  vm.endpoint.firstIncarnation = random.pick([2, 5, 9, 16, 32]);
  vm.endpoint.stride = random.chance(0.08) ? random.int(2, 14) : 1;
  if (random.chance(0.2)) {
    vm.endpoint.apiVersion = random.pick(['2017-03-01', '2017-08-01', '2017-11-01', '2019-01-01', '2019-08-01']);
  }
  if (random.chance(0.05)) vm.identityMs = random.int(20, 400) * second;
}

interface Disturbances {
  readonly random: Random;
  readonly lastMs: number;
  readonly events: readonly PlatformEvent[];
}

/** What goes wrong beside the events. */
function disturb(vm: DraftVm, given: Disturbances): void {
  const { random, lastMs, events } = given;
  const sometime = (): number => random.int(0, Math.floor(lastMs / second)) * second + random.int(0, 999);
  const nearChange = (): number => {
    const { atMs } = random.pick(random.pick(events).listings);
    return Math.max(0, atMs + random.int(-6000, 6000));
  };
  const when = (): number => (random.chance(0.6) ? nearChange() : sometime());
  if (random.chance(0.15)) vm.joinsMs = sometime();
  if (random.chance(0.12)) restartGuest(vm, when(), random);
  if (random.chance(0.2)) stall(vm, when(), random);
  if (random.chance(0.3)) restartProcess(vm, when(), random);
  if (random.chance(0.02))
    vm.processOutages.push({ fromMs: sometime(), toMs: lastMs + 25 * 60 * minute, isClean: true, losesState: false });
  resetAfterMoves(vm, random);
  enableAnew(vm, random);
  const { endpoint } = vm;
  if (random.chance(0.12)) mistake(vm, given);
  if (random.chance(0.08)) {
    const fromMs = when();
    // The entry that cannot be read may be that of an event: it is missing until it can be read.
    const isEvent = random.chance(0.5);
    const eventId = isEvent ? random.pick(events).id : '';
    const hiddenMs = isEvent ? random.int(2, 60) * second : 0;
    const otherToMs = random.chance(0.3) ? lastMs + tailMs : fromMs + random.int(60, 200) * second;
    const toMs = isEvent ? fromMs + hiddenMs : otherToMs;
    if (isEvent) endpoint.mistakes.push({ eventId, fromMs, toMs });
    endpoint.unreadable.push({ fromMs, toMs });
  }
  for (let count = random.int(0, 3); count > 0; count -= 1) {
    const fromMs = when();
    const toMs = fromMs + random.pick([1, 1, 2, 4, 8, 15, 90]) * second;
    endpoint.failures.push({
      fromMs,
      toMs,
      code: random.pick(['http-500', 'http-429', 'http-410', 'empty-body', 'timeout']),
    });
  }
  for (let count = random.int(0, 2); count > 0; count -= 1) {
    const fromMs = when();
    endpoint.slow.push({
      fromMs,
      toMs: fromMs + random.int(1, 20) * second,
      answerMs: random.int(600, 8000),
      servedAfter: random.pick([0, 0.5, 1]),
    });
  }
  if (random.chance(0.15)) {
    const fromMs = when();
    endpoint.withoutDate.push({ fromMs, toMs: fromMs + random.pick([1, 30, 3600]) * second });
  }
  if (random.chance(0.15)) {
    const errorMs = random.pick([0, 0, 1500, -3_600_000, 3_600_000, 120_000]);
    vm.clock.push({ atMs: when(), errorMs, isStep: true });
  }
}

/** The guest restarts for its own reasons. */
function restartGuest(vm: DraftVm, fromMs: number, random: Random): void {
  const lengthMs = random.pick([3, 5, 20, 60, 120]) * second;
  if (!isFree(vm, fromMs, fromMs + lengthMs)) return;
  vm.outages.push({ fromMs, toMs: fromMs + lengthMs, cause: null, isClean: random.chance(0.8) });
}

/** The CPU stalls, as on an overcommitted host. */
function stall(vm: DraftVm, fromMs: number, random: Random): void {
  const lengthMs = random.int(1100, 4000);
  if (!isFree(vm, fromMs, fromMs + lengthMs)) return;
  vm.pauses.push({ fromMs, toMs: fromMs + lengthMs, cause: null, pollInFlight: null, clocks: 'run' });
}

function restartProcess(vm: DraftVm, fromMs: number, random: Random): void {
  const toMs = fromMs + random.pick([1, 1, 2, 3, 6, 40, 400]) * second;
  vm.processOutages.push({ fromMs, toMs, isClean: random.chance(0.5), losesState: random.chance(0.12) });
}

/** An endpoint on another host restarts its counter, and may know nothing for up to a minute. */
function resetAfterMoves(vm: DraftVm, random: Random): void {
  for (const atMs of vm.movesMs) {
    if (!random.chance(0.6)) continue;
    vm.endpoint.resets.push({ atMs, emptyMs: random.pick([0, 3, 10, 30, 60]) * second, incarnation: random.int(0, 1) });
  }
}

/** The first question ever, and the first after a day without one, turn the feature on; the list comes later. */
function enableAnew(vm: DraftVm, random: Random): void {
  const begin = (atMs: number): void => {
    vm.endpoint.resets.push({
      atMs,
      emptyMs: random.pick([5, 20, 40, 60, 120]) * second,
      incarnation: random.int(0, 1),
    });
  };
  if (random.chance(0.15)) begin(vm.joinsMs);
  for (const { fromMs, toMs } of vm.processOutages) if (toMs - fromMs > 24 * 60 * minute) begin(toMs);
}

/** For one or two polls the document omits an event that Azure still has. */
function mistake(vm: DraftVm, { random, events }: Disturbances): void {
  const event = random.pick(events);
  const first = event.listings[0]?.atMs ?? 0;
  const last = event.listings.at(-1)?.atMs ?? first;
  if (last - first < 10_000) return;
  const fromMs = random.int(first + 2000, last - 3000);
  vm.endpoint.mistakes.push({ eventId: event.id, fromMs, toMs: fromMs + random.int(300, 1400) });
}
