import { historiesOfFleets } from './histories-of-fleets.ts';
import { historiesOfSubscribers } from './histories-of-subscribers.ts';
import type { History } from './history.ts';

/**
 * What the bridges of small fleets send on one morning, and what a subscriber has to do, by `infra/record.md`. Both are written here, by
 * the times at which things happen: no program has computed the acts. `histories.test.ts` writes the JSON files from it.
 */
export const histories: Readonly<Record<string, () => History>> = { ...historiesOfSubscribers, ...historiesOfFleets };
