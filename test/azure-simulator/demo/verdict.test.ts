import { expect, test } from 'vitest';
import { compare, type Held, type Said } from '../../../src/azure-simulator/demo/verdict.ts';
import type { Phase } from '../../../src/lifecycle/record.ts';

const said = (...steps: Said['step'][]): Said[] => steps.map((step) => ({ eventId: 'A1', eventType: 'Reboot', step }));
/** `Started` or, with another id, `Started#2`. */
const held = (...ids: string[]): Held[] =>
  ids.map((id) => ({ recordId: id, eventId: 'a1', eventType: 'Reboot', phase: (id.split('#')[0] ?? '') as Phase }));

const wholeLife = said('scheduled', 'started', 'removed');
const wholeStory = held('Scheduled', 'Started', 'Completed');

test.for([
  { name: 'every step once at each is agreement', hub: wholeStory, table: wholeStory, complaints: [] },
  {
    name: 'a copy is no complaint',
    hub: wholeStory,
    table: [...wholeStory, ...held('Started')],
    complaints: [],
  },
  {
    name: 'a step that one destination lacks is missing there',
    hub: wholeStory,
    table: held('Scheduled', 'Completed'),
    complaints: ['Reboot A1: its step “started” is missing in the table.'],
  },
  {
    name: 'two different records of one step are one too many',
    hub: [...wholeStory, ...held('Started#2')],
    table: wholeStory,
    complaints: [
      'Reboot A1: its step “started” is 2 records on the event hub, where 1 should be.',
      'Reboot A1: the event hub and the table hold different records of its step “started”.',
    ],
  },
  {
    name: 'a step that Azure never said is a complaint',
    hub: [...wholeStory, ...held('Updated')],
    table: [...wholeStory, ...held('Updated')],
    complaints: [
      'Reboot A1: its step “updated” is on the event hub, but Azure never said it.',
      'Reboot A1: its step “updated” is in the table, but Azure never said it.',
    ],
  },
  {
    name: 'an end that the destinations tell differently is a complaint',
    hub: wholeStory,
    table: held('Scheduled', 'Started', 'Ended'),
    complaints: ['Reboot A1: the event hub and the table hold different records of its step “end”.'],
  },
])('$name', ({ hub, table, complaints }) => {
  expect(compare(wholeLife, hub, table).complaints).toEqual(complaints);
});

test('an event that changed twice has two records of that step', () => {
  const changed = said('scheduled', 'updated', 'updated');
  const both = held('Scheduled', 'Updated', 'Updated#2');
  expect(compare(changed, both, both).complaints).toEqual([]);
  expect(compare(changed, held('Scheduled', 'Updated'), both).complaints).toEqual([
    'Reboot A1: its step “updated” is 1 record on the event hub, where 2 should be.',
  ]);
});

test('records about an event that Azure never issued are a complaint', () => {
  expect(compare([], held('Scheduled'), []).complaints).toEqual([
    'Reboot a1: its step “scheduled” is on the event hub, but Azure never said it.',
  ]);
});

test('what was held is counted once, and what came again beside it', () => {
  const verdict = compare(wholeLife, wholeStory, [...wholeStory, ...wholeStory]);
  expect(verdict.events).toEqual([
    { eventId: 'A1', eventType: 'Reboot', said: ['scheduled', 'started', 'removed'], onHub: 3, inTable: 3 },
  ]);
  expect([verdict.hub, verdict.table]).toEqual([
    { records: 3, copies: 0 },
    { records: 3, copies: 3 },
  ]);
});
