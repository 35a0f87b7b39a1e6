const secretText = /SharedAccess|AccountKey|password|secret|\bsig=|\bbearer\b|\beyJ|[A-Za-z0-9+/]{40,}/i;

/**
 * The value of a declared option for a message: JSON of at most 80 characters, without what may be secret in a URL. Nothing of a text
 * that looks like a secret (a connection string may stand under the wrong key), nor of an object, whose keys are unknown.
 */
export function describeValue(value: unknown): string {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (items.some((item) => typeof item === 'object')) return describeKind(value);
  const json =
    JSON.stringify(value, (_, inner) => (typeof inner === 'string' ? maskUrl(inner) : inner)) ?? String(value);
  if (secretText.test(json)) return notShown;
  return json.length > 80 ? `${json.slice(0, 80)}…` : json;
}

export const notShown = 'invalid (value hidden)';

/** What kind of value it is: all that is said of one that stands where no option is. */
export function describeKind(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? 'text' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Without user, query and fragment, and without segments of the path that are long enough for a key. A password may have any character. */
function maskUrl(text: string): string {
  const [, before = '', rest = ''] = /^(.*?:\/\/)(.*)$/s.exec(text) ?? [];
  if (before === '') return text;
  const user = rest.lastIndexOf('@') + 1;
  const [, host, path = '', more = ''] = /^([^/?#]*)([^?#]*)(.*)$/s.exec(rest.slice(user)) ?? [];
  const shown = path.replace(/[^/]{16,}/g, '…');
  return `${before}${user > 0 ? '…@' : ''}${host}${shown}${more === '' ? '' : `${more[0]}…`}`;
}
