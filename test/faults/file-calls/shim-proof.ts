import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../support/until.ts';
import { BridgeRun, type Slot, schedule, stateDirectoryOf } from './life.ts';
import type { Phase } from './phases.ts';
import { type FileCall, readShimLog, shimEnvironment } from './shim.ts';
import { makeStateFolder } from './stored-backlog.ts';
import { readTrace, tracedProgram } from './strace.ts';

/** The kinds of calls by their names in the kernel. Of any other the shim sees nothing: it is a difference. */
const kinds: readonly (readonly [pattern: RegExp, kind: FileCall])[] = [
  [/^(open|openat|creat)$/, 'open'],
  [/^(write|writev|pwrite64|pwritev|pwritev2)$/, 'write'],
  [/^(fsync|fdatasync)$/, 'fsync'],
  [/^rename/, 'rename'],
  [/^(unlink|unlinkat|rmdir)$/, 'unlink'],
  [/^ftruncate$/, 'truncate'],
  [/^mmap$/, 'mmap'],
  [/^linkat?$/, 'link'],
  [/^mkdir/, 'mkdir'],
];

/** Runs a bridge with the shim under strace. @returns how many calls both saw, and those that only one of them saw. */
export async function compareWithStrace(
  slot: Slot,
  phase: Phase,
): Promise<{ readonly seen: number; readonly differences: readonly string[] }> {
  rmSync(slot.folder, { recursive: true, force: true });
  const folder = makeStateFolder(stateDirectoryOf(slot));
  phase.place(folder);
  const [log, trace] = [join(slot.folder, 'calls.log'), join(slot.folder, 'strace')];
  const eventId = schedule(slot);
  const program = tracedProgram(slot.program, slot.folder, trace);
  const life = new BridgeRun({ ...slot, program }, shimEnvironment({ shim: slot.shim, folder, log }));
  try {
    await until(() => life.records.some((record) => record.eventId === eventId), {
      what: 'a record of the traced bridge',
    });
    life.process.kill('SIGTERM');
    const end = new RegExp(`^${life.process.child.pid} +\\+\\+\\+ exited`, 'm');
    await until(() => existsSync(trace) && end.test(readFileSync(trace, 'latin1')), {
      what: 'the end of strace',
      timeoutMs: 60_000,
      everyMs: 100,
    });
  } finally {
    life.process.kill('SIGKILL');
    slot.azure.imds.remove(eventId);
  }
  const byShim = countBy(readShimLog(log).map(({ call, path }) => `${call} ${path}`));
  const inFolder = readTrace(trace)
    .map((call) => ({ ...call, path: call.path.replace(/\/\.$/, '') }))
    .filter(({ path }) => path === folder || path.startsWith(`${folder}/`))
    // To list a folder changes nothing, and libc opens it by itself.
    .filter(({ text }) => !text.includes('O_NONBLOCK|O_CLOEXEC|O_DIRECTORY'));
  const byStrace = countBy(inFolder.map(({ name, path }) => `${kindOf(name)} ${path.replace(/\(deleted\)$/, '')}`));
  const names = [...new Set([...byShim.keys(), ...byStrace.keys()])].sort();
  return {
    seen: names.reduce((sum, name) => sum + Math.min(byShim.get(name) ?? 0, byStrace.get(name) ?? 0), 0),
    differences: names
      .filter((name) => byShim.get(name) !== byStrace.get(name))
      .map((name) => `${name}: ${byShim.get(name) ?? 0} by the shim, ${byStrace.get(name) ?? 0} by strace`),
  };
}

const kindOf = (name: string): string => kinds.find(([pattern]) => pattern.test(name))?.[1] ?? name;

function countBy(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
