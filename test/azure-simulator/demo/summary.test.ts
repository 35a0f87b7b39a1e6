import { expect, test } from 'vitest';
import type { Show } from '../../../src/azure-simulator/demo/model.ts';
import { toText } from '../../../src/azure-simulator/demo/picture/ink.ts';
import { summarize, whatNext } from '../../../src/azure-simulator/demo/summary.ts';
import type { Verdict } from '../../../src/azure-simulator/demo/verdict.ts';
import { showAt } from './performance.ts';

const verdict: Verdict = {
  events: [
    { eventId: 'f', eventType: 'Freeze', said: ['scheduled', 'started', 'removed'], onHub: 3, inTable: 3 },
    { eventId: 'c', eventType: 'Freeze', said: ['scheduled', 'removed'], onHub: 2, inTable: 2 },
    { eventId: 'r', eventType: 'Reboot', said: ['scheduled', 'started'], onHub: 2, inTable: 2 },
  ],
  hub: { records: 7, copies: 0 },
  table: { records: 7, copies: 1 },
  complaints: [],
};

const summary = (changes: Partial<Verdict>, show: Partial<Show> = {}): string[] =>
  summarize({ ...verdict, ...changes }, { ...showAt(22), ...show }).map((row) => toText(row, false).trimEnd());

test('the summary tells of each event what was said, what is held and what was measured', () => {
  expect(summary({})).toEqual([
    '',
    '   What Azure said                        Event hub  Table',
    '   Freeze    scheduled, started, removed  3 of 3     3 of 3     Completed',
    '             it stood still for 1.50 s and measured that on itself: 1.48 s',
    '   Freeze 2  scheduled, removed           2 of 2     2 of 2     Canceled',
    '   Reboot    scheduled, started           2 of 2     2 of 2     Started',
    '             the notice really given: 3.00 s',
    '',
    '   They agree: 7 steps, 7 records on the event hub and 7 in the table;',
    '   none is missing.',
    '   1 came again under the same recordId: kill -9 came before its answer.',
    '',
  ]);
});

test('the summary says what is missing instead of that they agree', () => {
  const lines = summary({ complaints: ['Freeze f: its step “end” is missing in the table.'] });
  expect(lines.slice(-3)).toEqual(['', '   Freeze f: its step “end” is missing in the table.', '']);
  expect(lines.join('\n')).not.toContain('agree');
});

test('no line of the summary is wider than the smallest terminal', () => {
  expect(Math.max(...summary({}).map((line) => line.length))).toBeLessThanOrEqual(80);
});

test('where nothing can be frozen the summary says so', () => {
  expect(summary({}, { bridge: [{ state: 'running', from: 1 }] })[3]).toBe(
    '             nothing stood still: this system has no signal for it',
  );
});

test.for([
  { entry: '/src/main.ts', command: 'npm start -- demo --fleet 200 ' },
  { entry: '/opt/bin/simulator.cjs', command: 'scheduled-events-simulator demo --fleet 200 ' },
])('what to do next is said as this program was started: $entry', ({ entry, command }) => {
  expect(whatNext(entry)).toContain(`   ${command}`);
});
