/** A column of a table, as the data collection rule or the table declares it. */
export interface Column {
  /** Case-sensitive: a field in another case is undeclared. */
  readonly name: string;
  /** `string` `int` `long` `real` `boolean` `datetime` `dynamic` `guid`, in any letter case: tables say `dateTime`, rules `datetime`. */
  readonly type: string;
}

export type Row = Readonly<Record<string, unknown>>;

/** By type in lower case. */
const fits: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  guid: (value) => typeof value === 'string',
  int: (value) => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31,
  long: (value) => Number.isSafeInteger(value),
  real: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  datetime: (value) => !Number.isNaN(timeOf(value)),
  dynamic: () => true,
};

// assumption: logs-types
/**
 * The first value of `rows` that its column cannot hold, as a sentence; null when all fit. Null fits everywhere.
 *
 * Stricter than Azure, which promises no conversion and is known to answer 204 and leave such a field empty: here it is seen.
 */
export function typeMismatch(rows: readonly Row[], columns: readonly Column[]): string | null {
  for (const [index, row] of rows.entries()) {
    for (const { name, type } of columns) {
      const value = row[name];
      const holds = fits[type.toLowerCase()];
      if (holds === undefined) return `column ${name} is declared with the unknown type ${type}`;
      if (value === undefined || value === null || holds(value)) continue;
      return `row ${index}: ${name} is ${type}, but ${JSON.stringify(value).slice(0, 100)} was sent`;
    }
  }
  return null;
}

/**
 * Milliseconds since the epoch of the ISO 8601 forms that are taken as a time, UTC where no offset is given; NaN for anything else.
 * The other forms that the query language reads are advised against, and not taken here.
 * https://learn.microsoft.com/kusto/query/scalar-data-types/datetime#supported-formats
 */
function timeOf(value: unknown): number {
  const form = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/;
  const [, date, time = '00:00', offset = 'Z'] = (typeof value === 'string' && form.exec(value)) || [];
  return Date.parse(`${date}T${time}${offset}`);
}

/** Field values are cut at 64 KB by the service. */
const maxFieldBytes = 65_536;
const dayMs = 86_400_000;

/**
 * The row as the table keeps it: undeclared columns dropped, long values cut, and `TimeGenerated` replaced by `now`
 * where it is missing, older than two days or more than a day ahead.
 * https://learn.microsoft.com/azure/azure-monitor/logs/log-standard-columns#timegenerated
 */
export function asStored(row: Row, columns: readonly Column[], now: Date): Row {
  const stored: Record<string, unknown> = {};
  for (const { name } of columns) {
    const value = row[name];
    if (value !== undefined && value !== null) stored[name] = cut(value);
  }
  const generated = timeOf(stored.TimeGenerated);
  const believable = generated > now.getTime() - 2 * dayMs && generated < now.getTime() + dayMs;
  if (!believable) stored.TimeGenerated = now.toISOString();
  return stored;
}

/** A value over the limit becomes the text that fits, whole characters only; of an object or array that is no JSON any more. */
function cut(value: unknown): unknown {
  const bytes = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  if (bytes.length <= maxFieldBytes) return value;
  let end = maxFieldBytes;
  while (isContinuation(bytes[end])) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** Whether a byte of UTF-8 continues the character of the byte before it. */
const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
