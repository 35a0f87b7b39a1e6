import type { PageView } from './answers.ts';
import { momentOf } from './time.ts';

/** Why nothing is shown: not yet known, filtered, or nothing in what the hub holds. */
export function whyNone(
  sentence: string,
  { reading, isFiltered, firstRecordAt, now }: Pick<PageView, 'reading' | 'isFiltered' | 'firstRecordAt' | 'now'>,
): string {
  if (!reading.isHistoryRead) return 'Reading the history of the hub…';
  if (isFiltered) return `${sentence} that matches the filters.`;
  if (firstRecordAt === null) return `${sentence}: the hub holds no record.`;
  return `${sentence} in what the hub holds, since ${momentOf(firstRecordAt, now)}.`;
}

/** What the page says of its connection. */
export function statusOf({ reading, knownVms }: Pick<PageView, 'reading' | 'knownVms'>): {
  readonly text: string;
  readonly state: 'reading' | 'lost' | 'live';
} {
  if (!reading.isHistoryRead)
    return { state: 'reading', text: `Reading the history of the hub: ${knownVms} VMs so far` };
  return reading.problems.length > 0
    ? { state: 'lost', text: `Not reading all of the hub, ${knownVms} VMs known` }
    : { state: 'live', text: `Live, ${knownVms} VMs known` };
}
