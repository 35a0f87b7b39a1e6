import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load-config.ts';

export const stdout = { sinks: { stdout: {} } };
export const connectionString = 'Endpoint=sb://x/;SharedAccessKeyName=k;SharedAccessKey=c2VjcmV0';

/** Writes a file that only its owner can read, or `mode`, and loads it. */
export function load(content: unknown, { env = {}, mode = 0o600 }: { env?: NodeJS.ProcessEnv; mode?: number } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'config-'));
  const file = join(directory, 'config.json');
  writeFileSync(file, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content));
  chmodSync(file, mode);
  const loaded = loadConfig({ file, env });
  rmSync(directory, { recursive: true });
  return { ...loaded, file, problems: loaded.problems?.map((problem) => problem.replaceAll(file, 'FILE')) };
}
