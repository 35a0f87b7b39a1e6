import {
  type AzureEvent,
  appearedAt,
  type Fleet,
  type Impact,
  impactOn,
  type Ms,
  type Span,
  second,
  type Vm,
  without,
} from './truth.ts';

/** Which bridge observed what, and when: part of what truly happened. A bridge polls once a second while it and its VM run. */

/** One thing that a bridge saw of an event. */
export interface Sighting {
  readonly phase: 'Scheduled' | 'Started' | 'Gone' | 'Approved';
  readonly at: Ms;
  /** No poll for ten seconds or more before. */
  readonly isAfterGap: boolean;
  /** 0; 1 after its state was lost. */
  readonly stream: 0 | 1;
}

/** When a VM's bridge polls. */
export interface Watch {
  readonly spans: readonly Span[];
  next(at: Ms): Ms;
  /** -Infinity: it had not polled yet. */
  previous(at: Ms): Ms;
}

/** When the VM is down, by the events that affect it. */
export const outagesOf = (fleet: Fleet, vm: Vm): readonly Impact[] =>
  fleet.events
    .filter(({ group }) => group === vm.group)
    .flatMap((event) => impactOn(event, vm) ?? [])
    .filter(({ kind }) => kind !== 'pause');

/** When the VM runs, whether its bridge does or not. */
export const runningOf = (fleet: Fleet, vm: Vm): readonly Span[] => without([vm.lifetime], outagesOf(fleet, vm));

const watches = new WeakMap<Fleet, Map<Vm, Watch>>();

/** Asked for with each record and heartbeat. */
export function watchOf(fleet: Fleet, vm: Vm): Watch {
  const ofFleet = watches.get(fleet) ?? new Map<Vm, Watch>();
  watches.set(fleet, ofFleet);
  const watch = ofFleet.get(vm) ?? newWatch(fleet, vm);
  ofFleet.set(vm, watch);
  return watch;
}

function newWatch(fleet: Fleet, vm: Vm): Watch {
  const spans = without(runningOf(fleet, vm), vm.unwatched);
  const phase = (vm.name.length * 137 + vm.lifetime.from) % second;
  const onward = (at: Ms): Ms => Math.ceil((at - phase) / second) * second + phase;
  return {
    spans,
    next(at) {
      for (const { from, to } of spans) {
        const observation = onward(Math.max(at, from));
        if (observation < to) return observation;
      }
      return Infinity;
    },
    previous(at) {
      for (const { from, to } of spans.toReversed()) {
        const observation = onward(Math.min(at, to)) - second;
        if (observation >= from && observation < at) return observation;
      }
      return -Infinity;
    },
  };
}

const mostBetweenPolls: Ms = 10 * second;

/** What the bridge of a VM saw of an event, in order. Nothing where it is shown none of it, or keeps it to itself. */
export function sightingsOf(event: AzureEvent, vm: Vm, watch: Watch, now: Ms): readonly Sighting[] {
  if (event.group !== vm.group || !(vm.isWitness || event.vms.includes(vm.name))) return [];
  const streams: readonly Span[] = [
    { from: -Infinity, to: vm.stateLostAt ?? Infinity },
    ...(vm.stateLostAt === null ? [] : [{ from: vm.stateLostAt, to: Infinity }]),
  ];
  const seen = streams.flatMap((stream, index) => seenIn(stream, index === 0 ? 0 : 1, event, watch));
  const { approval } = event;
  const approved: Sighting[] =
    approval?.by === vm.name ? [{ phase: 'Approved', at: approval.at + 300, isAfterGap: false, stream: 0 }] : [];
  return [...seen, ...approved].filter(({ at }) => at <= now).toSorted((a, b) => a.at - b.at);
}

function seenIn(stream: Span, number: 0 | 1, event: AzureEvent, watch: Watch): Sighting[] {
  const { startedAt, removedAt } = event;
  const sighting = (phase: Sighting['phase'], at: Ms): Sighting => {
    const before = watch.previous(at);
    return { phase, at, isAfterGap: before < stream.from || at - before > mostBetweenPolls, stream: number };
  };
  const first = watch.next(Math.max(appearedAt(event), stream.from));
  if (first >= Math.min(stream.to, removedAt)) return [];
  const isStarted = startedAt !== null && first >= startedAt;
  const started = startedAt === null || isStarted ? Infinity : watch.next(startedAt);
  const gone = watch.next(removedAt);
  return [
    sighting(isStarted ? 'Started' : 'Scheduled', first),
    ...(started < Math.min(stream.to, removedAt) ? [sighting('Started', started)] : []),
    ...(gone < stream.to ? [sighting('Gone', gone)] : []),
  ];
}

/** What a VM measured on itself of an event, as far as it can have by a time: null where it cannot. */
export function measured(event: AzureEvent, vm: Vm, watch: Watch, at: Ms): Measured {
  const impact = impactOn(event, vm);
  if (!event.vms.includes(vm.name)) return { pauseMs: null, outageMs: null };
  if (impact === undefined || impact.to > at) return { pauseMs: 0, outageMs: null };
  const { kind, from, to } = impact;
  if (kind !== 'pause') return { pauseMs: 0, outageMs: watch.next(to) - watch.previous(from) };
  return { pauseMs: watch.spans.some((span) => span.from < from && span.to > to) ? to - from : 0, outageMs: null };
}

export interface Measured {
  readonly pauseMs: Ms | null;
  readonly outageMs: Ms | null;
}
