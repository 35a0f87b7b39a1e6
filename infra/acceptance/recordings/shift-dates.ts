/** Begins every anonymised recording, up to its second. */
export const fixedStart = new Date('2026-01-01T00:00:00.000Z');

/** Moves times so that a recording begins at `fixedStart`. By whole seconds, so that a date without a fraction stays one. */
export interface Shift {
  date(date: Date): Date;
  /** A date in the form in which it is written; null where the text is none. */
  text(text: string): string | null;
  /** Seconds or milliseconds since 1970 are moved, other numbers are not. */
  number(value: number): number;
}

export function shiftFrom(begunAt: Date): Shift {
  const seconds = Math.floor(fixedStart.getTime() / 1000) - Math.floor(begunAt.getTime() / 1000);
  const date = (given: Date): Date => new Date(given.getTime() + 1000 * seconds);
  return {
    date,
    text: (text) => moved(text, date),
    number(value) {
      if (value >= firstSecond && value < lastSecond) return value + seconds;
      return value >= 1000 * firstSecond && value < 1000 * lastSecond ? value + 1000 * seconds : value;
    },
  };
}

/** 2017, when Scheduled Events began, to 2100. */
const firstSecond = Date.UTC(2017) / 1000;
const lastSecond = Date.UTC(2100) / 1000;

const iso = String.raw`\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?`;
const rfc1123 = String.raw`[A-Z][a-z]{2}, \d\d? [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d (?:GMT|UTC)`;
/** As .NET writes it by default: month, day, year. */
const american = String.raw`\d\d?\/\d\d?\/\d{4}(?: \d\d?:\d\d:\d\d(?: [AP]M)?)?`;
export const anyDate = new RegExp(`(?<![\\d/-])(?:${iso}|${rfc1123}|${american})(?![\\d/-])`, 'g');

function moved(text: string, shift: (date: Date) => Date): string | null {
  if (text.replace(anyDate, '') !== '') return null;
  const [zone = ''] = /(?:Z|GMT|UTC|[+-]\d\d:?\d\d)$/.exec(text.slice(10)) ?? [];
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
  const time = new Date(zone === '' && !isDay ? `${text}${text.includes('/') ? ' UTC' : 'Z'}` : text);
  if (Number.isNaN(time.getTime())) return null;
  const after = shift(time);
  // The versions of the metadata service are days, too, and mostly of earlier years.
  if (isDay && Math.abs(after.getTime() - fixedStart.getTime()) > 60 * 86_400_000) return text;
  if (/^[A-Z]/.test(text)) return after.toUTCString().replace('GMT', zone);
  return text.includes('/') ? writeAmerican(text, after) : writeIso(text, zone, after);
}

function writeIso(text: string, zone: string, time: Date): string {
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  const offset = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
  const local = new Date(time.getTime() + 60_000 * offset).toISOString();
  const withoutZone = text.slice(0, text.length - zone.length);
  const [fraction = ''] = /\.\d+$/.exec(withoutZone) ?? [];
  const written = local.slice(0, withoutZone.length - fraction.length) + fraction + zone;
  return text[10] === ' ' ? written.replace('T', ' ') : written;
}

function writeAmerican(text: string, time: Date): string {
  const isDay = !text.includes(':');
  const hourCycle = text.endsWith('M') ? 'h12' : 'h23';
  const clock = { hour: 'numeric', minute: '2-digit', second: '2-digit', hourCycle } as const;
  const day = { year: 'numeric', month: 'numeric', day: 'numeric', timeZone: 'UTC' } as const;
  return time
    .toLocaleString('en-US', isDay ? day : { ...day, ...clock })
    .replace(',', '')
    .replace('\u202f', ' ');
}
