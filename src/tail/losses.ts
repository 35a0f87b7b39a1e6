import { gapsOf, type StreamState } from '../consumer/index.ts';
import { plural } from '../terminal/styled-text.ts';
import { plain, shortUtc } from './line.ts';

const dayMs = 24 * 3_600_000;

/**
 * What the records themselves show to be missing, for a person: gaps in the positions of streams, and VMs that lost their state within a day.
 * Null: nothing.
 */
export function lossesOf(streams: readonly StreamState[], now: Date): string | null {
  const gaps = gapsOf(streams, now);
  const count = gaps.reduce((sum, gap) => sum + gap.count, 0);
  const begunAnew = newStreams(streams).filter(({ firstAt }) => now.getTime() - firstAt.getTime() <= dayMs);
  const lost = new Set(begunAnew.map(({ vmId }) => vmId));
  const last = begunAnew.reduce<StreamState | null>((a, b) => (a !== null && a.firstAt >= b.firstAt ? a : b), null);
  const found = [
    ...(count === 0
      ? []
      : [
          `${plural(count, 'record')} of ${whose(gaps.map(({ stream }) => stream))} ${count === 1 ? 'is' : 'are'} not in the hub`,
        ]),
    ...(last === null
      ? []
      : [`${whose(begunAnew)} lost ${lost.size === 1 ? 'its' : 'their'} state at ${shortUtc(last.firstAt, now)}`]),
  ];
  return found.length === 0 ? null : found.join(', ');
}

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
