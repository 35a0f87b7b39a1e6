import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withMacros } from '../../../infra/grafana/macros.ts';
import { grafanaPath, workbookPath } from '../../../infra/workbooks/dashboards.ts';
import { answering } from '../../../infra/workbooks/preview/answer.ts';
import { clickedIn, readWorkbook, stepsOf } from '../../../infra/workbooks/preview/read-workbook.ts';
import { resourceGraph } from '../../../infra/workbooks/preview/resource-graph.ts';
import { root } from '../../support/source-tree.ts';
import { type GivenRow, type Kql, openKql } from '../../tools/kql/index.ts';
import { asking, clicked } from '../grafana/rules.ts';
import type { Case } from './case.ts';
import { otherCases } from './other-cases.ts';
import { setCases, wave } from './set-cases.ts';
import { tiles } from './tile-cases.ts';
import { moment, rowsOf } from './timeline.ts';

const steps = stepsOf(readWorkbook(workbookPath));

const functionsFrom = [join(root, 'infra/kql/functions')];
const workspace = openKql({ functionsFrom });
/** `web_20` is unavailable there since 90 minutes before `now`. */
const besideResourceGraph = (heartbeats: readonly GivenRow[], now: Date): Kql =>
  openKql({ functionsFrom, functions: resourceGraph(heartbeats, now) });

/** The answer of a panel of the workbook at noon of 15 March, 14 days back. */
function answerOf({ panel, timeline, now: text = '15 12:00:00', columns }: Omit<Case, 'rows' | 'name'>): unknown[][] {
  const now = moment(text);
  const rows = rowsOf(timeline);
  const kql = panel === 'was-it-announced' ? besideResourceGraph(rows.VmLifecycleBridge_CL, now) : workspace;
  const chosen = { days: 14, now, clicked: clickedIn(steps) };
  const answer = answering(steps, kql, chosen, kql.load(rows))(panel);
  return answer.rows.map((row) => columns.map((column) => shortened(row[column])));
}

/** A time of 15 March to the second, of another day with the day. */
const shortened = (cell: unknown): unknown => {
  const [, day, time] = /^2026-03-(\d\d)[T ](\d\d:\d\d:\d\d)/.exec(typeof cell === 'string' ? cell : '') ?? [];
  if (time === undefined) return typeof cell === 'number' ? Math.round(cell * 100) / 100 : cell;
  return day === '15' ? time : `${day} ${time}`;
};

test.for(tiles)('tiles: $name', ({ timeline, values }) => {
  expect(answerOf({ panel: 'now', timeline, columns: ['Value'] }).flat()).toEqual(values);
});

test.for([...setCases, ...otherCases])('$panel: $name', ({ columns, rows, ...asked }) => {
  expect(answerOf({ columns, ...asked })).toEqual(rows);
});

// 1 announced, 2 in progress, 3 down, 0 over. web_2 was down from the start of its event, web_3 has not ended.
test('in Grafana each lane of a wave is the states of a VM over time', () => {
  const now = moment('15 12:00:00');
  const panel = asking(JSON.parse(readFileSync(grafanaPath, 'utf8'))).find(({ type }) => type === 'state-timeline');
  const query = withMacros(panel?.targets?.[0]?.azureLogAnalytics?.query ?? '', moment('01 12:00:00'), now, clicked);
  const { rows } = workspace.execute(query, { tables: rowsOf(wave), now: now.toISOString() });
  expect(rows.map((row) => row.map(shortened).join(' '))).toEqual([
    '09:45:00 web_0 1',
    '09:45:00 web_1 1',
    '10:00:00 web_0 3',
    '10:00:00 web_1 3',
    '10:01:30 web_0 2',
    '10:01:30 web_1 2',
    '10:10:00 web_0 0',
    '10:10:00 web_1 0',
    '10:15:00 web_2 1',
    '10:15:00 web_3 1',
    '10:30:00 web_2 3',
    '10:31:00 web_3 2',
    '10:33:00 web_2 2',
    '10:40:00 web_2 0',
  ]);
});
