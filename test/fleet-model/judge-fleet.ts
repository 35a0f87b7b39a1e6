import { fold } from './fold.ts';
import { say, seconds } from './judge-steps.ts';
import type { Finding, Kind } from './kinds.ts';
import { isEnd, stretchesOf } from './observed-lifecycle.ts';
import { type Account, productFold, productFoldByVm, type Recorded, vmIdOf } from './observer.ts';
import { entryAt, leftForGoodMs, type PlatformEvent, statusIs, type World } from './world.ts';

/** By then every window and every unreadable entry has been waited out. */
const openForEverMs = 25 * 60_000;

/** What the records of all VMs say together. */
export function judgeFleet(world: World, accounts: readonly Account[]): Finding[] {
  const all = accounts.flatMap(({ records }) => records);
  const ends = productFold(all.map(({ record }) => record));
  const byVm = productFoldByVm(all.map(({ record }) => record));
  const presumed = judgePresumed(world, all);
  const ofEvents = world.events.flatMap((event) => {
    const key = event.id.toLowerCase();
    const ofEvent = all.filter(({ record }) => record.eventId.toLowerCase() === key).sort((a, b) => a.atMs - b.atMs);
    if (ofEvent.length === 0) return [];
    const end = ends.find(({ eventId }) => eventId === key)?.end ?? null;
    return [
      ...judgeFold(world, event, { ofEvent, end }),
      ...judgeEarly(event, ofEvent),
      ...accounts.flatMap((account) => {
        const own = byVm.find(({ eventId, vmId }) => eventId === key && vmId === vmIdOf(account.vm.name));
        return own && own.end === null && !own.isPresumed ? judgeOpen(event, account) : [];
      }),
    ];
  });
  return [...presumed, ...ofEvents];
}

/** A lost state ends no event: when a stream restarts, nothing that Azure lists may be counted as ended. */
function judgePresumed(world: World, all: readonly Recorded[]): Finding[] {
  const known = new Set(world.events.map(({ id }) => id.toLowerCase()));
  const isOther = ({ record, stream }: Recorded): boolean => stream > 0 && !known.has(record.eventId.toLowerCase());
  return all.filter(isOther).flatMap(({ record: { vmName }, atMs }) => {
    const sofar = productFold(all.filter((other) => other.atMs <= atMs).map(({ record }) => record));
    return world.events
      .filter((event) => entryAt(event, atMs) !== null)
      .filter(({ id }) =>
        sofar.some(({ eventId, end, isPresumed }) => eventId === id.toLowerCase() && !end && isPresumed),
      )
      .map(
        ({ id }): Finding => ({ kind: 'presumed-while-listed', event: id, vm: vmName, atMs, text: 'taken to be over' }),
      );
  });
}

function judgeFold(
  world: World,
  event: PlatformEvent,
  { ofEvent, end }: { readonly ofEvent: readonly Recorded[]; readonly end: Recorded['record'] | null },
): Finding[] {
  const findings: Finding[] = [];
  const add = (kind: Kind, text: string): void => {
    findings.push({ kind, event: event.id, vm: null, atMs: ofEvent.at(-1)?.atMs ?? 0, text });
  };
  const leftMs = leftForGoodMs(event);
  const trueEnds = ofEvent.filter((recorded) => isEnd(recorded) && leftMs !== null && recorded.atMs >= leftMs);
  if (end === null) {
    if (trueEnds.length > 0 && leftMs !== null && world.lengthMs - leftMs > openForEverMs) {
      add('fold-open-for-ever', `recorded as ${trueEnds.map(say).join(', ')}, and the fold says open`);
    }
  } else {
    const text = `${end.phase} [${end.evidence.join(' ')}]`;
    if (leftMs === null) add('fold-ended-while-listed', text);
    else if (event.outcome === 'completed' && end.phase === 'Canceled') {
      add(trueEnds.length > 0 ? 'fold-canceled-of-completed' : 'fold-unseen-return', text);
    } else if (event.outcome === 'canceled' && end.phase === 'Completed') {
      const isWitnessed = trueEnds.some(
        ({ record }) => record.phase === 'Canceled' && record.evidence.includes('left-before-not-before'),
      );
      add(isWitnessed ? 'fold-completed-over-canceled' : 'fold-completed-of-canceled', text);
    }
  }
  const own = fold(ofEvent.map(({ record }) => record));
  if ((own?.phase ?? null) !== (end?.phase ?? null))
    add('fold-differs', `${end?.phase ?? 'open'}, not ${own?.phase ?? 'open'}`);
  return findings;
}

/** The fleet is reported as recovering while the impact of a VM is still to come. */
function judgeEarly(event: PlatformEvent, ofEvent: readonly Recorded[]): Finding[] {
  for (const recorded of ofEvent) {
    const { atMs } = recorded;
    const isStated = recorded.record.evidence.includes('said-by-azure');
    if (!isEnd(recorded) || isStated || entryAt(event, atMs) === null) continue;
    const toCome = event.impacts.find(({ toMs }) => toMs > atMs + 1000);
    if (!toCome) continue;
    const sofar = ofEvent.filter((other) => other.atMs <= atMs).map(({ record }) => record);
    if ((productFold(sofar)[0]?.end ?? null) === null) continue;
    const text = `${say(recorded)} of ${recorded.record.vmName}; the ${toCome.kind} of ${toCome.vm} comes at ${seconds(toCome.fromMs)}`;
    return [{ kind: 'fold-recovered-early', event: event.id, vm: recorded.record.vmName, atMs, text }];
  }
  return [];
}

/** Still open in the view of a VM that has long seen it gone. */
function judgeOpen(event: PlatformEvent, account: Account): Finding[] {
  const stretches = stretchesOf(account);
  const last = stretches.at(-1);
  const lastListed = stretches.findLast(({ view }) => view.entries.has(event.id));
  const first = stretches.find(({ fromMs }) => fromMs > (lastListed?.toMs ?? -1));
  const leftMs = leftForGoodMs(event);
  if (!last || !first || leftMs === null || last.toMs - Math.max(first.fromMs, leftMs) < openForEverMs) return [];
  const text = `absent since ${seconds(first.fromMs)}, still open at ${seconds(last.toMs)}`;
  return [{ kind: 'open-for-ever', event: event.id, vm: account.vm.name, atMs: last.toMs, text }];
}

/** The same step has one id for all, another step has another. */
export function judgeIds(world: World, accounts: readonly Account[]): Finding[] {
  const findings: Finding[] = [];
  for (const event of world.events) {
    const steps = new Map<string, Recorded[]>();
    const ids = new Map<string, Map<string, Recorded>>();
    for (const { records } of accounts) {
      for (const recorded of records) {
        const { record } = recorded;
        const { shownMs } = recorded;
        if (record.eventId.toLowerCase() !== event.id.toLowerCase() || record.phase === 'Approved' || shownMs === null)
          continue;
        const step = stepOf(event, recorded, shownMs);
        steps.set(step, [...(steps.get(step) ?? []), recorded]);
        const known = ids.get(record.transitionId) ?? new Map<string, Recorded>();
        ids.set(record.transitionId, known.set(step, recorded));
      }
    }
    const add = (kind: Kind, { record, atMs }: Recorded, text: string): void => {
      findings.push({ kind, event: event.id, vm: record.vmName, atMs, text });
    };
    for (const [step, same] of steps) {
      const [first, ...rest] = same;
      const other = rest.find(
        ({ record }) => record.transitionId !== first?.record.transitionId && record.vmName !== first?.record.vmName,
      );
      if (!first || !other) continue;
      const isEqual =
        other.record.repeat === first.record.repeat && ![first, other].some((one) => isMerged(event, one, accounts));
      const kind = isEqual ? 'ids-differ' : 'ids-differ-unseen';
      add(kind, other, `${step}: ${first.record.vmName} and ${other.record.vmName} give it two ids`);
    }
    for (const known of ids.values()) {
      const [one, two] = [...known];
      if (!one || !two || isEnd(one[1])) continue;
      const isOneVm = one[1].record.vmName === two[1].record.vmName && one[1].stream === two[1].stream;
      add(isOneVm ? 'ids-collide' : 'ids-collide-unseen', two[1], `${one[0]} and ${two[0]} have one id`);
    }
  }
  return findings;
}

/** The observation showed more than one change: the one before it had ended by then. */
function isMerged(event: PlatformEvent, { record, shownMs }: Recorded, accounts: readonly Account[]): boolean {
  const [before, last] = event.listings.filter(({ atMs }) => shownMs !== null && atMs <= shownMs).slice(-2);
  const observations = accounts.find(({ vm }) => vm.name === record.vmName)?.observations ?? [];
  if (!before || !last) return false;
  return !observations.some(({ view, atMs }) => view !== null && before.atMs < atMs && atMs <= last.atMs);
}

/** Names the step by what Azure did, regardless of who observed it. */
function stepOf(event: PlatformEvent, recorded: Recorded, shownMs: number): string {
  const { record } = recorded;
  if (isEnd(recorded)) return 'end';
  const sofar = event.listings.filter((listing) => listing.atMs <= shownMs);
  if (record.phase === 'Scheduled') return 'scheduled';
  if (record.phase === 'Started') {
    const starts = sofar.filter(({ entry }, index) => {
      const before = sofar[index - 1]?.entry;
      return entry !== null && statusIs(entry, 'Started') && !(before && statusIs(before, 'Started'));
    });
    return `start ${starts.length}`;
  }
  return `change ${sofar.length}`;
}
