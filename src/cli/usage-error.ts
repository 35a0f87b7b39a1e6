/** The error of a command line, from a message of commander: one line that names the help. */
export function describeUsageError(message: string): string {
  const line = message.replaceAll('\n', ' ').replace(/(?<= is invalid\. )[a-z]/, (letter) => letter.toUpperCase());
  const [, start = line, suggestion = ''] = /^(.*) \((Did you mean [^)]*\?)\)$/.exec(line) ?? [];
  return `${start} (${suggestion === '' ? '' : `${suggestion} `}--help shows all options)`;
}
