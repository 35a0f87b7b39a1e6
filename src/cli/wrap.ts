/** What a help text has when it is not written for a terminal: commander, too, takes 80 columns then. */
const helpColumns = 80;

/** Text of which an empty line divides the paragraphs, for the end of a help. */
export function helpText(text: string): string {
  const paragraphs = text.trim().split('\n\n');
  return `\n${paragraphs.map((one) => wrap(one.split(/\s+/), helpColumns).join('\n')).join('\n\n')}`;
}

/** Lines of a table of two columns; the text of the second wraps within its column. */
export function twoColumns(first: string, second: string, column: number, width: number = helpColumns): string {
  return `${first.padEnd(column)}${wrap(second.split(' '), width - column).join(`\n${' '.repeat(column)}`)}`;
}

/** Parts in lines of at most `width` columns, where no part is longer. A part is never broken: commands and URLs stay whole. */
export function wrap(parts: readonly string[], width: number, between = ' '): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + between.length + part.length <= width) {
      lines[lines.length - 1] = `${last}${between}${part}`;
    } else lines.push(part);
  }
  return lines;
}
