/** Bounds for what Azure says, so that one record stays below 64 KB. Sizes are bytes of JSON, escapes included. */
export const limits = { text: 4096, word: 256, list: 16_384, raw: 16_384, change: 4096 } as const;

const mark = '…';

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/** A text whose JSON takes at most `bytes`; an ellipsis at the end where something is missing. Never splits a character. */
export function truncateText(text: string, bytes: number): string {
  let kept = text;
  for (let room = bytes - 2; room > 0 && jsonBytes(kept) > bytes; room = Math.floor(room * 0.9)) {
    const front = Buffer.from(text).subarray(0, Math.max(0, room - Buffer.byteLength(mark)));
    // A character cut in half decodes as U+FFFD at the end.
    kept = front.toString('utf8').replace(/\uFFFD+$/u, '') + mark;
  }
  return kept;
}

/** As many elements from the front as fit into `bytes` of JSON, `first` moved to the front only when something has to go. */
export function truncateList<T>(list: readonly T[], bytes: number, first?: (element: T) => boolean): readonly T[] {
  if (jsonBytes(list) <= bytes) return list;
  const kept: T[] = [];
  let size = 2;
  const ordered = first ? [...list.filter(first), ...list.filter((element) => !first(element))] : list;
  for (const element of ordered) {
    size += jsonBytes(element) + 1;
    if (size > bytes) break;
    kept.push(element);
  }
  return kept;
}

/** At most `bytes` of JSON: a text or a list is cut, anything else too large becomes null. */
export function truncateValue(value: unknown, bytes: number): unknown {
  if (jsonBytes(value) <= bytes) return value;
  if (Array.isArray(value)) return truncateList(value, bytes);
  return typeof value === 'string' ? truncateText(value, bytes) : null;
}

/** At most `bytes` of JSON: the largest fields are cut, one after the other, until it fits. */
export function truncateObject(
  object: Readonly<Record<string, unknown>>,
  bytes: number,
): Readonly<Record<string, unknown>> {
  let size = jsonBytes(object);
  if (size <= bytes) return object;
  const cut: Record<string, unknown> = { ...object };
  const largestFirst = Object.keys(object).sort((a, b) => jsonBytes(object[b]) - jsonBytes(object[a]));
  for (const key of largestFirst) {
    const before = jsonBytes(cut[key]);
    cut[key] = truncateValue(cut[key], Math.max(0, before - (size - bytes)));
    size -= before - jsonBytes(cut[key]);
    if (size <= bytes) return cut;
  }
  return {};
}
