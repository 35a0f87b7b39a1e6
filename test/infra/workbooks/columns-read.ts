import { columnsOf } from '../../../infra/workbooks/preview/answer.ts';
import type { Chosen } from '../../../infra/workbooks/preview/chosen.ts';
import { isFor } from '../../../infra/workbooks/preview/draw-table.ts';
import type { Step } from '../../../infra/workbooks/preview/read-workbook.ts';
import { type Merge, type QueryContent, queryTypes } from '../../../infra/workbooks/workbook-json.ts';
import type { Kql } from '../../tools/kql/index.ts';

/** Every column that the settings of a step read by its name, with the setting. */
function readBy({ tileSettings, gridSettings, chartSettings, exportFieldName }: QueryContent): [string, string][] {
  const { titleContent, subtitleContent, leftContent, secondaryContent } = tileSettings ?? {};
  const tiles = Object.entries({ titleContent, subtitleContent, leftContent, secondaryContent });
  const { formatters = [], labelSettings = [] } = gridSettings ?? {};
  const parts = formatters.flatMap(({ formatOptions }) => formatOptions?.compositeBarSettings?.columnSettings ?? []);
  const { xAxis, yAxis = [], group } = chartSettings ?? {};
  const pairs: [string, string | undefined][] = [
    ...tiles.map(([part, content]): [string, string | undefined] => [`tile ${part}`, content?.columnMatch]),
    ...formatters.map(({ formatOptions }): [string, string | undefined] => ['link', formatOptions?.linkColumn]),
    ...parts.map(({ columnName }): [string, string] => ['part of a bar', columnName]),
    ...labelSettings.map(({ columnId }): [string, string] => ['label', columnId]),
    ['x axis', xAxis],
    ...yAxis.map((column): [string, string] => ['y axis', column]),
    ['group', group],
    ['export', exportFieldName],
  ];
  return pairs.flatMap(([setting, column]) => (column === undefined ? [] : [[setting, column]]));
}

/** Formatters that are for no column, or a regular expression that names one which is not there. */
function formattersMissing({ gridSettings }: QueryContent, given: readonly string[]): string[] {
  return (gridSettings?.formatters ?? []).flatMap((formatter) => {
    const [, names] = /^\^\((.*)\)\$$/.exec(formatter.columnMatch) ?? [];
    const wanted = names === undefined ? 1 : names.split('|').length;
    return given.filter((column) => isFor(formatter, column)).length === wanted
      ? []
      : [`formatter: ${formatter.columnMatch}`];
  });
}

/** Columns that a step reads and its query does not give, each as `setting: column`. */
export function columnsMissing(step: Step, steps: readonly Step[], kql: Kql, chosen: Chosen): string[] {
  const given = columnsOf(step, steps, kql, chosen).map(({ name }) => name);
  const missing = readBy(step.content).filter(([, column]) => !given.includes(column));
  const merged = step.content.queryType === queryTypes.merge ? mergedMissing(step, steps, kql, chosen) : [];
  return [
    ...missing.map(([setting, column]) => `${setting}: ${column}`),
    ...formattersMissing(step.content, given),
    ...merged,
  ];
}

/** Columns that a merge takes of steps that do not give them, or of steps that are not there. */
function mergedMissing(step: Step, steps: readonly Step[], kql: Kql, chosen: Chosen): string[] {
  const { merges, projectRename }: Merge = JSON.parse(step.content.query);
  const taken = [
    ...merges.flatMap((each) => [`[${each.leftTable}].${each.leftColumn}`, `[${each.rightTable}].${each.rightColumn}`]),
    ...projectRename.map(({ originalName }) => originalName),
  ];
  const given = steps
    .filter(({ tab, content }) => tab === step.tab && content.queryType !== queryTypes.merge)
    .flatMap((other) => columnsOf(other, steps, kql, chosen).map(({ name }) => `[${other.name}].${name}`));
  return taken.filter((column) => !given.includes(column)).map((column) => `merge: ${column}`);
}
