import { describe, expect, test } from 'vitest';
import { around, differences, openFleet, type Row } from './answers.ts';
import { seeds } from './fleet.ts';
import { reportedIn, sum } from './known.ts';
import { recordsOf } from './records.ts';
import { usualDelay } from './rows.ts';
import { appearedAt, day, type Fleet, hour, minute } from './truth.ts';

/** Records of the last days that can have arrived, of VMs whose network was there. */
const recordsSince = (fleet: Fleet, days: number) =>
  recordsOf(fleet).filter(({ at }) => at > fleet.now - days * day && at < fleet.now - minute);

/** What the pack says of the way of records to the table, and of how many events there were, against what truly happened. */
describe.each(seeds)('the way of records in fleet %i', (seed) => {
  const { fleet, ask } = openFleet(seed);

  test('pipeline-integrity misses nothing where nothing was lost, through copies, updates, lost state and outages', () => {
    const answer = ask('pipeline-integrity');
    expect(answer.map(({ MissingSteps }) => MissingSteps)).toEqual(answer.map(() => 0));
    expect(answer.map(({ WithMissing }) => WithMissing)).toEqual(answer.map(() => []));
    expect(sum(answer.map(({ Copies }) => Number(Copies)))).toBeGreaterThan(5);
    expect(sum(answer.map(({ Records }) => Number(Records)))).toBe(recordsSince(fleet, 14).length);
    expect(ask('position-gaps')).toEqual([]);
  });

  test('pipeline-integrity names the VM of which a step in the middle never came', () => {
    const isLost = (row: Readonly<Record<string, unknown>>): boolean =>
      row.VmName === 'web_6' && row.Sequence === 2 && row.Location === 'westeurope' && row.EventType === 'Freeze';
    const incomplete = openFleet(seed, isLost);
    const [first] = incomplete.ask('pipeline-integrity');
    expect(first).toMatchObject({ ResourceGroup: 'shop-west', WithMissing: ['web_6'] });
    const gaps = incomplete.ask('position-gaps');
    expect(gaps.length).toBeGreaterThan(0);
    for (const gap of gaps) expect(gap).toMatchObject({ VmName: 'web_6', Location: 'westeurope', Missing: 1 });
  });

  test('pipeline-latency is the time until records could be queried, regardless of clocks and copies', () => {
    const records = Map.groupBy(
      recordsSince(fleet, 1).filter(({ at, row }) => at > fleet.now - day + hour && row.IsTest === false),
      ({ vm }) => vm.location,
    );
    const rows = [...records].map(([Location, { length }]): Row => {
      const between = (usualDelay.least + usualDelay.most) / 2;
      return {
        Location,
        Records: length,
        LongestSeconds: around(between, (usualDelay.most - usualDelay.least) / 2 + 0.6),
      };
    });
    expect(differences(ask('pipeline-latency'), rows)).toEqual([]);
  });

  test('daily-trend counts each event once, on the day on which it was seen first', () => {
    const from = Math.floor((fleet.now - 30 * day) / day) * day;
    const seen = new Set(reportedIn(fleet).map(({ event }) => event));
    const young = [...seen].filter((event) => appearedAt(event) >= from);
    const byType = Map.groupBy(young, ({ type }) => type);
    const answer = ask('daily-trend');
    const rows = [...byType].map(([EventType, events]): Row => ({ EventType, Total: events.length }));
    expect(differences(answer, rows)).toEqual([]);
    for (const { EventType, Events } of answer) {
      const days = Array.from({ length: 31 }, (_, number) => from + number * day);
      const counts = days.map(
        (start) =>
          byType
            .get(EventType as 'Freeze')
            ?.filter((event) => appearedAt(event) >= start && appearedAt(event) < start + day).length,
      );
      expect(Events, String(EventType)).toEqual(counts);
    }
  });
});
