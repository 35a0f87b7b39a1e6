import { expect, test } from 'vitest';
import { colours, eventTypes } from '../../../infra/workbooks/colours.ts';
import { workbookPath } from '../../../infra/workbooks/dashboards.ts';
import { jsonLines, jsonText } from '../../../infra/workbooks/json-text.ts';
import { type Answer, answering } from '../../../infra/workbooks/preview/answer.ts';
import { momentText, numberText } from '../../../infra/workbooks/preview/figures.ts';
import { drawPage } from '../../../infra/workbooks/preview/page.ts';
import { readWorkbook, type Step, stepsOf, tabsOf } from '../../../infra/workbooks/preview/read-workbook.ts';
import { type GridSettings, type Merge, queryTypes } from '../../../infra/workbooks/workbook-json.ts';
import { openKql } from '../../tools/kql/index.ts';

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
const reported = asked('reported', 'datatable(Id:string, Event:string) ["b", "Reboot"]');
const merge = (mergeType: 'leftouter' | 'leftanti'): Merge => ({
  version: 'Merge/1.0',
  merges: [{ id: 'm', mergeType, leftTable: 'vms', rightTable: 'reported', leftColumn: 'Id', rightColumn: 'Id' }],
  projectRename: [
    { originalName: '[vms].Id', mergedName: 'Vm', fromId: 'm' },
    { originalName: '[reported].Event', mergedName: 'Event', fromId: 'm' },
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
  const answerNamed = answering([vms, reported, merging], kql, { days: 14, now, clicked: {} }, {});
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

test('the page shows every tab and every question, and marks empty answers', () => {
  const workbook = readWorkbook(workbookPath);
  const steps = stepsOf(workbook);
  const page = drawPage(
    tabsOf(workbook),
    steps.map((step) => ({ step, answer: { columns: [], rows: [] } })),
    'a demo fleet',
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

const tableOf = (formatters: GridSettings['formatters']): Step => ({
  ...vms,
  content: { ...vms.content, gridSettings: { formatters, filter: true, labelSettings: [] } },
});
const textOf = (step: Step, answer: Answer): string => drawPage(['Availability'], [{ step, answer }], '');

test('a bar of several parts is drawn with the share and the colour of each', () => {
  const columns = ['Vm', 'Lane', 'Notice', 'Away'].map((name) => ({ name, type: name === 'Vm' ? 'string' : 'real' }));
  const step = tableOf([
    {
      columnMatch: 'Lane',
      formatter: 22,
      formatOptions: {
        compositeBarSettings: {
          labelText: '',
          columnSettings: [
            { columnName: 'Notice', color: 'blue' },
            { columnName: 'Away', color: 'redBright' },
          ],
        },
      },
    },
    { columnMatch: 'Notice', formatter: 5 },
    { columnMatch: 'Away', formatter: 5 },
  ]);
  const drawn = textOf(step, { columns, rows: [{ Vm: 'web_0', Lane: null, Notice: 30, Away: 10 }] });
  expect(drawn).toContain(
    '<i style="width:75.00%;background:#4f9bd9"></i><i style="width:25.00%;background:#c4314b"></i>',
  );
  expect(drawn).not.toContain('<th class="number">Notice</th>');
});

test('columns of one regular expression share one scale of colours', () => {
  const columns = ['00', '01'].map((name) => ({ name, type: 'long' }));
  const drawn = textOf(tableOf([{ columnMatch: '^(00|01)$', formatter: 8 }]), {
    columns,
    rows: [{ '00': 4, '01': 100 }],
  });
  expect(drawn).toContain('rgba(240,140,10,0.15)">4<');
  expect(drawn).toContain('rgba(240,140,10,0.75)">100<');
});

test('a cell has the colour of the worst event that it names', () => {
  const drawn = textOf(
    tableOf([
      {
        columnMatch: 'Today',
        formatter: 18,
        formatOptions: {
          thresholdsOptions: 'colors',
          thresholdsGrid: eventTypes.map((type) => ({
            operator: 'contains',
            thresholdValue: type,
            representation: colours[type]?.workbook ?? '',
            text: '{0}{1}',
          })),
        },
      },
    ]),
    { columns: [{ name: 'Today', type: 'string' }], rows: [{ Today: '12:03 Freeze, 12:10 Reboot' }] },
  );
  expect(drawn).toContain('<span class="tag" style="background:#f0a30a">12:03 Freeze, 12:10 Reboot</span>');
});

test('a series has the colour that the settings give it', () => {
  const step: Step = {
    ...vms,
    content: {
      ...vms.content,
      visualization: 'areachart',
      chartSettings: {
        xAxis: 'Time',
        yAxis: ['down'],
        seriesLabelSettings: [{ seriesName: 'down', color: 'redBright' }],
      },
    },
  };
  const columns = [
    { name: 'Time', type: 'datetime' },
    { name: 'down', type: 'long' },
  ];
  const rows = [0, 1].map((down) => ({ Time: `2026-03-15T10:0${down}:00.0000000Z`, down }));
  expect(textOf(step, { columns, rows })).toMatch(/stroke="#c4314b"/);
});

test('the values of a row are text on the page, never markup', () => {
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
    name: 'a list of plain values is on one line',
    value: { a: ['x', 1, null] },
    text: '{\n  "a": ["x", 1, null]\n}\n',
  },
  {
    name: 'a list that is too long for a line is on several',
    value: ['x'.repeat(70), 'y'.repeat(70)],
    text: `[\n  "${'x'.repeat(70)}",\n  "${'y'.repeat(70)}"\n]\n`,
  },
  { name: 'an undefined value is omitted', value: { a: undefined, b: {} }, text: '{\n  "b": {}\n}\n' },
])('$name, as JSON text', ({ value, text }) => {
  expect(jsonText(value)).toBe(text);
  expect(JSON.parse(jsonText(value))).toEqual(JSON.parse(JSON.stringify(value)));
});

test('the workbook has a line for each of its steps', () => {
  const value = { version: 'x', items: [{ name: 'a', content: { size: 0 } }, { name: 'b' }] };
  expect(jsonLines(value)).toBe(
    '{\n"version": "x",\n"items": [\n{"name":"a","content":{"size":0}},\n{"name":"b"}\n]\n}\n',
  );
});
