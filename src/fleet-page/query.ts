/** What the page shows: the query of its URL, so that the URL always links to what is seen. Empty text: no filter. */
export interface Query {
  readonly type: string;
  readonly set: string;
  readonly tag: string;
  /** Part of a VM name. */
  readonly vm: string;
  readonly window: WindowName;
  /** End of the window, milliseconds since 1970; null: it follows the present. */
  readonly until: number | null;
  /** The event whose trace is open. */
  readonly event: string;
}

const hourMs = 3_600_000;
export const windows = {
  '1h': hourMs,
  '6h': 6 * hourMs,
  '24h': 24 * hourMs,
  '3d': 72 * hourMs,
  '14d': 336 * hourMs,
} as const;
export type WindowName = keyof typeof windows;
const defaultWindow: WindowName = '6h';

const texts = ['type', 'set', 'tag', 'vm', 'event'] as const;
const longest = 200;

/** What cannot be read has its default: a link never fails. */
export function parseQuery(search: URLSearchParams): Query {
  const text = (name: (typeof texts)[number]): string => (search.get(name) ?? '').trim().slice(0, longest);
  const window = search.get('window') ?? '';
  const until = Date.parse(search.get('until') ?? '');
  return {
    type: text('type'),
    set: text('set'),
    tag: text('tag'),
    vm: text('vm'),
    event: text('event'),
    window: Object.hasOwn(windows, window) ? (window as WindowName) : defaultWindow,
    until: Number.isNaN(until) ? null : until,
  };
}

/** Without what is the default: `?set=shop-web%2Fweb&window=24h`, or an empty text. */
export function formatQuery(query: Query): string {
  const search = new URLSearchParams();
  for (const name of texts) if (query[name] !== '') search.set(name, query[name]);
  if (query.window !== defaultWindow) search.set('window', query.window);
  if (query.until !== null) search.set('until', new Date(query.until).toISOString());
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

/** A sixth of a window that follows the present is the future. */
export function windowOf({ window, until }: Query, now: number): { readonly from: number; readonly to: number } {
  const length = windows[window];
  const to = until ?? now + length / 6;
  return { from: to - length, to };
}
