import { options } from '../config.ts';

const isOption = new Set(options.map(({ path }) => path));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Two documents as one, as `readConfig` merges them: option by option, the later one overrides the earlier one, and null counts as
 * not set. Both may be any JSON; whether they are a configuration is checked elsewhere.
 */
export function mergeDocuments(earlier: unknown, later: unknown, path = ''): unknown {
  if (later === null || later === undefined) return earlier;
  if (!isObject(earlier) || !isObject(later) || isOption.has(path)) return later;
  const merged: Record<string, unknown> = { ...earlier };
  for (const [key, value] of Object.entries(later)) {
    merged[key] = mergeDocuments(earlier[key], value, path === '' ? key : `${path}.${key}`);
  }
  return merged;
}
