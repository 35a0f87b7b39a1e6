const secretKey = /connection|secret|password|token|credential|(access|shared|account|sas)_?key/i;
const secretValue = /SharedAccess|AccountKey|password|secret|\bsig=|\bbearer\b|\beyJ|:\/\/.*@|[A-Za-z0-9+/]{40,}/i;

/**
 * A value for a message: JSON of at most 80 characters, and nothing of a value that looks like a secret. A connection
 * string under a misspelled key is one too.
 */
export function describeValue(key: string, value: unknown): string {
  const json = JSON.stringify(value) ?? String(value);
  if (secretKey.test(key) || secretValue.test(json)) return 'a value that is not shown';
  return json.length > 80 ? `${json.slice(0, 80)}…` : json;
}
