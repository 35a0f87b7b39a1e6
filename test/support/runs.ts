/**
 * How many random cases a test plays: a part of them in `npm test`, all of them where `TEST_RUNS=full` says so, as `.ci/run` does.
 * Prints the number, so that a log shows what a run has proved.
 */
export function runs(what: string, { quick, full }: { readonly quick: number; readonly full: number }): number {
  const count = process.env.TEST_RUNS === 'full' ? full : quick;
  console.log(`  ${what}: ${count} random cases${count < full ? ` (${full} with TEST_RUNS=full)` : ''}`);
  return count;
}
