const width = 120;

/**
 * JSON as the formatter of this repository writes it: a list of plain values on one line where it fits.
 * The result ends with a new line.
 */
export const jsonText = (value: unknown): string => `${lines(value, '', 0)}\n`;

function lines(value: unknown, indent: string, before: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== 'object' || item === null)) {
      const short = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
      if (indent.length + before + short.length < width) return short;
    }
    return `[\n${value.map((item) => deeper + lines(item, deeper, 0)).join(',\n')}\n${indent}]`;
  }
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  if (entries.length === 0) return '{}';
  const text = entries.map(([key, item]) => {
    const head = `${JSON.stringify(key)}: `;
    return deeper + head + lines(item, deeper, head.length);
  });
  return `{\n${text.join(',\n')}\n${indent}}`;
}

/** JSON with a line for each value of the object, and for each item of a list in it: as small as a file can be whose changes are still seen. */
export function jsonLines(value: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(value).map(([key, item]) => {
    const text = Array.isArray(item)
      ? `[\n${item.map((each) => JSON.stringify(each)).join(',\n')}\n]`
      : JSON.stringify(item);
    return `${JSON.stringify(key)}: ${text}`;
  });
  return `{\n${entries.join(',\n')}\n}\n`;
}
