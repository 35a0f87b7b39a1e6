import type { ParsedEntry } from '../sinks/sink.ts';

type LifecycleRecord = ParsedEntry['record'];

/** Marks where something was left out, so that no reader takes the rest for the whole. */
export const marker = '[shortened: the destination refused the record as too large]';

/** How much of a list or of a text stays. */
const kept = { names: 10, characters: 200 } as const;

/** A short text gets longer by it, and is left as it is. */
const shortenText = (text: string): string => `${text.slice(0, kept.characters)} ${marker}`;

/** `first` is kept regardless of its position: the VM that this record is about. */
function shortenNames(names: readonly unknown[], first: string): unknown[] {
  if (names.length <= kept.names + 1) return [...names];
  const isFirst = (name: unknown): boolean => typeof name === 'string' && name.toLowerCase() === first.toLowerCase();
  const ordered = [...names.filter(isFirst), ...names.filter((name) => !isFirst(name))];
  return [...ordered.slice(0, kept.names), marker];
}

/** What can be missed soonest goes first; the count of affected resources stays that of Azure. */
const shortenings: readonly ((record: LifecycleRecord) => LifecycleRecord)[] = [
  (record) => (record.description === null ? record : { ...record, description: shortenText(record.description) }),
  (record) => {
    const { Resources: names } = record.rawEvent;
    if (!Array.isArray(names)) return record;
    return { ...record, rawEvent: { ...record.rawEvent, Resources: shortenNames(names, record.vmName) } };
  },
  (record) => ({ ...record, affectedResources: shortenNames(record.affectedResources, record.vmName).map(String) }),
];

/**
 * The record with a little less in it, for a destination that refused it as too large: the first of description, raw
 * resources and affected resources that still gives something. Null when nothing more can be left out.
 */
export function shorten(json: Buffer): Buffer | null {
  const record = JSON.parse(json.toString()) as LifecycleRecord;
  for (const shortening of shortenings) {
    const shorter = Buffer.from(JSON.stringify(shortening(record)));
    if (shorter.length < json.length) return shorter;
  }
  return null;
}
