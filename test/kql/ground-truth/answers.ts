import { join } from 'node:path';
import { root } from '../../support/source-tree.ts';
import { type GivenRow, type LoadedTables, openKql } from '../../tools/kql/index.ts';
import { textOf } from '../queries/pack.ts';
import { fleetOf } from './fleet.ts';
import { type Tables, tablesOf } from './rows.ts';
import { type Fleet, type Ms, second } from './truth.ts';

/** What a cell has to be: this very value, a time or a number near to it, or one of several. */
export type Wanted =
  | string
  | number
  | boolean
  | null
  | readonly string[]
  | Near
  | { readonly among: readonly string[] };

interface Near {
  readonly near: Ms;
  readonly within: number;
}

/** A time by Azure's clock: bridges poll once a second, and clock errors are known to the second. */
export const around = (near: Ms, within: Ms = 4 * second): Near => ({ near, within });

export type Row = Readonly<Record<string, Wanted>>;

const kql = openKql({ functionsFrom: [join(root, 'infra/kql/functions')] });

interface WrittenFleet {
  readonly fleet: Fleet;
  readonly written: Tables;
  readonly loaded: LoadedTables;
}

const writtenFleets = new Map<number, WrittenFleet>();

/** The fleet of a seed, written and loaded once per process. */
function writtenFleet(seed: number): WrittenFleet {
  const known = writtenFleets.get(seed);
  if (known) return known;
  const fleet = fleetOf(seed);
  const written = tablesOf(fleet, seed);
  const made = { fleet, written, loaded: kql.load(written) };
  writtenFleets.set(seed, made);
  return made;
}

/** A fleet with its tables, on which queries run; `isLost` removes rows of records. */
export function openFleet(seed: number, isLost?: (row: GivenRow) => boolean) {
  const { fleet, written, loaded } = writtenFleet(seed);
  const isKept = (table: string, place: number): boolean =>
    table !== 'VmLifecycle_CL' || !isLost?.(written.VmLifecycle_CL[place] ?? {});
  const tables = isLost ? kql.select(loaded, isKept) : loaded;
  const asked = new Date(fleet.now).toISOString();

  /** Rows of a query of the pack, or of what it becomes when a person replaces texts in it. */
  function ask(query: string, ...edits: readonly (readonly [string, string])[]): Record<string, unknown>[] {
    const text = edits.reduce((before, [from, to]) => {
      if (!before.includes(from)) throw new Error(`${query} does not hold ${from}`);
      return before.replace(from, to);
    }, textOf(query));
    const { columns, rows } = kql.execute(text, { tables, now: asked });
    return rows.map((row) => Object.fromEntries(columns.map(({ name }, place) => [name, row[place]])));
  }
  return { fleet, ask };
}

/** The differences, as sentences: each expected row has to be in the answer once, and nothing else. Order is ignored. */
export function differences(answer: readonly Readonly<Record<string, unknown>>[], wanted: readonly Row[]): string[] {
  const left = [...answer];
  const missing = wanted.filter((row) => {
    const place = left.findIndex((given) => Object.entries(row).every(([column, cell]) => fits(given[column], cell)));
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
  const columns = Object.keys(wanted[0] ?? answer[0] ?? {});
  const shown = (row: Readonly<Record<string, unknown>>): string =>
    columns.map((name) => cellText(row[name])).join(' | ');
  return [...missing.map((row) => `missing: ${shown(row)}`), ...left.map((row) => `not wanted: ${shown(row)}`)];
}

const cellText = (cell: unknown): string =>
  isNear(cell)
    ? cell.near > 1e12
      ? new Date(cell.near).toISOString()
      : `about ${cell.near}`
    : JSON.stringify(cell ?? null);

const isNear = (cell: unknown): cell is Near => typeof cell === 'object' && cell !== null && 'near' in cell;

function fits(given: unknown, wanted: Wanted): boolean {
  if (isNear(wanted)) {
    const value = typeof given === 'string' ? Date.parse(given) : given;
    return typeof value === 'number' && Math.abs(value - wanted.near) <= wanted.within;
  }
  if (typeof wanted === 'object' && wanted !== null && 'among' in wanted) return wanted.among.includes(String(given));
  if (wanted === null) return given === null || given === '' || given === undefined;
  return JSON.stringify(given) === JSON.stringify(wanted);
}
