import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/source-tree.ts';

/** How the installed service starts Node: the options and the variables of the unit. */
export function asInstalled(cache: string): {
  readonly flags: readonly string[];
  readonly env: Record<string, string>;
} {
  const unit = readFileSync(join(root, 'infra/systemd/scheduled-events-bridge.service'), 'utf8');
  const words = (key: string): readonly string[] => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1]?.split(' ') ?? [];
  const env = Object.fromEntries(words('Environment').map((word) => word.split('=') as [string, string]));
  const flags = words('ExecStart').filter((word) => /^--(?!config)/.test(word));
  return { flags, env: { ...env, NODE_COMPILE_CACHE: cache } };
}
