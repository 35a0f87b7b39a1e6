/** Writes text to stdout. Continues without a reader (`| head -1`). */
export function print(text: string): void {
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => {});
  process.stdout.write(text);
}
