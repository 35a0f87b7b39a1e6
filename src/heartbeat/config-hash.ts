import { createHash } from 'node:crypto';
import type { Config } from '../config.ts';

/**
 * 16 hexadecimal digits that are equal where two bridges have the same configuration, whatever the order of its keys: so a
 * fleet shows who has not got the new one yet. Of a secret only whether it is set goes in.
 */
export function configHash(config: Config): string {
  const { proxy } = config;
  const { eventHubs } = config.sinks;
  const isSet = eventHubs?.connectionString == null ? null : 'set';
  const sinks = { ...config.sinks, eventHubs: eventHubs && { ...eventHubs, connectionString: isSet } };
  const secretless = { ...config, sinks, proxy: proxy && { ...proxy, url: withoutPassword(proxy.url) } };
  return createHash('sha256')
    .update(JSON.stringify(inOrder(secretless)))
    .digest('hex')
    .slice(0, 16);
}

function withoutPassword(url: string): string {
  const parsed = URL.parse(url);
  if (!parsed?.password) return url;
  parsed.password = 'set';
  return parsed.href;
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, inOrder(inner)]));
}
