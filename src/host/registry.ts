/**
 * The data of one value in the output of `reg query KEY /v VALUE`; null when it is not there.
 * https://learn.microsoft.com/windows-server/administration/windows-commands/reg-query
 */
export function valueIn(output: string, value: string): string | null {
  const line = output.split(/\r?\n/).find((each) => each.trim().toLowerCase().startsWith(`${value.toLowerCase()} `));
  const data = line
    ?.trim()
    .slice(value.length)
    .trim()
    .replace(/^REG_\w+\s*/, '')
    .trim();
  return data ? data : null;
}
