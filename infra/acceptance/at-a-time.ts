/** Works through a list: at most this number of items at the same time, begun in their order. Rejects with the first error. */
export async function atATime<T>(most: number, list: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const left = list.values();
  await Promise.all(
    Array.from({ length: most }, async () => {
      for (const one of left) await work(one);
    }),
  );
}
