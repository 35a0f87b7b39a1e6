import { createHub, type Hub } from './hub.ts';

/** An event hub as a namespace is given it. */
export interface HubDefinition {
  /** Default `vm-lifecycle`. */
  readonly name?: string;
  /** Default 4. */
  readonly partitions?: number;
  /** Beside `$Default`. Default `tail`. */
  readonly consumerGroups?: readonly string[];
}

/** The event hubs of a namespace. */
export interface Hubs {
  readonly all: readonly Hub[];
  /** Case does not matter. */
  find(name: string): Hub | undefined;
  /** The hub of that name, by default the first. @throws a sentence without one. */
  get(name?: string): Hub;
}

/** @throws a sentence when two have one name. */
export function createHubs(definitions: readonly HubDefinition[]): Hubs {
  const byName = new Map<string, Hub>();
  for (const { name = 'vm-lifecycle', partitions = 4, consumerGroups = ['tail'] } of definitions) {
    if (byName.has(name.toLowerCase())) throw new Error(`two event hubs are named ${name}: give each its own name`);
    byName.set(name.toLowerCase(), createHub(name, partitions, ['$Default', ...consumerGroups]));
  }
  const all = [...byName.values()];
  const find: Hubs['find'] = (name) => byName.get(name.toLowerCase());
  return {
    all,
    find,
    get(name) {
      const hub = name === undefined ? all[0] : find(name);
      if (hub !== undefined) return hub;
      throw new Error(`there is no event hub ${name ?? ''}: expected one of ${all.map((one) => one.name).join(', ')}`);
    },
  };
}
