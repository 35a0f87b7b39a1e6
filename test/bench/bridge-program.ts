import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration } from './azure-program.ts';

/** A bundled bridge, started as its service unit starts it. `nodeOptions`: for all of its processes. */
export function startBridge(
  bundle: string,
  home: string,
  configuration: Omit<Configuration, 'sinks'> & { readonly sinks: object; readonly outbox?: object },
  nodeOptions = '',
): ChildProcess {
  const file = join(home, 'config.json');
  writeFileSync(file, JSON.stringify({ ...configuration, log: { level: 'warn' }, heartbeat: { everyMinutes: 0 } }));
  const args = ['--max-semi-space-size=1', bundle, 'run', '--config', file];
  const env = { NODE_COMPILE_CACHE: `${bundle}.compiled`, MALLOC_ARENA_MAX: '1', NODE_OPTIONS: nodeOptions };
  return spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'], env });
}

export async function stopBridge(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
