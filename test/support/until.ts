/**
 * Waits for an effect instead of for a while: resolves with the first truthy answer, fails with what was awaited. A condition that has to
 * ask another process is asked less often: that costs both of them.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  {
    timeoutMs = 25_000,
    everyMs,
    what = condition.toString(),
  }: { timeoutMs?: number; everyMs?: number; what?: string } = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const asked = condition();
    const answer = await asked;
    if (answer) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms for: ${what}`);
    const pauseMs = everyMs ?? (asked instanceof Promise ? 100 : 10);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
