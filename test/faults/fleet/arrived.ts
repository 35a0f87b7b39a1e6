import type { AzureSimulator } from '../../../src/azure-simulator/index.ts';
import { hubRecords, tableRows } from '../../support/delivered.ts';
import type { Arrived } from './judge.ts';

/** What each sink has, in the order of arrival and with all copies. */
export function arrivedAt(azure: AzureSimulator): {
  readonly hub: readonly Arrived[];
  readonly table: readonly Arrived[];
} {
  const table = tableRows(azure).map(
    (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [lowerFirst(name), value])) as unknown,
  );
  return { hub: hubRecords(azure), table: table as readonly Arrived[] };
}

const lowerFirst = (name: string): string => `${name[0]?.toLowerCase()}${name.slice(1)}`;
