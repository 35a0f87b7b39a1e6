import { createHmac, timingSafeEqual } from 'node:crypto';

/** A shared access key, as a connection string names it. */
export interface SharedAccessKey {
  readonly name: string;
  readonly key: string;
}

/**
 * Null when the signature is ours, unexpired and covers `audience`; else why not.
 * https://learn.microsoft.com/rest/api/eventhub/generate-sas-token
 */
export function sasRefusal(token: string, audience: string, { name, key }: SharedAccessKey): string | null {
  const fields = new Map<string, string>();
  for (const pair of token.replace(/^SharedAccessSignature\s+/, '').split('&')) {
    const [field = '', ...value] = pair.split('=');
    fields.set(field, value.join('='));
  }
  const scope = fields.get('sr') ?? '';
  const expiry = fields.get('se') ?? '';
  if (decodeURIComponent(fields.get('skn') ?? '') !== name) return 'the shared access key name is unknown';
  const expected = createHmac('sha256', key).update(`${scope}\n${expiry}`).digest();
  const given = Buffer.from(decodeURIComponent(fields.get('sig') ?? ''), 'base64');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'the signature is wrong';
  if (Number(expiry) * 1000 < Date.now()) return 'the token has expired';
  const covered = decodeURIComponent(scope).toLowerCase();
  return audience.toLowerCase().startsWith(covered) ? null : `the token is for ${covered}, not for ${audience}`;
}
