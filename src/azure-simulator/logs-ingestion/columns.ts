/** A column of a table, as the data collection rule declares it. */
export interface Column {
  readonly name: string;
  /** `string` `int` `long` `real` `boolean` `datetime` `dynamic` `guid`. */
  readonly type: string;
}

export type Row = Readonly<Record<string, unknown>>;

const fits: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  guid: (value) => typeof value === 'string',
  int: (value) => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31,
  long: (value) => Number.isSafeInteger(value),
  real: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  datetime: (value) =>
    typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T/.test(value) && !Number.isNaN(Date.parse(value)),
  dynamic: () => true,
};

/** The first value of `rows` that its column cannot hold, as a sentence; null when all fit. Null fits everywhere. */
export function misfit(rows: readonly Row[], columns: readonly Column[]): string | null {
  for (const [index, row] of rows.entries()) {
    for (const { name, type } of columns) {
      const value = row[name];
      const holds = fits[type];
      if (holds === undefined) return `column ${name} is declared with the unknown type ${type}`;
      if (value === undefined || value === null || holds(value)) continue;
      return `row ${index}: ${name} is ${type}, but ${JSON.stringify(value).slice(0, 100)} was sent`;
    }
  }
  return null;
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
    if (value === undefined || value === null) continue;
    stored[name] = typeof value === 'string' ? cut(value) : value;
  }
  const generated = Date.parse(String(stored.TimeGenerated));
  const believable = generated > now.getTime() - 2 * dayMs && generated < now.getTime() + dayMs;
  if (!believable) stored.TimeGenerated = now.toISOString();
  return stored;
}

function cut(value: string): string {
  const bytes = Buffer.from(value);
  return bytes.length <= maxFieldBytes ? value : bytes.subarray(0, maxFieldBytes).toString('utf8');
}
