import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { FaultTest } from './fault-test.ts';
import type { Assignment, Message } from './own-process.ts';

/** Runs one test, for `own-process.ts`. */
const stop = new AbortController();
const abort = (): void => stop.abort(new Error('it was interrupted'));
process.on('SIGTERM', abort);
// The coordinating program has ended.
process.on('disconnect', abort);

const send = (message: Message): Promise<void> =>
  new Promise((resolve) => (process.connected ? process.send?.(message, () => resolve()) : resolve()));

/** Of this process and of the children that it has waited for, in ticks of 10 ms. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function processorSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / 100, 0);
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}

async function run({ module, id, ...context }: Assignment): Promise<Message> {
  try {
    const { faultTests } = (await import(pathToFileURL(module).href)) as { readonly faultTests: readonly FaultTest[] };
    const test = faultTests.find((one) => one.id === id);
    if (!test) throw new Error(`there is no test ${id}`);
    const say = (line: string): void => void send({ kind: 'say', line });
    const outcome = await test.run({ ...context, signal: stop.signal, say });
    return { kind: 'outcome', outcome, processorSeconds: processorSeconds() };
  } catch (error) {
    return { kind: 'error', message: error instanceof Error ? error.message : String(error) };
  }
}

process.once('message', async (assignment: Assignment) => {
  await send(await run(assignment));
  // Libraries leave timers and sockets.
  process.exit(0);
});
