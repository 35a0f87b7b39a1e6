import { gapsOf, type StreamState, type VmId } from '../consumer/index.ts';
import { momentOf } from './time.ts';

const shownVms = 3;

/** What VMs wrote and was not read, and VMs that lost what they knew. */
export function notesOf(streams: readonly StreamState[], now: number): readonly string[] {
  const gaps = gapsOf(streams, new Date(now)).map(({ stream: { vm }, count }) => ({ vm, records: count }));
  const lost = [...Map.groupBy(streams, ({ vmId }) => vmId).values()].flatMap((ofVm) => {
    const before = ofVm.at(-2);
    return before === undefined ? [] : [{ vm: before.vm, after: before.lastAt.getTime() }];
  });
  return [
    ...listed(
      gaps,
      ({ vm, records }) =>
        `${records} ${records === 1 ? 'record' : 'records'} of ${vm.name} ${records === 1 ? 'is' : 'are'} not in the hub`,
    ),
    ...listed(lost, ({ vm, after }) => `${vm.name} lost its state after ${momentOf(after, now)}`),
  ];
}

/** The last ones first. */
function listed<One extends { readonly vm: VmId }>(all: readonly One[], sentenceOf: (one: One) => string): string[] {
  if (all.length === 0) return [];
  const more = all.length - shownVms;
  const first = [...all].reverse().slice(0, shownVms).map(sentenceOf).join('; ');
  return [more > 0 ? `${first}; and the same of ${more} more VMs.` : `${first}.`];
}

/** How many messages claimed to be records and were none. */
export const skippedNote = (count: number): string =>
  `${count} ${count === 1 ? 'message' : 'messages'} skipped, because they are not valid records: tail prints why.`;
