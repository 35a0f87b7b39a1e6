import { expect, test } from 'vitest';
import { FleetView } from '../../src/consumer/index.ts';
import type { LifecycleRecord, Phase } from '../../src/lifecycle/record.ts';
import { encodeRow } from '../../src/sinks/log-analytics/encode.ts';
import { createRandom } from '../fleet-model/random.ts';
import { kql } from '../kql/functions/query.ts';
import { at, event, type ObservationSpec, observe, started } from '../support/observations.ts';
import { runs } from '../support/runs.ts';
import { sampleRecord } from '../support/sample-record.ts';

// A bridge that cannot write its outbox sends records from memory. When it is killed, the next one counts on from what is in the file.

/** What the VM reported last of its event: `Started open 12:20`, the time being notBefore. */
const lineOf = (phase: unknown, isOpen: unknown, notBefore: unknown): string =>
  `${phase} ${isOpen ? 'open' : 'over'} ${String(notBefore).slice(11, 16)}`;

function byPackage(records: readonly LifecycleRecord[]): string[] {
  const fleet = new FleetView();
  for (const record of records) fleet.add(record);
  return fleet
    .events()
    .flatMap(({ views }) => views.map(({ last, isOpen }) => lineOf(last.phase, isOpen, last.notBefore)));
}

const byTable = (records: readonly LifecycleRecord[]): string[] =>
  kql
    .execute('VmEventStates(ago(7d), ago(7d)) | project Phase, IsOpen, NotBefore', {
      tables: { VmLifecycle_CL: records.map(encodeRow), VmLifecycleBridge_CL: [] },
      now: at(86_400),
    })
    .rows.map(([phase, isOpen, notBefore]) => lineOf(phase, isOpen, notBefore));

/** Phase, minute of the observation, sequence, position, and the minute of notBefore. */
type Report = readonly [phase: Phase, minute: number, sequence: number, position: number, notBefore?: number];

interface History {
  readonly of: string;
  readonly written: readonly Report[];
  /** Sent from memory before the kill. */
  readonly unwritten: readonly Report[];
  /** By the next process. */
  readonly after: readonly Report[];
  /** How Azure lists the event at the end. */
  readonly last: string;
}

const histories: readonly History[] = [
  {
    of: 'whose end has a lower number than its start',
    written: [['Scheduled', 0, 1, 1]],
    unwritten: [
      ['Updated', 1, 2, 2],
      ['Started', 2, 3, 3],
    ],
    after: [['Completed', 9, 2, 4]],
    last: 'Completed over 12:20',
  },
  {
    of: 'whose end has a lower number than its start, where positions were used twice as well',
    written: [['Scheduled', 0, 1, 1]],
    unwritten: [
      ['Updated', 1, 2, 2],
      ['Started', 2, 3, 3],
    ],
    after: [['Completed', 9, 2, 2]],
    last: 'Completed over 12:20',
  },
  {
    of: 'whose end has the number of its start',
    written: [['Scheduled', 0, 1, 1]],
    unwritten: [['Started', 2, 2, 2]],
    after: [['Completed', 9, 2, 3]],
    last: 'Completed over 12:20',
  },
  {
    of: 'whose end has the number of an approval',
    written: [['Scheduled', 0, 1, 1]],
    unwritten: [
      ['Approved', 1, 2, 2],
      ['Started', 2, 3, 3],
    ],
    after: [['Completed', 9, 2, 2]],
    last: 'Completed over 12:20',
  },
  {
    of: 'that is listed all along, but was reported as over from memory',
    written: [['Scheduled', 0, 1, 1]],
    unwritten: [
      ['Updated', 1, 2, 2],
      ['Ended', 2, 3, 3],
    ],
    after: [['Started', 9, 2, 4]],
    last: 'Started open 12:20',
  },
  {
    of: 'that is moved twice before the kill, and once after it',
    written: [['Scheduled', 0, 1, 1]],
    unwritten: [
      ['Updated', 1, 2, 2, 30],
      ['Updated', 2, 3, 3, 40],
    ],
    after: [['Updated', 9, 2, 4, 50]],
    last: 'Updated open 12:50',
  },
];

const recordOf = ([phase, minute, sequence, position, notBefore = 20]: Report): LifecycleRecord =>
  sampleRecord({
    recordId: `${phase} ${minute}`,
    transitionId: `${phase} ${minute}`,
    ...{ phase, sequence, position },
    observedAt: at(60 * minute),
    notBefore: at(60 * notBefore),
    evidence: ['said-by-azure'],
    eventsInSight: null,
  });

test.each(histories)('both readers know the last report of an event $of', ({ written, unwritten, after, last }) => {
  const records = [...written, ...unwritten, ...after].map(recordOf);
  const withCopies = [...records.toReversed(), ...records];
  expect([byPackage(withCopies), byTable(withCopies)]).toEqual([[last], [last]]);
});

test('both readers know whether an event is listed after a bridge that could not write was killed', () => {
  const count = runs('kills of a bridge that cannot write', { quick: 60, full: 1_000 });
  const drawn = { open: 0, over: 0, countedTwice: 0 };
  for (let seed = 1; seed <= count; seed += 1) {
    const { records, isListed } = randomHistory(seed);
    const expected = isListed ? 'open' : 'over';
    const found = [byPackage(records), byTable(records)].map((lines) => lines.map((line) => line.split(' ')[1]));
    expect(found, `seed ${seed}`).toEqual([[expected], [expected]]);
    drawn[expected] += 1;
    if (new Set(records.map(({ sequence }) => sequence)).size < records.length) drawn.countedTwice += 1;
  }
  expect(Math.min(...Object.values(drawn)), JSON.stringify(drawn)).toBeGreaterThan(count / 10);
});

/** An event that is announced, moved, started and over at random times; its bridge cannot write from a random poll on, and is killed. */
function randomHistory(seed: number) {
  const random = createRandom(seed);
  let listed = event({ resources: ['web_0'] });
  let isListed = true;
  const polls: ObservationSpec[] = [{ events: [] }];
  for (let poll = 0; poll < 12; poll += 1) {
    const isStarted = listed.eventStatus === 'Started';
    if (poll > 0 && isListed && random.chance(0.5)) {
      if (random.chance(isStarted ? 0.3 : 0.05)) isListed = false;
      else if (!isStarted)
        listed = random.chance(0.4) ? started(listed) : event({ ...listed, notBefore: at(random.int(2_000, 9_000)) });
    }
    polls.push({ events: isListed ? [listed] : [], after: random.int(1, 90) });
  }
  // Long enough for the end to be decided, whatever was missed.
  for (let poll = 0; poll < 4; poll += 1) polls.push({ events: isListed ? [listed] : [], after: 400 });
  const full = random.int(2, 6);
  const killed = random.int(full + 1, 12);
  const before = observe(polls.slice(0, full));
  const unwritten = observe(polls.slice(full, killed), { state: before.state, from: endOf(polls.slice(0, full)) });
  const position = random.pick([before, unwritten]).state.position;
  const after = observe(polls.slice(killed), {
    state: { ...before.state, position },
    from: endOf(polls.slice(0, killed)),
  });
  return { records: [before, unwritten, after].flatMap(({ records }) => records), isListed };
}

const endOf = (polls: readonly ObservationSpec[]): number =>
  polls.reduce((time, { after = 1 }) => time + 1000 * after, Date.parse(at(0)));
