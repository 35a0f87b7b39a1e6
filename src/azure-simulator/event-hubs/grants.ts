/** The entities that the tokens put on one connection give access to, each until its token expires. */
export interface Grants {
  /** A later token for an entity takes the place of the earlier one. @param expiresAt milliseconds since the epoch. */
  add(entityPath: string, expiresAt: number): void;
  /** Until when tokens cover the entity, itself or from above, in milliseconds since the epoch. Null: none ever did. */
  until(entityPath: string): number | null;
}

/** Paths are in lower case; the empty one is the namespace. */
export function createGrants(): Grants {
  const expiries = new Map<string, number>();
  return {
    add: (entityPath, expiresAt) => void expiries.set(entityPath, expiresAt),
    until(entityPath) {
      const covering = [...expiries].filter(
        ([granted]) => granted === '' || entityPath === granted || entityPath.startsWith(`${granted}/`),
      );
      return covering.length === 0 ? null : Math.max(...covering.map(([, expiresAt]) => expiresAt));
    },
  };
}
