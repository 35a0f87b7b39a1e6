import { join } from 'node:path';
import type { LifecycleRecord } from '../../../src/lifecycle/record.ts';
import type { Observer } from '../../../src/lifecycle/scheduled-event.ts';
import { encodeRow, type Row } from '../../../src/sinks/log-analytics/encode.ts';
import type { ObservationSpec, ObserveResult } from '../../support/observations.ts';
import { at, observe, observerNamed } from '../../support/observations.ts';
import { root } from '../../support/source-tree.ts';
import { type Cell, type ExecuteOptions, openKql } from '../../tools/kql/index.ts';

export const functionsFolder = join(root, 'infra/kql/functions');
export const kql = openKql({ functionsFrom: [functionsFolder] });

export interface Tables {
  readonly records?: readonly LifecycleRecord[];
  /** Rows of the table that are not what the encoder makes of records. */
  readonly rows?: readonly Row[];
  readonly heartbeats?: readonly Row[];
  /** Seconds after noon. Default: an hour. */
  readonly now?: number;
}

/** The answer of a query over records and heartbeats. */
export function ask(query: string, { records = [], rows = [], heartbeats = [], now = 3600 }: Tables): string[] {
  const tables = { VmLifecycle_CL: [...records.map(encodeRow), ...rows], VmLifecycleBridge_CL: heartbeats };
  return answer(query, { tables, now: at(now) });
}

/** The answer, a row a line, its cells between bars. Times are those of the first of March, with the day in front where it is another. */
export const answer = (query: string, options: ExecuteOptions): string[] =>
  kql.execute(query, options).rows.map((row) => row.map(cellText).join(' | '));

function cellText(cell: Cell): string {
  if (cell === null || cell === '') return '-';
  if (Array.isArray(cell)) return cell.map(cellText).join(' ');
  const time = typeof cell === 'string' ? /^2026-(\d\d-\d\d)T(\d\d:\d\d:\d\d)/.exec(cell) : null;
  if (time) return time[1] === '03-01' ? `${time[2]}` : `${time[1]} ${time[2]}`;
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

/**
 * What a VM of the scale set `web` reports of what it observes. It polled a second before each observation and found nothing new, except before
 * one with an incarnation: then it had not polled since the observation before.
 */
export function recordsBy(
  vmName: string,
  observations: readonly ObservationSpec[],
  { observer = {}, ...rest }: { observer?: Partial<Observer>; witnessRate?: number; from?: number } = {},
): ObserveResult['records'] {
  const watched = observations.flatMap((observation, index): ObservationSpec[] => {
    const before = observations[index - 1];
    const { after = 1, incarnation } = observation;
    if (before === undefined || after <= 1 || incarnation !== undefined) return [observation];
    return [
      { events: before.events, after: after - 1 },
      { ...observation, after: 1 },
    ];
  });
  return observe(watched, { observer: observerNamed(vmName, { vmScaleSetName: 'web', ...observer }), ...rest }).records;
}
