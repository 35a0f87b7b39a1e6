import type { NumberRange, StreamState } from '../consumer/index.ts';
import { plural } from '../terminal/styled-text.ts';
import { plain, shortUtc } from './line.ts';

/** The records of one VM come by several partitions: the newest may be ahead of others. */
const underWayMs = 60_000;
const dayMs = 24 * 3_600_000;

/**
 * What the records themselves show to be missing, for a person: gaps in the positions of streams, and VMs that lost their state within a day.
 * Null: nothing.
 */
export function lossesOf(streams: readonly StreamState[], now: Date): string | null {
  const gaps = streams.filter(({ missing, lastAt }) => missing.length > 0 && isBefore(lastAt, now, underWayMs));
  const count = gaps.reduce((sum, { missing }) => sum + countOf(missing), 0);
  const begunAnew = newStreams(streams).filter(({ firstAt }) => !isBefore(firstAt, now, dayMs));
  const lost = new Set(begunAnew.map(({ vmId }) => vmId));
  const last = begunAnew.reduce<StreamState | null>((a, b) => (a !== null && a.firstAt >= b.firstAt ? a : b), null);
  const found = [
    ...(count === 0
      ? []
      : [`${plural(count, 'record')} of ${whose(gaps)} ${count === 1 ? 'is' : 'are'} not in the hub`]),
    ...(last === null
      ? []
      : [`${whose(begunAnew)} lost ${lost.size === 1 ? 'its' : 'their'} state at ${shortUtc(last.firstAt, now)}`]),
  ];
  return found.length === 0 ? null : found.join(', ');
}

const isBefore = (at: Date, now: Date, ms: number): boolean => now.getTime() - at.getTime() > ms;

const countOf = (missing: readonly NumberRange[]): number =>
  missing.reduce((sum, { from, to }) => sum + to - from + 1, 0);

/** All but the first of each VM. */
function newStreams(streams: readonly StreamState[]): readonly StreamState[] {
  const first = new Map<string, StreamState>();
  for (const stream of streams) {
    const known = first.get(stream.vmId);
    if (known === undefined || stream.firstAt < known.firstAt) first.set(stream.vmId, stream);
  }
  return streams.filter((stream) => first.get(stream.vmId) !== stream);
}

function whose(streams: readonly StreamState[]): string {
  const names = new Map(streams.map(({ vmId, vm }) => [vmId, plain(vm.name)]));
  const [only] = names.values();
  return names.size === 1 && only !== undefined ? only : `${names.size} VMs`;
}
