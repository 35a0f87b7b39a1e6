import { expect, test } from 'vitest';
import { workbookPath } from '../../../infra/workbooks/dashboards.ts';
import { jsonText } from '../../../infra/workbooks/json-text.ts';
import { answering } from '../../../infra/workbooks/preview/answer.ts';
import { momentText, numberText } from '../../../infra/workbooks/preview/figures.ts';
import { drawPage } from '../../../infra/workbooks/preview/page.ts';
import { readWorkbook, type Step, stepsOf, tabsOf } from '../../../infra/workbooks/preview/read-workbook.ts';
import { type Merge, queryTypes } from '../../../infra/workbooks/workbook-json.ts';
import { openKql } from '../../support/kql/index.ts';

const now = new Date('2026-03-15T12:00:00Z');

const asked = (name: string, query: string, queryType: number = queryTypes.logs): Step => ({
  name,
  tab: 'Availability',
  width: 100,
  content: {
    version: 'KqlItem/1.0',
    query,
    size: 0,
    title: name,
    noDataMessage: 'None.',
    queryType,
    visualization: 'table',
  },
});

const vms = asked('vms', 'datatable(Id:string, State:string) ["a", "up", "b", "down", "c", "down"]');
const told = asked('told', 'datatable(Id:string, Event:string) ["b", "Reboot"]');
const merge = (mergeType: 'leftouter' | 'leftanti'): Merge => ({
  version: 'Merge/1.0',
  merges: [{ id: 'm', mergeType, leftTable: 'vms', rightTable: 'told', leftColumn: 'Id', rightColumn: 'Id' }],
  projectRename: [
    { originalName: '[vms].Id', mergedName: 'Vm', fromId: 'm' },
    { originalName: '[told].Event', mergedName: 'Event', fromId: 'm' },
  ],
});

test.for([
  {
    name: 'an outer merge keeps what the other step does not know',
    mergeType: 'leftouter',
    rows: [
      { Vm: 'a', Event: null },
      { Vm: 'b', Event: 'Reboot' },
      { Vm: 'c', Event: null },
    ],
  },
  {
    name: 'an anti merge keeps only what the other step does not know',
    mergeType: 'leftanti',
    rows: [
      { Vm: 'a', Event: null },
      { Vm: 'c', Event: null },
    ],
  },
] as const)('$name', ({ mergeType, rows }) => {
  const merging = asked('merged', JSON.stringify(merge(mergeType)), queryTypes.merge);
  const kql = openKql();
  const answerNamed = answering([vms, told, merging], kql, { days: 14, now, eventId: '' }, {});
  expect(answerNamed('merged').rows).toEqual(rows);
});

test.for([
  [0, 24, '0'],
  [0.35, 24, '350 ms'],
  [90, 24, '90 s'],
  [900, 24, '15 min'],
  [-4, 24, '-4 s'],
  [3 * 86_400, 24, '3 d'],
  [25_000, 23, '25 s'],
  [1234.56, 17, '1,234.6'],
] as const)('%d in the unit %d is shown as %s', ([value, unit, text]) => {
  expect(numberText(value, { unit, options: {} })).toBe(text);
});

test('the page shows every tab and every question, and says where there is nothing', () => {
  const workbook = readWorkbook(workbookPath);
  const steps = stepsOf(workbook);
  const page = drawPage(
    tabsOf(workbook),
    steps.map((step) => ({ step, answer: { columns: [], rows: [] } })),
    'nobody',
  );
  for (const tab of tabsOf(workbook)) expect(page).toContain(`<h2>${tab}</h2>`);
  for (const { content } of steps) expect(page).toContain(content.title);
  for (const { content } of steps) expect(page).toContain(content.noDataMessage);
});

test('a chart is drawn with its names and figures, a table with its signs, bars and labels', () => {
  const chart: Step = {
    ...asked('chart', ''),
    content: {
      ...asked('chart', '').content,
      visualization: 'barchart',
      chartSettings: { xAxis: 'Day', yAxis: ['VMs'], group: 'EventType' },
    },
  };
  const rows = [
    { Day: '2026-03-04T00:00:00.0000000Z', EventType: 'Reboot', VMs: 36 },
    { Day: '2026-03-05T00:00:00.0000000Z', EventType: 'Freeze', VMs: 7 },
  ];
  const columns = [
    { name: 'Day', type: 'datetime' },
    { name: 'EventType', type: 'string' },
    { name: 'VMs', type: 'long' },
  ];
  const table: Step = {
    ...chart,
    content: {
      ...chart.content,
      visualization: 'table',
      gridSettings: {
        formatters: [
          { columnMatch: 'VMs', formatter: 4 },
          {
            columnMatch: 'EventType',
            formatter: 18,
            formatOptions: {
              thresholdsGrid: [{ operator: '==', thresholdValue: 'Reboot', representation: '2', text: '{0}' }],
            },
          },
        ],
        filter: true,
        labelSettings: [{ columnId: 'VMs', label: 'Touched' }],
      },
    },
  };
  const answer = { columns, rows };
  const drawn = drawPage(
    ['Availability'],
    [chart, table].map((step) => ({ step, answer })),
    'two',
  );
  expect(drawn).toMatch(/<svg[\s\S]*Reboot[\s\S]*<\/svg>/);
  expect(drawn).toContain('4 Mar');
  expect(drawn).toContain('>Touched</th>');
  expect(drawn).toContain('<i class="sign watch"></i>Reboot');
  expect(drawn).toContain('<i style="width:64px"></i>36');
  expect(drawn).toContain(momentText(rows[0]?.Day));
});

test('what a row says is text on the page, never markup', () => {
  const step = {
    ...vms,
    content: { ...vms.content, gridSettings: { formatters: [], filter: true, labelSettings: [] } },
  };
  const columns = [{ name: 'Id', type: 'string' }];
  const page = drawPage(['Availability'], [{ step, answer: { columns, rows: [{ Id: '<script>' }] } }], '');
  expect(page).not.toContain('<script>');
});

test.for([
  {
    name: 'a list of plain values stands on one line',
    value: { a: ['x', 1, null] },
    text: '{\n  "a": ["x", 1, null]\n}\n',
  },
  {
    name: 'a list that is too long for a line stands on many',
    value: ['x'.repeat(70), 'y'.repeat(70)],
    text: `[\n  "${'x'.repeat(70)}",\n  "${'y'.repeat(70)}"\n]\n`,
  },
  { name: 'what is not there is left out', value: { a: undefined, b: {} }, text: '{\n  "b": {}\n}\n' },
])('as JSON text, $name', ({ value, text }) => {
  expect(jsonText(value)).toBe(text);
  expect(JSON.parse(jsonText(value))).toEqual(JSON.parse(JSON.stringify(value)));
});
