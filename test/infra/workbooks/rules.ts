import { stepsOf, tabsOf } from '../../../infra/workbooks/preview/read-workbook.ts';
import { type Item, queryTypes, type Workbook } from '../../../infra/workbooks/workbook-json.ts';

/** What a parameter, an exported column or the tab bar gives to the steps. */
function parametersOf({ items }: Workbook): Set<string> {
  return new Set(
    items.flatMap((item) => {
      if (item.type === 9) return item.content.parameters.map(({ name }) => name);
      if (item.type === 11) return item.content.links.map(({ cellValue }) => cellValue);
      return item.type === 3 && item.content.exportParameterName ? [item.content.exportParameterName] : [];
    }),
  );
}

const duplicates = (names: readonly string[]): string[] => names.filter((name, index) => names.indexOf(name) !== index);

const conditionsOf = ({ conditionalVisibility, conditionalVisibilities = [] }: Item) =>
  conditionalVisibility ? [conditionalVisibility] : conditionalVisibilities;

/** Names of the pipe's sources and operators, without blanks and comments: what is left of a query that asks nothing. */
const opening = (query: string): string => query.replace(/^\s*\/\/.*$/gm, '').trim();

/**
 * `stepsOfTab`: only the steps of one tab are asked, so each tab is held to what a workbook should have at most.
 * `bytes`: Bicep loads 131,072 characters.
 */
const most = {
  steps: 100,
  stepsOfTab: 30,
  graphQueries: 15,
  logQueries: 40,
  queryLength: 3_000,
  bytes: 120_000,
  name: 100,
} as const;

/**
 * The rules that Microsoft's own workbooks are held to; each gives what breaks it.
 * https://github.com/microsoft/Application-Insights-Workbooks/blob/master/Documentation/Contributing.md
 */
export const rules = {
  'no id of a resource stands inside': ({ text }) =>
    [...text.matchAll(/\/subscriptions\/[0-9a-f]{8}-[^"\\]*/gi)].map(([id]) => id),
  'it is not a copy of a template': ({ text }) => (text.includes('fromTemplateId') ? ['fromTemplateId'] : []),
  'every step has a name of its own': ({ workbook }) => {
    const names = workbook.items.map(({ name }) => name ?? '');
    const unnamed = names.filter(
      (name) => /^$|^(query|text|parameters|group|links) - \d+$/.test(name) || name.length > most.name,
    );
    return [...unnamed, ...duplicates(names)];
  },
  'every parameter has a label and an id of its own': ({ workbook }) => {
    const parameters = workbook.items.flatMap((item) => (item.type === 9 ? item.content.parameters : []));
    const unlabelled = parameters.filter(({ label }) => !label).map(({ name }) => name);
    return [
      ...unlabelled,
      ...duplicates(parameters.map(({ id }) => id)),
      ...duplicates(parameters.map(({ name }) => name)),
    ];
  },
  'every step has a title and says when it has nothing to show': ({ workbook }) =>
    stepsOf(workbook)
      .filter(({ content }) => !content.title || !content.noDataMessage)
      .map(({ name }) => name),
  'no two steps have one title': ({ workbook }) => duplicates(stepsOf(workbook).map(({ content }) => content.title)),
  'a query is short': ({ workbook }) =>
    stepsOf(workbook)
      .filter(({ content }) => content.query.length > most.queryLength)
      .map(({ name }) => name),
  'a query asks a table': ({ workbook }) =>
    stepsOf(workbook)
      .filter(({ content }) => /^(print|datatable)\b|^\{\w+\}$/.test(opening(content.query)))
      .map(({ name }) => name),
  'a query names no parameter without a value': ({ workbook }) => {
    const known = parametersOf(workbook);
    return stepsOf(workbook).flatMap(({ name, content }) => {
      if (content.queryType === queryTypes.merge) return [];
      const named = [...content.query.matchAll(/\{(\w+)(?::\w+)?\}/g)].map(([, parameter = '']) => parameter);
      return named.filter((parameter) => !known.has(parameter)).map((parameter) => `${name}: ${parameter}`);
    });
  },
  'a step is shown on a tab that is there': ({ workbook }) => {
    const tabs = tabsOf(workbook);
    return workbook.items.flatMap((item) =>
      conditionsOf(item).flatMap(({ parameterName, value = '' }) =>
        parameterName === 'SelectedTab' && !tabs.includes(value) ? [`${item.name}: ${value}`] : [],
      ),
    );
  },
  'every tab shows something': ({ workbook }) => {
    const shown = new Set(stepsOf(workbook).map(({ tab }) => tab));
    return tabsOf(workbook).filter((tab) => !shown.has(tab));
  },
  'there are not too many steps and queries': ({ workbook }) => {
    const steps = stepsOf(workbook);
    const count = (type: number): number => steps.filter(({ content }) => content.queryType === type).length;
    return [
      workbook.items.length > most.steps ? `${workbook.items.length} steps` : '',
      count(queryTypes.logs) > most.logQueries ? `${count(queryTypes.logs)} queries of the workspace` : '',
      count(queryTypes.graph) > most.graphQueries ? `${count(queryTypes.graph)} queries of Resource Graph` : '',
      ...tabsOf(workbook).map((tab) => {
        const shown = steps.filter((step) => step.tab === tab).length;
        return shown > most.stepsOfTab ? `${shown} steps of the tab ${tab}` : '';
      }),
    ].filter((what) => what !== '');
  },
  'the file is small': ({ text }) => (Buffer.byteLength(text) > most.bytes ? [`${Buffer.byteLength(text)} bytes`] : []),
  'a query goes to what was chosen': ({ workbook }) =>
    stepsOf(workbook)
      .filter(({ content: { queryType, crossComponentResources: [where] = [] } }) => {
        const expected = { [queryTypes.logs]: '{Workspace}', [queryTypes.graph]: '{Subscription}' }[queryType];
        return where !== expected;
      })
      .map(({ name }) => name),
} as const satisfies Readonly<
  Record<string, (read: { readonly text: string; readonly workbook: Workbook }) => readonly string[]>
>;
