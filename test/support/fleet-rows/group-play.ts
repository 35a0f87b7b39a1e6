import { createHash } from 'node:crypto';
import { createGroupDocument, type GroupDocument } from '../../../src/azure-simulator/imds/document.ts';
import { instanceMetadata } from '../../../src/azure-simulator/imds/instance.ts';
import { openView } from '../../../src/azure-simulator/imds/view.ts';
import { createVm, type VmDefinition } from '../../../src/azure-simulator/imds/vm.ts';
import type { Scenario } from '../../../src/azure-simulator/scenarios/index.ts';
import type { Announce, Step } from '../../../src/azure-simulator/scenarios/scenario.ts';
import { parseDocument } from '../../../src/imds/document.ts';
import { observerFrom, parseInstance, parseTags } from '../../../src/imds/instance.ts';
import type { LifecycleRecord } from '../../../src/lifecycle/record.ts';
import type { Observer, PollResult } from '../../../src/lifecycle/scheduled-event.ts';
import { emptyState, type LifecycleState } from '../../../src/lifecycle/state.ts';
import { gapAfterMs, transition } from '../../../src/lifecycle/transition.ts';

/** A VM of a group, with what a fleet differs in. Times are seconds after the beginning of the play. */
export interface GroupVm extends VmDefinition {
  /** When its bridge polls for the first time. Default 0. */
  readonly joinsAt?: number;
  /** Its bridge does not poll from then on. Default never. */
  readonly leavesAt?: number;
  /** Its bridge is paused from the first of these seconds until before the second: it misses polls. */
  readonly silentFrom?: number;
  readonly silentTo?: number;
  /** Its state is lost then: it continues with another stream. */
  readonly losesStateAt?: number;
  readonly bridgeVersion?: string;
}

/** A scenario that begins at `at` seconds, with the VMs named in `on` as its numbers 0, 1, 2 …; default: all of the group. */
export interface Play {
  readonly scenario: Scenario;
  readonly at: number;
  readonly on?: readonly string[];
}

/** VMs that share one document of events: those of a placement group or an availability set. */
export interface Group {
  readonly name: string;
  readonly vms: readonly GroupVm[];
  readonly plays: readonly Play[];
  readonly witnessRate?: number;
  /** Physical hosts: a Freeze or Redeploy that takes effect moves the VM to the next one. Default: not reported. */
  readonly hosts?: readonly string[];
}

/** What a VM reported, in order. */
export interface VmHistory {
  readonly vm: GroupVm;
  readonly observer: Observer;
  readonly records: readonly LifecycleRecord[];
  /** Every stream it wrote to, with the second of its beginning. */
  readonly streams: readonly { readonly streamId: string; readonly from: number }[];
  /** As it stands at the end. */
  readonly state: LifecycleState;
}

const guidOf = (text: string): string => {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** A number from 0 up to `bound` that is the same in every run. */
export const drawn = (text: string, bound: number): number =>
  createHash('sha256').update(text).digest().readUInt32BE(0) % bound;

export const observerOf = (definition: VmDefinition): Observer => {
  const metadata = instanceMetadata(createVm(definition), '2023-11-15');
  const instance = { ...parseInstance(metadata), computer: definition.name.replaceAll('_', '-') };
  const tags = parseTags(metadata, ['owner', 'environment', 'ring']);
  const observer = observerFrom(instance, {}, tags);
  if (observer === null) throw new Error(`the simulator does not report who ${definition.name} is`);
  return observer;
};

/**
 * Plays scenarios on a group in simulated time: no clock, no network, the same in every run. Each VM polls one second before
 * each step and right after it, when it joins and when it is back from a restart; a document that does not change reports nothing, so
 * the polls between are left out. Documents are the simulator's, decisions are the bridge's own.
 *
 * @param from second 0 of the play.
 * @param seconds what is after that is not played: an event may be left open.
 */
export function playGroup(group: Group, from: Date, seconds: number): readonly VmHistory[] {
  const document = createGroupDocument();
  const acts = group.plays.flatMap((play, index) => actsOf(play, document, group, `${group.name} ${index}`, from));
  const watchers = group.vms.map((vm) => openWatcher(vm, group, document, from));
  const bySecond = Map.groupBy(acts, ({ at }) => at);
  const observations = new Set(acts.flatMap(({ at }) => [at - 1, at]));
  for (const { joinsAt = 0, silentFrom = 0, silentTo, losesStateAt } of group.vms) {
    for (const second of [joinsAt, silentFrom - 1, silentTo, losesStateAt])
      if (second !== undefined) observations.add(second);
  }
  for (const { backAt } of acts) if (backAt !== undefined) observations.add(backAt);
  // An end needs more than one observation.
  for (const second of [...new Set([...observations].flatMap((one) => [one, one + 2]))].sort((a, b) => a - b)) {
    if (second < 0 || second > seconds) continue;
    for (const { run } of bySecond.get(second) ?? []) run(watchers);
    for (const watcher of watchers) watcher.observation(second);
  }
  return watchers.map(({ history }) => history());
}

interface Act {
  readonly at: number;
  /** When a VM that it restarts is back. */
  readonly backAt?: number;
  run(watchers: readonly Watcher[]): void;
}

/** The steps of a scenario as things that happen at a second. */
function actsOf({ scenario, at, on }: Play, document: GroupDocument, group: Group, seed: string, from: Date): Act[] {
  const names = on ?? group.vms.map(({ name }) => name);
  const idOf = (label: string): string => guidOf(`${seed} ${label}`).toUpperCase();
  const named = (numbers: readonly number[]): string[] => numbers.map((number) => names[number] ?? '');
  let now = at;
  const later = (noticeSeconds: number): Date => new Date(from.getTime() + 1000 * (now + noticeSeconds));
  const announce = ({ event, noticeSeconds, do: _, on: numbers = [0], ...instance }: Announce) => {
    const when = noticeSeconds === null ? ({ status: 'Started' } as const) : { notBefore: later(noticeSeconds) };
    return () => document.schedule({ ...instance, ...when, eventId: idOf(event), resources: named(numbers) });
  };
  const runOf = ({ afterSeconds: _, ...step }: Step): Act['run'] => {
    if (step.do === 'schedule') return announce(step);
    if (step.do === 'start' || step.do === 'approve') return () => document.start(idOf(step.event));
    if (step.do === 'remove') return () => document.remove(idOf(step.event));
    if (step.do === 'change') {
      const { event, noticeSeconds, do: __, on: numbers, ...instance } = step;
      const when = noticeSeconds === undefined ? {} : { notBefore: later(noticeSeconds) };
      const whom = numbers === undefined ? {} : { resources: named(numbers) };
      return () => document.update(idOf(event), { ...instance, ...when, ...whom });
    }
    if (step.do === 'impact') {
      const { event, kind, on: numbers = [0], seconds } = step;
      const vms = named(numbers);
      const second = now;
      return (watchers) => {
        const listed = document.find(idOf(event));
        if (listed?.EventStatus !== 'Started') return;
        const moves = listed.EventType === 'Freeze' || listed.EventType === 'Redeploy';
        for (const watcher of watchers) {
          if (vms.includes(watcher.name)) watcher.applyImpact({ kind, second, seconds, moves });
        }
      };
    }
    return () => {};
  };
  return scenario.steps.map((step) => {
    now += step.afterSeconds;
    const isRestart = step.do === 'impact' && step.kind === 'restart';
    return { at: now, run: runOf(step), ...(isRestart ? { backAt: now + step.seconds } : {}) };
  });
}

interface AppliedImpact {
  readonly kind: 'freeze' | 'restart';
  readonly second: number;
  readonly seconds: number;
  readonly moves: boolean;
}

interface Watcher {
  readonly name: string;
  observation(second: number): void;
  applyImpact(impact: AppliedImpact): void;
  history(): VmHistory;
}

function openWatcher(vm: GroupVm, group: Group, document: GroupDocument, from: Date): Watcher {
  const { name, joinsAt = 0, leavesAt = Infinity, silentFrom = Infinity, silentTo = Infinity, losesStateAt } = vm;
  const { witnessRate = 0, hosts = [] } = group;
  const observer = observerOf(vm);
  /** Polls of no two VMs fall together. */
  const phaseMs = drawn(`phase of ${name}`, 900);
  const view = openView(document, createVm(vm));
  const records: LifecycleRecord[] = [];
  const streams = [{ streamId: guidOf(`stream of ${group.name} ${name}`), from: joinsAt }];
  // Its first stream is older than the play, and no snapshot is due.
  let state: LifecycleState = { ...emptyState(streams[0]?.streamId ?? ''), snapshotDue: false };
  let host = drawn(`host of ${name}`, Math.max(1, hosts.length));
  let boots = 1;
  let downUntil = joinsAt;
  let pausedMs = 0;
  const isSilent = (second: number): boolean =>
    second < downUntil || second >= leavesAt || (second >= silentFrom && second < silentTo);
  return {
    name,
    applyImpact({ kind, second, seconds, moves }) {
      if (moves && hosts.length > 0) host = (host + 1) % hosts.length;
      if (kind === 'freeze') pausedMs = 1000 * seconds;
      else {
        boots += 1;
        downUntil = Math.max(downUntil, second + seconds);
      }
    },
    observation(second) {
      if (isSilent(second)) return;
      if (losesStateAt !== undefined && second >= losesStateAt && streams.length === 1) {
        streams.push({ streamId: guidOf(`second stream of ${group.name} ${name}`), from: losesStateAt });
        state = emptyState(streams[1]?.streamId ?? '');
      }
      const at = new Date(from.getTime() + 1000 * second + phaseMs);
      const tick = { longestMs: pausedMs, totalMs: pausedMs };
      const turn = transition(state, seenOf(JSON.stringify(view.document), at, vm.clockOffsetSeconds ?? 0), {
        host: { bootId: guidOf(`boot ${boots} of ${name}`), physicalHost: hosts[host] ?? null, tick, wallStepMs: 0 },
        observer,
        scope: { witnessRate },
        gapAfterMs: gapAfterMs(1),
        enablingMs: 0,
        bridgeVersion: vm.bridgeVersion ?? '1.0.0',
        at,
        monotonicMs: at.getTime(),
      });
      pausedMs = 0;
      state = turn.state;
      records.push(...turn.records);
    },
    history: () => ({ vm, observer, records, streams, state }),
  };
}

let readLast: { readonly body: string; readonly parsed: ReturnType<typeof parseDocument> } | undefined;

function seenOf(body: string, at: Date, clockOffsetSeconds: number): PollResult {
  // Most VMs of a group see the same document at each of many observations.
  if (readLast?.body !== body) readLast = { body, parsed: parseDocument(body, '2020-07-01') };
  const { parsed } = readLast;
  if (parsed.kind !== 'document') throw new Error(`the simulator shows no document: ${parsed.reason}`);
  const azureTime = new Date(1000 * Math.floor(at.getTime() / 1000 + clockOffsetSeconds));
  return { kind: 'document', document: parsed.document, imdsApiVersion: '2020-07-01', azureTime, clockOffsetSeconds };
}
