/** Times as the page writes them: UTC. */
const iso = (at: number): string => new Date(at).toISOString();

/** `03:35`. */
export const timeOf = (at: number): string => iso(at).slice(11, 16);
/** `03:35:10`. */
export const clockOf = (at: number): string => iso(at).slice(11, 19);
/** `11-22`. */
export const dayOf = (at: number): string => iso(at).slice(5, 10);

/** `11-22 03:35:10`, without the day if it is that of `now`. */
export const momentOf = (at: number, now: number): string =>
  dayOf(at) === dayOf(now) && Math.abs(at - now) < 86_400_000 ? clockOf(at) : `${dayOf(at)} ${clockOf(at)}`;

/** `0.4 s`, `42 s`, `12 min 05 s`, `3 h 10 min`, `2 d 04 h`. */
export function durationOf(seconds: number): string {
  const abs = Math.abs(seconds);
  if (abs < 10) return `${Math.round(abs * 10) / 10} s`;
  const whole = Math.floor(abs);
  const two = (value: number): string => String(value).padStart(2, '0');
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
  return `${Math.floor(whole / 86_400)} d ${two(Math.floor((whole % 86_400) / 3600))} h`;
}

/** `in 12:05`, `in 3 h 10 min`, `12:05 ago`: whole seconds, for a figure that counts. */
export function countdownOf(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  const abs = Math.abs(seconds);
  const two = (value: number): string => String(value).padStart(2, '0');
  const text = abs < 3600 ? `${two(Math.floor(abs / 60))}:${two(abs % 60)}` : durationOf(abs);
  return seconds >= 0 ? `in ${text}` : `${text} ago`;
}
