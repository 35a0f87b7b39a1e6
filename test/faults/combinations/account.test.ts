import { expect, test } from 'vitest';
import { type Arrivals, account, type Left, type Reported } from './account.ts';

type Record = Arrivals['records'][number];

const phases = ['Scheduled', 'Started', 'Completed'] as const;
const complete = phases.map((phase, index): Record => {
  const about = { vmName: 'web_0', eventId: 'a', eventType: 'Freeze', streamId: 'stream' };
  return { ...about, recordId: `r${index}`, phase, sequence: index + 1, position: index + 1 };
});
const [first, second, third] = complete as [Record, Record, Record];
const announced = [{ eventId: 'A', eventType: 'Freeze', steps: ['scheduled', 'started', 'end'] as const }];
const exposed = new Map(announced.map((event) => [event, 1]));

function reported(changes: Partial<Reported> = {}): Left {
  const none: ReadonlySet<number> = new Set();
  const report: Reported = {
    ...{ accepted: 3, delivered: 3, pending: 0, dead: 0, expired: 0, abandoned: 0 },
    ...{ deadPositions: none, discardedPositions: none, ...changes },
  };
  return { streamId: 'stream', position: 3, sinks: new Map([['hub', report]]) };
}
const discarded = { delivered: 2, expired: 1, discardedPositions: new Set([2]) };

test.for<readonly [what: string, records: readonly Record[], left: Left, lost: number, broken: readonly RegExp[]]>([
  ['everything', complete, reported(), 0, []],
  ['a record that is missing', [first, third], reported(), 1, [/1 steps and 1 positions are missing/]],
  ['a record that is reported as discarded', [first, third], reported(discarded), 0, []],
  ['one that is discarded, another one missing', [first], reported(discarded), 1, [/2 steps and 2 positions/]],
  ['a discarded record that arrived all the same', complete, reported(discarded), 0, []],
  ['a dead letter', [first, second], reported({ delivered: 2, dead: 1, deadPositions: new Set([3]) }), 0, []],
  [
    'a discarded record that is not counted',
    [first, third],
    reported({ discardedPositions: new Set([2]) }),
    0,
    [/counts 0 expired instead of 1/],
  ],
  [
    'a step that never became a record',
    [first, second],
    { ...reported({ accepted: 2, delivered: 2 }), position: 2 },
    1,
    [/1 steps and 0/],
  ],
  ['a record that still waits', complete, reported({ delivered: 2, pending: 1 }), 0, [/1 pending/, /2 delivered/]],
  ['another order', [second, first, third], reported(), 0, [/in the order 2 1 3/]],
  ['a second stream', [first, second, { ...third, streamId: 'other' }], reported(), 1, [/1 positions/, /2 streams/]],
])('accounted for is %s', ([, records, left, lost, broken]) => {
  const found = account({ vm: 'web_0', announced, exposed: new Map() }, { name: 'hub', records }, left);
  expect(found).toEqual({ lost, copies: 0, broken: broken.map((pattern) => expect.stringMatching(pattern)) });
});

test('a step that was only in memory when its process ended may be missing, another one may not', () => {
  const left = { ...reported({ accepted: 2, delivered: 2 }), position: 2 };
  const one = account({ vm: 'web_0', announced, exposed }, { name: 'hub', records: [first, second] }, left);
  expect(one).toEqual({ lost: 0, copies: 0, broken: [] });
  const two = account({ vm: 'web_0', announced, exposed }, { name: 'hub', records: [first] }, left);
  expect(two.lost).toBe(1);
});

test('the numbers of steps that were only in memory may be used again, in the order of the steps', () => {
  const ended = { ...third, recordId: 'e', sequence: 2, position: 2 };
  const left = { ...reported({ accepted: 2, delivered: 2 }), position: 2 };
  const find = (records: readonly Record[], unwritten: typeof exposed) =>
    account({ vm: 'web_0', announced, exposed: unwritten }, { name: 'hub', records }, left);
  expect(find([first, second, first, ended], exposed)).toMatchObject({ lost: 0, copies: 1, broken: [] });
  expect(find([first, second, ended], new Map()).broken).toEqual([
    expect.stringMatching(/in the order 1 2 2/),
    expect.stringMatching(/the sequences 1 2 2/),
  ]);
  expect(find([first, ended, second], exposed).broken).toEqual([expect.stringMatching(/in the order 1 3 2/)]);
});
