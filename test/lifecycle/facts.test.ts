import { describe } from 'vitest';
import { play, seconds } from '../support/cases.ts';
import { at, event, nothing, type ObservationSpec, started } from '../support/observations.ts';

const scheduled = event();

describe('to the second', () => {
  const inSeconds = (seconds: number) => event({ notBefore: at(seconds) });
  play([
    {
      name: 'notBefore exactly sixty seconds ahead is near',
      seen: [nothing, { events: [inSeconds(63)] }, nothing],
      records: ['Scheduled: said-by-azure', 'Ended: not-before-near'],
    },
    {
      name: 'notBefore slightly more than sixty seconds ahead is not near',
      seen: [nothing, { events: [inSeconds(63.001)] }, nothing],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before'],
    },
    {
      name: 'notBefore exactly now has passed',
      seen: [nothing, { events: [inSeconds(3)] }, nothing],
      records: ['Scheduled: said-by-azure', 'Ended: not-before-passed'],
    },
    {
      name: 'a pause of exactly a second is evidence',
      seen: [nothing, { events: [scheduled] }, { events: [], incarnation: 4, pauseMs: 1000 }],
      records: ['Scheduled: said-by-azure', 'Completed: pause-observed incarnation-gap'],
    },
    {
      name: 'first absent exactly five minutes after a reset: it waits too',
      seen: [
        { events: [], incarnation: 16 },
        { events: [scheduled], incarnation: 17 },
        ...seconds(300, { events: [scheduled], incarnation: 1 }),
        { events: [], incarnation: 2 },
      ],
      records: ['Scheduled: said-by-azure'],
    },
    {
      name: 'a second reset restarts the five minutes',
      seen: [
        { events: [], incarnation: 16 },
        { events: [scheduled], incarnation: 17 },
        ...seconds(200, { events: [scheduled], incarnation: 8 }),
        ...seconds(150, { events: [scheduled], incarnation: 1 }),
        { events: [], incarnation: 2 },
      ],
      records: ['Scheduled: said-by-azure'],
    },
  ]);
});

describe('an absence is compared with the observation that listed the event', () => {
  const hidden: ObservationSpec = { events: [], unreadable: 1 };
  play([
    {
      name: 'hidden behind an unreadable entry for long, then absent: a gap',
      seen: [nothing, { events: [scheduled] }, ...seconds(20, hidden), nothing],
      records: ['Scheduled: said-by-azure', 'Ended: observation-gap'],
    },
    {
      name: 'hidden across a boot, then absent',
      seen: [nothing, { events: [started(scheduled)] }, { ...hidden, bootId: 'boot-2' }, nothing],
      records: [
        'Started: started-without-notice',
        'Completed: boot-id-changed left-after-started observation-gap not-before-unknown',
      ],
    },
    {
      name: 'hidden across a move to another host, then absent',
      seen: [nothing, { events: [scheduled], physicalHost: 'node-1' }, { ...hidden, physicalHost: 'node-2' }, nothing],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before'],
    },
    {
      name: 'hidden, listed again, then absent: nothing was missed',
      seen: [
        nothing,
        { events: [scheduled] },
        { ...hidden, incarnation: 2 },
        { events: [scheduled], incarnation: 2 },
        { events: [], incarnation: 3 },
      ],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before'],
    },
    {
      name: 'a pause during a 304 answer that still lists it is no evidence',
      seen: [
        nothing,
        { events: [scheduled] },
        { events: [], kind: 'unchanged', pauseMs: 4000 },
        { events: [], incarnation: 4, pauseMs: 0 },
      ],
      records: ['Scheduled: said-by-azure', 'Ended: incarnation-gap'],
    },
    {
      name: 'five minutes after a reset an unreadable entry may still be the event',
      seen: [
        { events: [], incarnation: 16 },
        { events: [scheduled], incarnation: 17 },
        { events: [], incarnation: 1 },
        { events: [], incarnation: 1, unreadable: 1, after: 300 },
        { events: [], kind: 'unchanged' },
        { events: [], incarnation: 1 },
      ],
      records: ['Scheduled: said-by-azure', 'Ended: incarnation-reset incarnation-gap'],
    },
  ]);
});
