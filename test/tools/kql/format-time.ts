import { dateOf, ticksPerDay, ticksPerHour, ticksPerMinute, ticksPerSecond } from './time-text.ts';
import { unsupported } from './unsupported.ts';
import type { Datetime, Timespan } from './values.ts';

const padded = (value: number | bigint, width: number): string => String(value).padStart(width, '0');

/** Replaces runs of format letters; separators stay, other letters are refused. */
function filled(format: string, specifier: RegExp, separators: RegExp, fill: (run: string) => string): string {
  let text = '';
  for (let at = 0; at < format.length; ) {
    specifier.lastIndex = at;
    const run = specifier.exec(format)?.[0];
    if (run !== undefined) {
      text += fill(run);
      at += run.length;
    } else if (separators.test(format.charAt(at))) {
      text += format.charAt(at);
      at++;
    } else {
      return unsupported(`"${format.charAt(at)}" in the format ${format}`);
    }
  }
  return text;
}

/** The fraction of a second in this many digits; `F` leaves trailing zeros out. */
function fraction(ticks: bigint, run: string): string {
  const digits = padded(ticks % ticksPerSecond, 7).slice(0, run.length);
  return run.startsWith('f') ? digits : digits.replace(/0+$/, '');
}

/** https://learn.microsoft.com/kusto/query/format-datetime-function */
export function formatDatetime(moment: Datetime, format: string): string {
  const date = dateOf(moment);
  const hour = date.getUTCHours();
  return filled(
    format,
    /d{1,2}|f{1,7}|F{1,7}|h{1,2}|H{1,2}|m{1,2}|M{1,2}|s{1,2}|yyyy|yy|y|tt/y,
    /[ /\-:,._[\]]/,
    (run) => {
      switch (run.charAt(0)) {
        case 'd':
          return padded(date.getUTCDate(), run.length);
        case 'f':
        case 'F':
          return fraction(moment.ticks, run);
        case 'h':
          return padded(hour % 12 || 12, run.length);
        case 'H':
          return padded(hour, run.length);
        case 'm':
          return padded(date.getUTCMinutes(), run.length);
        case 'M':
          return padded(date.getUTCMonth() + 1, run.length);
        case 's':
          return padded(date.getUTCSeconds(), run.length);
        case 't':
          return hour < 12 ? 'AM' : 'PM';
        default:
          return run.length === 4 ? padded(date.getUTCFullYear(), 4) : padded(date.getUTCFullYear() % 100, run.length);
      }
    },
  );
}

/** https://learn.microsoft.com/kusto/query/format-timespan-function */
export function formatTimespan(span: Timespan, format: string): string {
  const ticks = span.ticks < 0n ? -span.ticks : span.ticks;
  const text = filled(format, /d{1,8}|f{1,7}|F{1,7}|[hH]{1,2}|m{1,2}|s{1,2}/y, /[ /\-:,._[\]]/, (run) => {
    switch (run.charAt(0)) {
      case 'd':
        return padded(ticks / ticksPerDay, run.length);
      case 'f':
      case 'F':
        return fraction(ticks, run);
      case 'm':
        return padded((ticks / ticksPerMinute) % 60n, run.length);
      case 's':
        return padded((ticks / ticksPerSecond) % 60n, run.length);
      default:
        return padded((ticks / ticksPerHour) % 24n, run.length);
    }
  });
  return span.ticks < 0n ? `-${text}` : text;
}
