import { createHash } from 'node:crypto';
import { type Config, options } from '../config.ts';

const isSecret = (path: string, value: string): boolean =>
  options.find((option) => option.path === path)?.isSecret?.(value) ?? false;

/**
 * 16 hexadecimal digits that are equal where two bridges have the same configuration, regardless of the order of its keys: so a
 * fleet shows who has not got the new one yet. Of a secret only whether it is set goes in.
 */
export const configHash = (config: Config): string =>
  createHash('sha256')
    .update(JSON.stringify(normalized(config, '')))
    .digest('hex')
    .slice(0, 16);

/** Keys in order, and secrets hidden. */
function normalized(value: unknown, path: string): unknown {
  if (typeof value === 'string') return isSecret(path, value) ? hidden(value) : value;
  if (Array.isArray(value)) return value.map((item) => normalized(item, ''));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, normalized(inner, path ? `${path}.${key}` : key)]));
}

/** Of a URL only the password is a secret. */
function hidden(value: string): string {
  const url = URL.parse(value);
  if (!url?.password) return 'set';
  url.password = 'set';
  return url.href;
}
