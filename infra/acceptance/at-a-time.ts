/** Works through a list, so many at a time, each in its turn. Rejects with the first error. */
export async function atATime<T>(most: number, list: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const left = list.values();
  await Promise.all(
    Array.from({ length: most }, async () => {
      for (const one of left) await work(one);
    }),
  );
}
