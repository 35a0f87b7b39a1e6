import type { View } from './endpoint.ts';
import { contains, type Pause, type Span, type Vm, type World } from './world.ts';

/** A time in which the process runs without a break. */
export interface Run extends Span {
  readonly boot: number;
  /** When the machine was started: its monotonic clock begins there. */
  readonly bootedMs: number;
  /** What was in memory only is stored at its end. */
  readonly endsClean: boolean;
  /** It begins with an empty state. */
  readonly losesState: boolean;
}

/** One request and its answer, before it is parsed. */
export interface Poll {
  readonly sentMs: number;
  /** When the endpoint made the answer. */
  readonly servedMs: number;
  readonly arrivedMs: number;
  readonly failure: string | null;
  readonly hasDate: boolean;
  readonly run: Run;
  /** What the 100 ms tick would have measured since the poll before. */
  readonly tickMs: { readonly longest: number; readonly total: number };
  /** How far wall time ran ahead of monotonic time since the poll before. */
  readonly wallStepMs: number;
  /** Since the machine was started, on the guest's monotonic clock. */
  readonly monotonicMs: number;
}

const everyMs = 1000;
const roundTripMs = 3;
/** Where nothing happens for a while only every ninth poll is played: more often than what counts as a gap. */
const strideMs = 9000;
/** Around everything that happens each poll is played. */
const denseBeforeMs = 3000;
const denseAfterMs = 9000;
/** The machines have run for an hour when the world begins. */
const hourMs = 3_600_000;
/** The service starts so long after the machine. */
const startupMs = 1500;

/** When the process of this VM runs. */
export function runsOf(world: World, vm: Vm): readonly Run[] {
  const endMs = Math.min(world.lengthMs, vm.removedMs ?? Number.POSITIVE_INFINITY);
  const breaks = [
    ...vm.outages.map((outage) => ({ ...outage, toMs: outage.toMs + startupMs, isBoot: true, losesState: false })),
    ...vm.processOutages.map((outage) => ({ ...outage, isBoot: false })),
  ].sort((a, b) => a.fromMs - b.fromMs);
  const runs: Run[] = [];
  let [fromMs, boot, bootedMs, losesState] = [vm.joinsMs, 1, -hourMs, false];
  for (const { isBoot, isClean, ...pause } of breaks) {
    if (pause.fromMs >= endMs) break;
    if (pause.fromMs > fromMs)
      runs.push({ fromMs, toMs: pause.fromMs, boot, bootedMs, endsClean: isClean, losesState });
    if (pause.fromMs > fromMs) losesState = false;
    losesState ||= pause.losesState;
    if (isBoot) [boot, bootedMs] = [boot + 1, pause.toMs - startupMs];
    fromMs = Math.max(fromMs, pause.toMs);
  }
  if (fromMs < endMs) runs.push({ fromMs, toMs: endMs, boot, bootedMs, endsClean: false, losesState });
  return runs;
}

/** Every poll that is played, in order. */
export function* pollsOf(world: World, vm: Vm, views: readonly View[]): Generator<Poll> {
  const changes = changesOf(world, vm, views);
  for (const run of runsOf(world, vm)) {
    let sentMs = run.fromMs;
    let measuredMs = run.fromMs;
    for (;;) {
      const pause = vm.pauses.find((candidate) => contains(candidate, sentMs));
      if (pause) sentMs = pause.toMs + 1;
      const poll = pollAt(vm, sentMs, run);
      if (poll.arrivedMs >= run.toMs) break;
      const monotonicMs = poll.arrivedMs - run.bootedMs - stoodStillMs(vm, run.bootedMs, poll.arrivedMs);
      yield { ...poll, ...measured(vm, measuredMs, poll.arrivedMs), monotonicMs };
      measuredMs = poll.arrivedMs;
      sentMs = changes.next(Math.max(sentMs + everyMs, poll.arrivedMs));
    }
  }
}

function pollAt(vm: Vm, sentMs: number, run: Run): Omit<Poll, 'tickMs' | 'wallStepMs' | 'monotonicMs'> {
  const { failures, slow, withoutDate } = vm.endpoint;
  const hasDate = !withoutDate.some((span) => contains(span, sentMs));
  const caught = vm.pauses.find(
    ({ pollInFlight, fromMs }) => pollInFlight !== null && sentMs < fromMs && fromMs <= sentMs + everyMs,
  );
  if (caught) return { ...caughtPoll(caught, sentMs), hasDate, run };
  const failure = failures.find((span) => contains(span, sentMs))?.code ?? null;
  const slowness = slow.find((span) => contains(span, sentMs));
  const tookMs = failure === 'timeout' ? 10_000 : (slowness?.answerMs ?? roundTripMs);
  // An answer that arrives while the machine is paused is read when it resumes.
  let arrivedMs = sentMs + tookMs;
  for (const pause of vm.pauses) if (contains(pause, arrivedMs)) arrivedMs = pause.toMs + 2;
  const servedMs = Math.min(arrivedMs, Math.round(sentMs + tookMs * (slowness?.servedAfter ?? 0.5)));
  return { sentMs, servedMs, arrivedMs, failure, hasDate, run };
}

/** A poll that the pause catches under way. */
const caughtPoll = (pause: Pause, sentMs: number): Pick<Poll, 'sentMs' | 'servedMs' | 'arrivedMs' | 'failure'> => ({
  sentMs,
  servedMs: sentMs + 1,
  arrivedMs: pause.toMs + 5,
  failure: pause.pollInFlight === 'failed' ? 'connection-reset' : null,
});

/** How long the monotonic clock stopped in this time. */
function stoodStillMs({ pauses }: Vm, fromMs: number, toMs: number): number {
  let sumMs = 0;
  for (const pause of pauses) {
    if (pause.clocks === 'stop' && pause.fromMs >= fromMs && pause.toMs <= toMs) sumMs += pause.toMs - pause.fromMs;
  }
  return sumMs;
}

/** What the guest notices of time itself between two polls. */
function measured(vm: Vm, fromMs: number, toMs: number): Pick<Poll, 'tickMs' | 'wallStepMs'> {
  let longest = 0;
  let total = 0;
  for (const pause of vm.pauses) {
    if (pause.clocks === 'stop' || pause.toMs <= fromMs || pause.toMs > toMs) continue;
    const lengthMs = pause.toMs - Math.max(fromMs, pause.fromMs) - 50;
    longest = Math.max(longest, lengthMs);
    total += lengthMs;
  }
  let wallStepMs = 0;
  let errorMs = 0;
  for (const change of vm.clock) {
    if (change.isStep && fromMs < change.atMs && change.atMs <= toMs) wallStepMs += change.errorMs - errorMs;
    errorMs = change.errorMs;
  }
  return { tickMs: { longest, total }, wallStepMs };
}

/** Finds the next poll worth playing. */
function changesOf(world: World, vm: Vm, views: readonly View[]): { next(wantedMs: number): number } {
  const bounds = (spans: readonly Span[]): number[] => spans.flatMap(({ fromMs, toMs }) => [fromMs, toMs]);
  const { failures, slow, withoutDate } = vm.endpoint;
  const times = [
    ...views.map(({ atMs }) => atMs),
    ...bounds([...vm.outages, ...vm.processOutages, ...vm.pauses, ...failures, ...slow, ...withoutDate]),
    ...vm.movesMs,
    ...vm.clock.map(({ atMs }) => atMs),
    ...world.events.flatMap(({ listings }) => listings.flatMap(({ entry }) => entry?.notBeforeMs ?? [])),
    vm.joinsMs,
    vm.identityMs,
    vm.removedMs ?? 0,
  ].sort((a, b) => a - b);
  let index = 0;
  return {
    next(wantedMs) {
      while (index < times.length && (times[index] as number) + denseAfterMs <= wantedMs) index += 1;
      const changeMs = times[index] ?? Number.POSITIVE_INFINITY;
      if (wantedMs >= changeMs - denseBeforeMs) return wantedMs;
      // In whole polls: when a change falls between two of them must stay a matter of chance.
      const farMs = Math.min(strideMs - everyMs, changeMs - denseBeforeMs - wantedMs);
      return wantedMs + everyMs * Math.floor(farMs / everyMs);
    },
  };
}
