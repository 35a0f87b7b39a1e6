/** Empty without rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const cell = (text: string): string => text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|');

export const code = (text: string): string => `\`${text.replaceAll('`', "'")}\``;

/** Empty without a file. */
export const fileLink = (file: string | undefined): string =>
  file === undefined ? '' : `[${file}](${encodeURI(file)})`;
