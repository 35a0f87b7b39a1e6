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
