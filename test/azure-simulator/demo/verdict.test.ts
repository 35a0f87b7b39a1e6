import { expect, test } from 'vitest';
import type { SentRecord } from '../../../src/azure-simulator/demo/model.ts';
import { compare, type Issued } from '../../../src/azure-simulator/demo/verdict.ts';
import type { Phase } from '../../../src/lifecycle/record.ts';
import { sentRecord } from './performance.ts';

const issued = (...steps: Issued['step'][]): Issued[] =>
  steps.map((step) => ({ eventId: 'A1', eventType: 'Reboot', step, resources: ['web_0'] }));
/** `Started` or, with another id, `Started#2`. */
const held = (...ids: string[]): SentRecord[] =>
  ids.map((id) => sentRecord('a1', 'Reboot', (id.split('#')[0] ?? '') as Phase, { recordId: id, transitionId: id }));

const steps = issued('scheduled', 'started', 'removed');
const records = held('Scheduled', 'Started', 'Completed');

test.for([
  { name: 'every step once at each destination is agreement', hub: records, table: records, differences: [] },
  { name: 'a copy is no difference', hub: records, table: [...records, ...held('Started')], differences: [] },
  {
    name: 'a step that one destination lacks is missing there',
    hub: records,
    table: held('Scheduled', 'Completed'),
    differences: [
      'Reboot A1: step "started" is missing in the table.',
      '1 record is on the event hub, but not in the table.',
    ],
  },
  {
    name: 'two different records of one step are one too many',
    hub: [...records, ...held('Started#2')],
    table: records,
    differences: [
      'Reboot A1: step "started" is on the event hub 2 times; Azure issued it 1 time.',
      '1 record is on the event hub, but not in the table.',
    ],
  },
  {
    name: 'two different ends from one VM are one too many',
    hub: [...records, ...held('Canceled')],
    table: [...records, ...held('Canceled')],
    differences: [
      'Reboot A1: step "end" is on the event hub 2 times; Azure issued it 1 time.',
      'Reboot A1: step "end" is in the table 2 times; Azure issued it 1 time.',
    ],
  },
  {
    name: 'a step that Azure never issued is a difference',
    hub: [...records, ...held('Updated')],
    table: [...records, ...held('Updated')],
    differences: [
      'Reboot A1: step "updated" is on the event hub, but Azure never issued it.',
      'Reboot A1: step "updated" is in the table, but Azure never issued it.',
    ],
  },
  {
    name: 'an end with another phase at each destination is a difference',
    hub: records,
    table: held('Scheduled', 'Started', 'Ended'),
    differences: [
      '1 record is on the event hub, but not in the table.',
      '1 record is in the table, but not on the event hub.',
    ],
  },
])('$name', ({ hub, table, differences }) => {
  expect(compare(steps, hub, table).differences).toEqual(differences);
});

test('an event that changed twice has two records of that step', () => {
  const changed = issued('scheduled', 'updated', 'updated');
  const both = held('Scheduled', 'Updated', 'Updated#2');
  expect(compare(changed, both, both).differences).toEqual([]);
  expect(compare(changed, held('Scheduled', 'Updated'), both).differences).toEqual([
    'Reboot A1: step "updated" is on the event hub 1 time; Azure issued it 2 times.',
    '1 record is in the table, but not on the event hub.',
  ]);
});

test('records of an event that Azure never issued are a difference', () => {
  expect(compare([], held('Scheduled'), held('Scheduled')).differences).toEqual([
    'Reboot a1: step "scheduled" is on the event hub, but Azure never issued it.',
    'Reboot a1: step "scheduled" is in the table, but Azure never issued it.',
  ]);
});

test('each record is counted once, and its copies beside it', () => {
  const verdict = compare(steps, records, [...records, ...records]);
  expect(verdict.events).toEqual([
    {
      eventId: 'A1',
      eventType: 'Reboot',
      issued: ['scheduled', 'started', 'removed'],
      onHub: 3,
      inTable: 3,
      affected: 1,
      complete: 1,
    },
  ]);
  expect([verdict.hub, verdict.table]).toEqual([
    { records: 3, copies: 0 },
    { records: 3, copies: 3 },
  ]);
});
