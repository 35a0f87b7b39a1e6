/** Waits for an effect instead of for a while: resolves with the first truthy answer, fails with what was awaited. */
export async function until<T>(
  condition: () => T | Promise<T>,
  {
    timeoutMs = 25_000,
    everyMs = 10,
    what = condition.toString(),
  }: { timeoutMs?: number; everyMs?: number; what?: string } = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await condition();
    if (answer) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
