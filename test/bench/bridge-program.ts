import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asInstalled } from './as-installed.ts';
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
  const { flags, env } = asInstalled(`${bundle}.compiled`);
  return spawn(process.execPath, [...flags, bundle, 'run', '--config', file], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...env, NODE_OPTIONS: nodeOptions },
  });
}

export async function stopBridge(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
