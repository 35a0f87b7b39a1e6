import type { Cell } from '../../../test/tools/kql/index.ts';
import type { NumberFormat } from '../workbook-json.ts';

const milliseconds = 23;
const seconds = 24;

const short = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 1 : 0 });

/** A duration in the unit in which it is a small number. */
function duration(value: number): string {
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 120) return `${short(value)} s`;
  if (value < 7200) return `${short(value / 60)} min`;
  if (value < 172_800) return `${short(value / 3600)} h`;
  return `${short(value / 86_400)} d`;
}

/** A number as a workbook shows it in a unit. */
export function numberText(value: number, format?: NumberFormat): string {
  if (value === 0) return '0';
  if (format?.unit === seconds) return value < 0 ? `-${duration(-value)}` : duration(value);
  if (format?.unit === milliseconds) return duration(value / 1000);
  return value.toLocaleString('en-US', { maximumFractionDigits: 1 });
}

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

export const dayText = (time: Cell | undefined): string => day.format(new Date(String(time)));
export const momentText = (time: Cell | undefined): string => moment.format(new Date(String(time)));

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
