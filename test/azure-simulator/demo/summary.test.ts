import { expect, test } from 'vitest';
import type { Show } from '../../../src/azure-simulator/demo/model.ts';
import { summarize, whatNext } from '../../../src/azure-simulator/demo/summary.ts';
import type { EventVerdict, Verdict } from '../../../src/azure-simulator/demo/verdict.ts';
import { toText } from '../../../src/terminal/styled-text.ts';
import { showAt } from './performance.ts';

const event = (eventId: string, eventType: string, issued: EventVerdict['issued']): EventVerdict => ({
  eventId,
  eventType,
  issued,
  onHub: issued.length,
  inTable: issued.length,
  affected: 1,
  complete: 1,
});

const verdict: Verdict = {
  events: [
    event('f', 'Freeze', ['scheduled', 'started', 'removed']),
    event('c', 'Freeze', ['scheduled', 'removed']),
    event('r', 'Reboot', ['scheduled', 'started']),
  ],
  hub: { records: 7, copies: 0 },
  table: { records: 7, copies: 1 },
  differences: [],
};

const summary = (changes: Partial<Verdict>, show: Partial<Show> = {}): string[] =>
  summarize({ ...verdict, ...changes }, { ...showAt(22), ...show }).map((row) => toText(row, false).trimEnd());

test('the summary shows for each event what was issued, what arrived and what was measured', () => {
  expect(summary({})).toEqual([
    '',
    '   Issued by Azure                        Event hub  Table',
    '   Freeze    scheduled, started, removed  3 of 3     3 of 3     Completed',
    '             frozen for 1.50 s; the bridge itself measured 1.48 s',
    '   Freeze 2  scheduled, removed           2 of 2     2 of 2     Canceled',
    '   Reboot    scheduled, started           2 of 2     2 of 2     Started',
    '             actual notice: 3.00 s',
    '',
    '   They agree: 7 steps, 7 records on the event hub and 7 in the table;',
    '   none is missing.',
    '   1 arrived again with the same recordId: the bridge was killed before it',
    '   received the acknowledgement.',
    '',
  ]);
});

test('the summary shows each difference instead of agreement', () => {
  const lines = summary({ differences: ['Freeze f: step "end" is missing in the table.'] });
  expect(lines.slice(-3)).toEqual(['', '   Freeze f: step "end" is missing in the table.', '']);
  expect(lines.join('\n')).not.toContain('agree');
});

test('no line of the summary is wider than the smallest terminal', () => {
  expect(Math.max(...summary({}).map((line) => line.length))).toBeLessThanOrEqual(80);
});

test('the summary mentions that the system cannot freeze a process', () => {
  expect(summary({}, { bridge: [{ state: 'running', from: 1 }] })[3]).toBe(
    '             not frozen: this system has no signal for it',
  );
});

const built = '/clone/dist/scheduled-events-simulator.cjs';

test.for([
  { entry: '/src/main.ts', from: '/', simulate: 'npm start -- simulate', demo: 'npm run demo -- --fleet' },
  {
    entry: '/opt/bin/simulator.cjs',
    from: '/',
    simulate: 'scheduled-events-simulator simulate',
    demo: 'scheduled-events-simulator demo --fleet',
  },
  {
    entry: built,
    from: '/clone',
    simulate: 'node dist/scheduled-events-simulator.cjs simulate',
    demo: 'node dist/scheduled-events-simulator.cjs demo --fleet',
  },
  {
    entry: built,
    from: '/tmp/a/b',
    simulate: 'scheduled-events-simulator simulate',
    demo: 'scheduled-events-simulator demo --fleet',
  },
])('the next commands start $entry again from $from, within 80 columns', ({ entry, from, simulate, demo }) => {
  const next = whatNext(entry, from);
  expect(next).toContain(`\n            ${simulate} freeze\n`);
  expect(next).toContain(`\n            ${demo} 200\n`);
  expect(next).toContain(`\n            ${demo.replace('--fleet', '--web')}\n`);
  expect(Math.max(...next.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
});
