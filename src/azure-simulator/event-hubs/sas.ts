import { createHmac, timingSafeEqual } from 'node:crypto';
import { decodePart } from '../decode-part.ts';
import { audiencePath } from './address.ts';

/** A shared access key, as a connection string names it. */
export interface SharedAccessKey {
  readonly name: string;
  readonly key: string;
}

/** When it expires, in milliseconds since the epoch; null without one. */
export function sasExpiry(token: string): number | null {
  const { expiry } = read(token);
  return /^\d+$/.test(expiry) ? Number(expiry) * 1000 : null;
}

/**
 * Null when the signature is ours and covers `audience`; else why not.
 * https://learn.microsoft.com/rest/api/eventhub/generate-sas-token
 */
export function sasRefusal(token: string, audience: string, { name, key }: SharedAccessKey): string | null {
  const { scope, expiry, keyName, signature } = read(token);
  const [covered, by, signed] = [scope, keyName, signature].map(decodePart);
  if (covered == null || by == null || signed == null) return 'the token is not well encoded';
  if (by !== name) return 'the shared access key name is unknown';
  const expected = createHmac('sha256', key).update(`${scope}\n${expiry}`).digest();
  const given = Buffer.from(signed, 'base64');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'the signature is wrong';
  const scopePath = audiencePath(covered.includes('://') ? covered : `sb://${covered}`);
  return covers(scopePath, audiencePath(audience)) ? null : `the token is for ${covered}, not for ${audience}`;
}

/** A token covers what it names and all below it: `vm` is not above `vm-lifecycle`, the namespace is above all. */
function covers(scope: string, path: string): boolean {
  const above = scope.replace(/\/$/, '');
  return above === '' || path === above || path.startsWith(`${above}/`);
}

/** The fields of a token, still encoded for a URL: the signature is over the encoded scope. */
function read(token: string) {
  const fields = new Map<string, string>();
  for (const pair of token.replace(/^SharedAccessSignature\s+/, '').split('&')) {
    const [field = '', ...value] = pair.split('=');
    fields.set(field, value.join('='));
  }
  const field = (name: string): string => fields.get(name) ?? '';
  return { scope: field('sr'), signature: field('sig'), expiry: field('se'), keyName: field('skn') };
}
