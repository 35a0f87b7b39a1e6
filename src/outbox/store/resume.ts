import type { LifecycleState } from '../../lifecycle/state.ts';
import type { OutboxOptions } from '../outbox.ts';
import { layoutOf } from './layout.ts';
import { readPositionMark } from './position-mark.ts';

/**
 * The state that a start goes on with. Records that the process before sent from memory, while the disk took no writes, have
 * positions that the file does not know. None is given to another record: readers who did not get one see the gap.
 */
export function resumed(
  stored: LifecycleState,
  { directory, log }: Pick<OutboxOptions, 'directory' | 'log'>,
): LifecycleState {
  const { handedOut } = readPositionMark(layoutOf(directory).mark, stored.streamId);
  if (handedOut <= stored.position) return stored;
  log.warn(
    { part: 'outbox', code: 'not-stored', from: stored.position + 1, to: handedOut },
    `Records up to position ${handedOut}, from ${stored.position + 1} on, were only in memory when the bridge ended, because the outbox could not be written. Those that were not sent by then are lost; what Azure still shows is recorded again.`,
  );
  return { ...stored, position: handedOut };
}
