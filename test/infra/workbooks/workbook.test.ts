import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { dashboards, workbookPath } from '../../../infra/workbooks/dashboards.ts';
import type { Item, Workbook } from '../../../infra/workbooks/workbook-json.ts';
import { rules } from './rules.ts';

const text = readFileSync(workbookPath, 'utf8');
const workbook: Workbook = JSON.parse(text);

test.for(dashboards())(
  '$path is the current output of the panels; else run: npm run workbook',
  ({ path, text: made }) => {
    expect(readFileSync(path, 'utf8')).toBe(made);
  },
);

test.for(Object.entries(rules))('of the workbook: %s', ([, broken]) => {
  expect(workbook.items.length).toBeGreaterThan(20);
  expect(broken({ text, workbook })).toEqual([]);
});

type Rule = keyof typeof rules;

/** The workbook with its step of that name changed. */
const withStep = (name: string, change: (item: Item) => unknown): string => {
  const items = workbook.items.map((item) => (item.name === name ? change(item) : item));
  return JSON.stringify({ ...workbook, items });
};
const withContent = (name: string, content: object): string =>
  withStep(name, (item) => ({ ...item, content: { ...item.content, ...content } }));
const withParameters = (change: (parameters: readonly object[]) => readonly object[]): string =>
  withStep('parameters', (item) =>
    item.type === 9 ? { ...item, content: { ...item.content, parameters: change(item.content.parameters) } } : item,
  );
const repeated = (name: string, times: number): string => {
  const [item] = workbook.items.filter((one) => one.name === name);
  const more = Array.from({ length: times }, (_, number) => ({ ...item, name: `${name} again ${number}` }));
  return JSON.stringify({ ...workbook, items: [...workbook.items, ...more] });
};
const workspaceId =
  '/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/rg/providers/Microsoft.OperationalInsights/workspaces/log';

const planted: readonly { readonly name: string; readonly rule: Rule; readonly made: string }[] = [
  {
    name: 'a workspace is named by its id',
    rule: 'no id of a resource stands inside',
    made: withContent('announced', { crossComponentResources: [workspaceId] }),
  },
  {
    name: 'a workspace has crept into the fallback',
    rule: 'no id of a resource stands inside',
    made: JSON.stringify({ ...workbook, fallbackResourceIds: [workspaceId] }),
  },
  {
    name: 'the portal has saved it from a template',
    rule: 'it is not a copy of a template',
    made: JSON.stringify({ ...workbook, fromTemplateId: 'community-Workbooks/VMs' }),
  },
  {
    name: 'a step has the name that the portal gives',
    rule: 'every step has a name of its own',
    made: withStep('announced', (item) => ({ ...item, name: 'query - 3' })),
  },
  {
    name: 'two steps are called the same',
    rule: 'every step has a name of its own',
    made: withStep('announced', (item) => ({ ...item, name: 'in-progress' })),
  },
  {
    name: 'a parameter is without a label',
    rule: 'every parameter has a label and an id of its own',
    made: withParameters((parameters) => parameters.map((one) => ({ ...one, label: '' }))),
  },
  {
    name: 'two parameters share an id',
    rule: 'every parameter has a label and an id of its own',
    made: withParameters((parameters) => parameters.map((one) => ({ ...one, id: 'same' }))),
  },
  {
    name: 'an empty table has no text',
    rule: 'every step has a title and says when it has nothing to show',
    made: withContent('announced', { noDataMessage: '' }),
  },
  {
    name: 'two panels ask the same',
    rule: 'no two steps have one title',
    made: withContent('announced', { title: 'Are freezes getting longer?' }),
  },
  {
    name: 'a query is longer than the portal likes',
    rule: 'a query is short',
    made: withContent('announced', { query: `VmEventTimeline()${'\n| where IsOpen'.repeat(300)}` }),
  },
  {
    name: 'a query only prints',
    rule: 'a query asks a table',
    made: withContent('announced', { query: '// nothing to ask\nprint Left = 1' }),
  },
  {
    name: 'a query is nothing but a parameter',
    rule: 'a query asks a table',
    made: withContent('announced', { query: '{Workspace}' }),
  },
  {
    name: 'a query reads a parameter that does not exist',
    rule: 'a query names no parameter without a value',
    made: withParameters((parameters) => parameters.slice(0, -1)),
  },
  {
    name: 'a query reads the event that no table lets choose',
    rule: 'a query names no parameter without a value',
    made: withStep('events', (item) => ({ ...item, type: 1 })),
  },
  {
    name: 'a step waits for a tab that was renamed',
    rule: 'a step is shown on a tab that is there',
    made: text.replaceAll('"value":"Upcoming"', '"value":"Soon"'),
  },
  {
    name: 'a tab is empty',
    rule: 'every tab shows something',
    made: text.replaceAll('"value":"Upcoming"', '"value":"Overview"'),
  },
  {
    name: 'there are 45 more tables',
    rule: 'there are not too many steps and queries',
    made: repeated('announced', 45),
  },
  { name: 'the file has grown', rule: 'the file is small', made: repeated('now', 40) },
  {
    name: 'a query goes to every workspace there is',
    rule: 'a query goes to what was chosen',
    made: withContent('announced', { crossComponentResources: ['value::all'] }),
  },
  {
    name: 'a query of Resource Graph goes to the workspace',
    rule: 'a query goes to what was chosen',
    made: withContent('states', { crossComponentResources: ['{Workspace}'] }),
  },
];

test.for(planted)('the rules for workbooks see it when $name', ({ rule, made }) => {
  expect(rules[rule]({ text: made, workbook: JSON.parse(made) })).not.toEqual([]);
});

test('every rule for workbooks is shown to find something', () => {
  expect([...new Set(planted.map(({ rule }) => rule))].sort()).toEqual(Object.keys(rules).sort());
});
