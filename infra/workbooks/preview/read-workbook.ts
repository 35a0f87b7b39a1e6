import { readFileSync } from 'node:fs';
import type { Item, QueryContent, Workbook } from '../workbook-json.ts';

/** Steps of a workbook that ask something, in their order. */
export interface Step {
  readonly name: string;
  /** Tab that shows it. */
  readonly tab: string;
  /** Per cent of the page. */
  readonly width: number;
  readonly content: QueryContent;
}

/** Reads a workbook. Throws where the file is not there or is no JSON. */
export const readWorkbook = (path: string): Workbook => JSON.parse(readFileSync(path, 'utf8'));

/** The tabs in their order. */
export const tabsOf = ({ items }: Workbook): string[] =>
  items.flatMap((item) => (item.type === 11 ? item.content.links.map(({ subTarget }) => subTarget) : []));

export const stepsOf = ({ items }: Workbook): Step[] =>
  items.flatMap((item) =>
    item.type === 3
      ? [{ name: item.name, tab: tabOf(item), width: Number(item.customWidth ?? 100), content: item.content }]
      : [],
  );

/** What is chosen before anything was clicked, by the name of the parameter. */
export const clickedIn = (steps: readonly Step[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    steps.flatMap(({ content: { exportParameterName, exportDefaultValue = '' } }) =>
      exportParameterName === undefined ? [] : [[exportParameterName, exportDefaultValue]],
    ),
  );

function tabOf({ conditionalVisibility, conditionalVisibilities = [] }: Item): string {
  const conditions = conditionalVisibility ? [conditionalVisibility] : conditionalVisibilities;
  return conditions.find(({ parameterName }) => parameterName === 'SelectedTab')?.value ?? '';
}
