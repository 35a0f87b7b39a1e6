import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { minutes } from './costs-alerts.ts';
import type { Assumptions } from './costs-model.ts';
import { type SampleRows, valueBytes } from './costs-sizes.ts';

/** What one evaluation of a log alert reads: a table, how far back, and which of its columns. */
export interface Read {
  readonly table: keyof SampleRows;
  readonly minutesBack: number;
  readonly columns: readonly string[];
}

export interface AlertReads {
  readonly name: string;
  readonly everyMinutes: number;
  readonly reads: readonly Read[];
}

const functionText = readFileSync(new URL('kql/functions/VmEventStates.kql', import.meta.url), 'utf8');
const direct = /\b(VmLifecycle_CL|VmLifecycleBridge_CL|Heartbeat)\s*\| where TimeGenerated > ago\((\w+)\)/g;
const byFunction = /\bVmEventStates\(ago\((\w+)\), ago\((\w+)\)\)/g;
const mention = /\b(VmLifecycle_CL|VmLifecycleBridge_CL|Heartbeat|Vm\w+\()/g;

/** `6h` -> 360. */
const span = (text: string): number =>
  minutes(text.endsWith('d') ? `P${text}`.toUpperCase() : `PT${text}`.toUpperCase());

/** The log alerts in a text such as `alerts.yaml` that are deployed enabled and read a table of the fleet. Refuses a query whose time range cannot be read from it. */
export function alertReadsIn(yaml: string, rows: SampleRows): AlertReads[] {
  const { logAlerts } = parse(yaml) as {
    readonly logAlerts: readonly { name: string; enabled: boolean; query: string; evaluationFrequency: string }[];
  };
  return logAlerts
    .filter(({ enabled }) => enabled)
    .map(({ name, query, evaluationFrequency }) => ({
      name,
      everyMinutes: minutes(evaluationFrequency),
      reads: readsOf(name, query, rows),
    }))
    .filter(({ reads }) => reads.length > 0);
}

function readsOf(name: string, query: string, rows: SampleRows): Read[] {
  const calls = [...query.matchAll(byFunction)];
  const tables = [...query.matchAll(direct)];
  if (calls.length + tables.length < [...withoutTexts(query).matchAll(mention)].length) {
    throw new Error(`${name} in alerts.yaml reads a table without TimeGenerated > ago(…): its cost is unknown`);
  }
  const found: readonly (readonly [string | undefined, string | undefined, string])[] = [
    ...tables.map(([, table, back]) => [table, back, query] as const),
    ...calls.map(([, back]) => ['VmLifecycle_CL', back, functionText] as const),
    ...calls.map(([, , back]) => ['VmLifecycleBridge_CL', back, functionText] as const),
  ];
  return found.map(([named, back = '', text]) => {
    const table = named as keyof SampleRows;
    return { table, minutesBack: span(back), columns: columnsIn(text, Object.keys(rows[table])) };
  });
}

const withoutTexts = (query: string): string => query.replaceAll(/\/\/.*|'[^']*'|"[^"]*"/g, '');

/** Where `*` takes all of them, all; in the function it takes what was projected before. */
function columnsIn(text: string, columns: readonly string[]): string[] {
  const bare = withoutTexts(text);
  if (/, \*\)/.test(bare) && text !== functionText) return [...columns];
  const words = new Set(bare.match(/\w+/g));
  return columns.filter((column) => words.has(column));
}

/** A day of evaluations for a fleet: rows, and gigabytes of the columns that the query names, before the compression of the service. */
export function readPerDay(
  { everyMinutes, reads }: AlertReads,
  rows: SampleRows,
  {
    vms,
    recordsPerMinute,
    assumed,
  }: { readonly vms: number; readonly recordsPerMinute: number; readonly assumed: Assumptions },
): { readonly rows: number; readonly gigabytes: number } {
  const perMinute: Readonly<Record<keyof SampleRows, number>> = {
    VmLifecycle_CL: recordsPerMinute,
    VmLifecycleBridge_CL: assumed.heartbeatMinutes > 0 ? vms / assumed.heartbeatMinutes : 0,
    Heartbeat: assumed.agentHeartbeatMinutes > 0 ? vms / assumed.agentHeartbeatMinutes : 0,
  };
  const evaluations = 1440 / everyMinutes;
  const each = reads.map(({ table, minutesBack, columns }) => {
    const count = perMinute[table] * minutesBack * evaluations;
    const bytes = columns.reduce((sum, column) => sum + valueBytes(rows[table][column]), 0);
    return { rows: count, gigabytes: (count * bytes) / 1e9 };
  });
  return {
    rows: each.reduce((sum, one) => sum + one.rows, 0),
    gigabytes: each.reduce((sum, one) => sum + one.gigabytes, 0),
  };
}
