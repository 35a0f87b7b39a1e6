import { expect, test } from 'vitest';
import type { Announced } from './announced.ts';
import { type Arrived, judge } from './judge.ts';

const announced: readonly Announced[] = [
  { eventId: 'A', eventType: 'Freeze', steps: ['scheduled', 'updated', 'started', 'end'] },
  { eventId: 'B', eventType: 'Reboot', steps: ['scheduled', 'end'] },
];
const phases = ['Scheduled', 'Updated', 'Started', 'Completed'] as const;
const ofA = phases.map((phase, index): Arrived => {
  return { recordId: `a${index}`, vmName: 'web_0', eventId: 'A', eventType: 'Freeze', phase, sequence: index + 1 };
});
const [a1, a2, a3, a4] = ofA as [Arrived, Arrived, Arrived, Arrived];
const b1: Arrived = { ...a1, recordId: 'b1', eventId: 'b', eventType: 'Reboot' };
const b2: Arrived = { ...b1, recordId: 'b2', phase: 'Canceled', sequence: 2 };
const complete = [a1, b1, a2, a3, b2, a4];

test.for<readonly [what: string, hub: readonly Arrived[], lost: number, copies: number, broken: readonly RegExp[]]>([
  ['all of it', complete, 0, 0, []],
  ['one record less', [a1, b1, a2, b2, a4], 1, 0, []],
  ['none of one event', [a1, a2, a3, a4], 2, 0, []],
  ['nothing', [], 6, 0, []],
  ['a copy, later', [...complete, a2], 0, 1, []],
  ['two copies at once', [a1, a1, a1, b1, a2, a3, b2, a4], 0, 2, []],
  ['a step under a second id', [...complete, { ...a4, recordId: 'x', sequence: 5 }], 0, 0, [/not announced: end/]],
  [
    'a snapshot of the stream',
    [...complete, { ...b1, recordId: 's', eventId: 'IN-SIGHT-1', phase: 'Snapshot' }],
    0,
    0,
    [],
  ],
  ['another order', [a1, b1, a3, a2, b2, a4], 0, 0, [/arrived in the order 1 3 2 4/]],
  ['a gap in the sequence', [a1, b1, a2, a3, b2, { ...a4, sequence: 5 }], 0, 0, [/has the sequences 1 2 3 5/]],
  ['another type', [{ ...a1, eventType: 'Reboot' }, b1, a2, a3, b2, a4], 0, 0, [/another type than Freeze/]],
  ['an event that was not announced', [...complete, { ...b1, recordId: 'c', eventId: 'C' }], 0, 0, [/never announced/]],
  [
    'a VM that is not there',
    [...complete, { ...b1, recordId: 'c', vmName: 'db_0' }],
    0,
    0,
    [/on db_0.* never announced/],
  ],
])('judged is %s', ([, hub, lost, copies, broken]) => {
  const found = judge(announced, ['web_0'], { hub, table: complete });
  expect(found).toEqual({ lost, copies, broken: broken.map((pattern) => expect.stringMatching(pattern)) });
});
