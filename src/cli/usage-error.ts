/** The error of a command line, from a message of commander: one line that names the help. */
export function describeUsageError(message: string): string {
  const line = message.replaceAll('\n', ' ').replace(/(?<= is invalid\. )[a-z]/, (letter) => letter.toUpperCase());
  const [, start = line, suggestion = ''] = /^(.*) \((Did you mean [^)]*\?)\)$/.exec(line) ?? [];
  const hint = start.endsWith("unknown command 'validate'") ? ': use check --offline' : '';
  return `${start}${hint} (${suggestion === '' ? '' : `${suggestion} `}--help shows all options)`;
}
