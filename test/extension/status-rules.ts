/**
 * What WALinuxAgent accepts as a status file, and makes of it: a port of `parse_ext_status` and of the limits of
 * `azurelinuxagent/ga/exthandlers.py`. https://github.com/Azure/WALinuxAgent/blob/master/azurelinuxagent/ga/exthandlers.py
 */

const words = ['transitioning', 'warning', 'error', 'success'];
const mostBytes = 128 * 1024;

/** Everything that the guest agent would refuse, coerce or cut, each a sentence; none for a status that is reported as it is. */
export function faultsOfStatus(text: string): string[] {
  const faults: string[] = [];
  if (Buffer.byteLength(text) > mostBytes) faults.push('it is longer than 128 KiB');
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return ['it is not JSON'];
  }
  if (!Array.isArray(parsed)) return ['it is no array'];
  if (parsed.length !== 1) faults.push('only the first entry is reported');
  const entry = asRecord(parsed[0]);
  const status = asRecord(entry?.status);
  if (!entry || !status) return ['it has no status'];
  if (entry.version !== 1) faults.push('its version is not 1.0');
  if (!isTime(entry.timestampUTC)) faults.push('its timestampUTC is no time');
  if (!isTime(status.configurationAppliedTime)) faults.push('its configurationAppliedTime is no time');
  for (const key of ['name', 'operation']) if (typeof status[key] !== 'string') faults.push(`it has no ${key}`);
  faults.push(...faultsOfPart(status, 'status'));
  const substatuses = status.substatus ?? [];
  if (!Array.isArray(substatuses)) return [...faults, 'its substatus is no array'];
  for (const one of substatuses) {
    const part = asRecord(one);
    if (typeof part?.name !== 'string') faults.push('a substatus has no name');
    else faults.push(...faultsOfPart(part, `substatus ${part.name}`));
  }
  const names = substatuses.map((one) => asRecord(one)?.name);
  if (new Set(names).size !== names.length) faults.push('two substatuses have the same name');
  return faults;
}

function faultsOfPart(part: Readonly<Record<string, unknown>>, what: string): string[] {
  const faults: string[] = [];
  if (!words.includes(String(part.status))) faults.push(`${what} is ${JSON.stringify(part.status)}`);
  if (!Number.isInteger(part.code)) faults.push(`${what} has no code`);
  const formatted = asRecord(part.formattedMessage);
  for (const key of ['lang', 'message'])
    if (typeof formatted?.[key] !== 'string' || formatted[key] === '') faults.push(`${what} has no ${key}`);
  return faults;
}

const asRecord = (value: unknown): Readonly<Record<string, unknown>> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;

const isTime = (value: unknown): boolean =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value);
