/**
 * The only file of the model that knows the product: it plays the polls of one VM through the product's rules, with the state
 * in memory as the outbox would keep it, and hands back what was recorded and when that truly was.
 */
import { readAzureTime } from '../../src/imds/azure-time.ts';
import { parseDocument } from '../../src/imds/document.ts';
import { foldEvents, foldObservers } from '../../src/lifecycle/fold.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import type { EventsDocument, HostEvidence, Observer, PollResult } from '../../src/lifecycle/scheduled-event.ts';
import { impactWithin } from '../../src/lifecycle/scope.ts';
import { emptyState, type LifecycleState } from '../../src/lifecycle/state.ts';
import { gapAfterMs, transition } from '../../src/lifecycle/transition.ts';
import { isWorthStoring } from '../../src/outbox/store/state-store.ts';
import { valid } from '../support/published-schema.ts';
import { type View, viewCursor, viewsOf } from './endpoint.ts';
import { type Poll, pollsOf, type Run } from './polls.ts';
import { clockErrorMs, epochMs, type Vm, type World } from './world.ts';

export type { LifecycleRecord };

/** A poll and its result. */
export interface Observation {
  /** True time at which the answer was there. */
  readonly atMs: number;
  /** True time at which the endpoint made it, as in its `Date`. */
  readonly servedMs: number;
  /** Index of the view that was served; null: no valid answer. */
  readonly view: number | null;
  readonly run: Run;
  /** Number of the stream: another one after the state was lost. */
  readonly stream: number;
  /** Longest pause that the machine measured since the poll before. */
  readonly pauseMs: number;
}

/** One record and when, in truth, it was decided. */
export interface Recorded {
  readonly record: LifecycleRecord;
  readonly atMs: number;
  /** When the endpoint made the answer that was decided on; null where it was stored until the observer was known. */
  readonly shownMs: number | null;
  readonly stream: number;
}

/** All that one VM lived through and said. */
export interface Account {
  readonly vm: Vm;
  readonly views: readonly View[];
  readonly observations: readonly Observation[];
  readonly records: readonly Recorded[];
  /** Bytes of the state at the end. */
  readonly stateBytes: number;
}

export interface FoldedEnd {
  readonly eventId: string;
  readonly vmId: string | null;
  readonly end: LifecycleRecord | null;
  /** No VM recorded an end; it counts as ended because a VM that lost its state does not observe it. */
  readonly isPresumed: boolean;
}

const hasPresumedEnd = (folded: object): boolean => 'presumedEnd' in folded && folded.presumedEnd !== null;

/** The product's answer to how each event ended, for the fleet. */
export const productFold = (records: readonly LifecycleRecord[]): readonly FoldedEnd[] =>
  foldEvents(records).map((folded) => ({
    eventId: folded.eventId,
    vmId: null,
    end: folded.end,
    isPresumed: hasPresumedEnd(folded),
  }));

/** The same for each VM by itself. */
export const productFoldByVm = (records: readonly LifecycleRecord[]): readonly FoldedEnd[] =>
  foldObservers(records).map((folded) => ({
    eventId: folded.eventId,
    vmId: folded.vmId,
    end: folded.end,
    isPresumed: hasPresumedEnd(folded),
  }));

export const vmIdOf = (name: string): string =>
  `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').padStart(12, '0')}`;

const observerOf = (vm: Vm): Observer => ({
  computer: vm.name,
  vmId: vmIdOf(vm.name),
  vmName: vm.name,
  resourceId: null,
  subscriptionId: null,
  resourceGroup: null,
  vmScaleSetName: null,
  vmScaleSetResourceId: null,
  placementGroupId: null,
  location: null,
  zone: null,
  physicalZone: null,
  faultDomain: null,
  updateDomain: null,
  vmSize: null,
  vmPriority: null,
  osType: null,
  imageReference: null,
  azureEnvironment: null,
  tags: {},
});

/** From so long before an impact on, the bridge measures pauses. */
const watchPausesMs = 5 * 60_000;

/** Plays every poll of this VM. */
export function observe(world: World, vm: Vm): Account {
  const views = viewsOf(world, vm);
  const parse = parserOf(views, vm);
  const viewAt = viewCursor(views);
  const observer = observerOf(vm);
  const approvals = approvalsOf(world, vm);
  const observations: Observation[] = [];
  const records: Recorded[] = [];
  let stream = 0;
  let run: Run | null = null;
  let stored = emptyState(`${vm.name}/0`);
  let state = stored;
  let served: number | null = null;
  let watchesPauses = false;
  for (const poll of pollsOf(world, vm, views)) {
    if (poll.run !== run) {
      if (run?.endsClean) stored = state;
      if (poll.run.losesState) stream += 1;
      stored = poll.run.losesState ? emptyState(`${vm.name}/${stream}`) : readBack(stored);
      state = stored;
      [run, served, watchesPauses] = [poll.run, null, false];
    }
    const view = poll.failure === null ? viewAt(poll.servedMs) : null;
    const seen = see(poll, view, { vm, served, parse });
    if (view !== null) served = vm.endpoint.hasEtag && !(views[view] as View).hasUnreadable ? view : null;
    const input = {
      host: hostOf(vm, poll, watchesPauses),
      observer: poll.arrivedMs >= vm.identityMs ? observer : null,
      scope: { witnessRate: world.witnessRate },
      gapAfterMs: gapAfterMs(1),
      bridgeVersion: '0.0.0',
      at: wallClock(vm, poll.arrivedMs),
      monotonicMs: poll.monotonicMs,
      enablingMs: 130_000,
    };
    const turn = transition(withApprovals(state, approvals, poll.arrivedMs), seen, input);
    if (turn.records.length > 0 || isWorthStoring(stored, turn.state)) stored = turn.state;
    for (const record of valid(turn.records)) {
      records.push({ record, atMs: poll.arrivedMs, shownMs: shownMs(vm, poll, record), stream });
    }
    state = turn.state;
    observations.push({
      atMs: poll.arrivedMs,
      servedMs: poll.servedMs,
      view,
      run: poll.run,
      stream,
      pauseMs: watchesPauses ? poll.tickMs.longest : 0,
    });
    watchesPauses = impactWithin(state, wallClock(vm, poll.arrivedMs), watchPausesMs);
  }
  return { vm, views, observations, records, stateBytes: JSON.stringify(plain(state)).length };
}

/** A document from before the observer was known is decided later, with the time of its own. */
const shownMs = (vm: Vm, poll: Poll, { observedAt }: LifecycleRecord): number | null =>
  Date.parse(observedAt) < wallClock(vm, poll.arrivedMs).getTime() ? null : poll.servedMs;

const wallClock = (vm: Vm, atMs: number): Date => new Date(epochMs + atMs + clockErrorMs(vm, atMs));

type Parse = (view: number) => EventsDocument;

/** Each document is parsed once, however often it is served. */
function parserOf(views: readonly View[], vm: Vm): Parse {
  const parsed = new Map<number, EventsDocument>();
  return (index) => {
    const known = parsed.get(index);
    if (known) return known;
    const answer = parseDocument((views[index] as View).body, vm.endpoint.apiVersion);
    if (answer.kind !== 'document') throw new Error(`the model made a document that cannot be read: ${answer.reason}`);
    parsed.set(index, answer.document);
    return answer.document;
  };
}

interface Sighting {
  readonly vm: Vm;
  /** View of the entity tag that the client holds. */
  readonly served: number | null;
  readonly parse: Parse;
}

function see(poll: Poll, view: number | null, { vm, served, parse }: Sighting): PollResult {
  if (view === null) {
    return { kind: 'unavailable', code: poll.failure ?? 'timeout', reason: 'The model says so.', retryAfterMs: null };
  }
  const time = readAzureTime(poll.hasDate ? new Date(epochMs + poll.servedMs).toUTCString() : null, {
    arrivedAt: wallClock(vm, poll.arrivedMs),
    roundTripMs: poll.arrivedMs - poll.sentMs,
  });
  if (view === served) return { kind: 'unchanged', ...time };
  return { kind: 'document', document: parse(view), imdsApiVersion: vm.endpoint.apiVersion, ...time };
}

function hostOf(vm: Vm, poll: Poll, watchesPauses: boolean): HostEvidence {
  const moves = vm.movesMs.filter((atMs) => atMs <= poll.arrivedMs).length;
  return {
    bootId: `${vm.name} boot ${poll.run.boot}`,
    physicalHost: vm.showsHost ? `HOST-${vm.name}-${moves}` : null,
    tick: watchesPauses ? { longestMs: poll.tickMs.longest, totalMs: poll.tickMs.total } : null,
    wallStepMs: poll.wallStepMs,
  };
}

interface Approval {
  readonly key: string;
  readonly atMs: number;
}

const approvalsOf = (world: World, vm: Vm): readonly Approval[] =>
  world.events.flatMap(({ id, approved }) =>
    approved?.vm === vm.name ? [{ key: id.toLowerCase(), atMs: approved.atMs }] : [],
  );

/** What the approver commits before it posts. */
function withApprovals(state: LifecycleState, approvals: readonly Approval[], atMs: number): LifecycleState {
  const due = approvals.filter((approval) => approval.atMs <= atMs && !state.approved.has(approval.key));
  if (due.length === 0) return state;
  return { ...state, approved: new Set([...state.approved, ...due.map(({ key }) => key)]) };
}

/** JSON cannot hold them: the outbox keeps these as rows. */
const plain = (value: unknown): unknown => {
  if (value instanceof Map) return { rows: [...value].map(([key, row]) => [key, plain(row)]) };
  if (value instanceof Set) return { keys: [...value] };
  if (Array.isArray(value)) return value.map(plain);
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
  }
  return value;
};

/** What a restart finds: only what survives being written down as JSON. */
function readBack(state: LifecycleState): LifecycleState {
  const { events, approved, ...rest } = state;
  return {
    ...(JSON.parse(JSON.stringify(rest)) as typeof rest),
    events: new Map(JSON.parse(JSON.stringify([...events]))),
    approved: new Set(approved),
  };
}
