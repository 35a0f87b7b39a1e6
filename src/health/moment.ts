import { formatDuration } from '../clock.ts';

/** `02:14 UTC`, with the day where that is not the present one. */
export function clockTime(at: string, now: Date): string {
  const iso = new Date(at).toISOString();
  const time = `${iso.slice(11, 16)} UTC`;
  return iso.slice(0, 10) === now.toISOString().slice(0, 10) ? time : `${iso.slice(0, 10)} ${time}`;
}

/** `02:14 UTC (17 min ago)`, `02:31 UTC (in 5 min)`. */
export function moment(at: string, now: Date): string {
  const seconds = (now.getTime() - Date.parse(at)) / 1000;
  return `${clockTime(at, now)} (${seconds >= 0 ? `${formatDuration(seconds)} ago` : `in ${formatDuration(seconds)}`})`;
}

/** `36 KB`, `1.2 MB`, `256 MB`: in powers of 1024, as `outbox.maxMegabytes` counts. */
export function size(bytes: number): string {
  if (bytes < 2 ** 20) return `${Math.ceil(bytes / 1024)} KB`;
  const [count, unit] = bytes < 2 ** 30 ? [bytes / 2 ** 20, 'MB'] : [bytes / 2 ** 30, 'GB'];
  return `${count.toFixed(count < 10 || unit === 'GB' ? 1 : 0)} ${unit}`;
}
