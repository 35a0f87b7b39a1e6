import { describe, expect, test } from 'vitest';
import { FleetView, type LifecycleRecord } from '../../src/consumer/index.ts';
import type { FeedProblem } from '../../src/tail/fleet-feed.ts';
import { type FooterState, footer } from '../../src/tail/footer.ts';
import { toText } from '../../src/terminal/styled-text.ts';
import { at, event, nothing, observe, observerNamed, started } from '../support/observations.ts';

/** A Freeze in fifteen minutes, a Reboot that has started at second 2, an eviction at second 31; all were announced at second 1. */
function fleet(): FleetView {
  const view = new FleetView();
  const freeze = event({ eventId: 'AAAAAAAA-0', resources: ['web_0', 'web_1', 'web_2'] });
  const reboot = event({ eventId: 'BBBBBBBB-0', eventType: 'Reboot', resources: ['web_3'], notBefore: at(600) });
  const preempt = event({ eventId: 'CCCCCCCC-0', eventType: 'Preempt', resources: ['spot_0'], notBefore: at(31) });
  const scenes = [
    ['web_0', [nothing, { events: [freeze], after: 0 }]],
    ['web_3', [nothing, { events: [reboot], after: 0 }, { events: [started(reboot)] }]],
    ['spot_0', [nothing, { events: [preempt], after: 0 }]],
  ] as const;
  for (const [vm, observations] of scenes)
    for (const record of observe(observations, { observer: observerNamed(vm) }).records) view.add(record);
  return view;
}

interface Given extends Partial<FooterState['feed']> {
  readonly isShown?: FooterState['isShown'];
  readonly losses?: string;
}

function rows(now: string, given: Given = {}, terminal = { columns: 100, rows: 30 }): string[] {
  const { isShown = () => true, losses = null, ...more } = given;
  const feed = {
    view: fleet(),
    isHistoryRead: true,
    recordCount: 12,
    skippedCount: 0,
    oldestAt: null,
    problems: [],
    ...more,
  };
  const drawn = footer({ hub: 'vm-lifecycle in x', feed, isShown, losses }, new Date(now), terminal);
  return drawn.map((row) => toText(row, false).trimEnd());
}

const problem = (partitionId: string): FeedProblem => ({
  ...{ partitionId, since: new Date(at(5)), code: 'connection-refused', message: 'Nothing listens.' },
  ...{ remedy: null, isPermanent: false },
});

describe('the footer', () => {
  test('shows what has started first, then what is due next, counting down', () => {
    expect(rows(at(10)).slice(1)).toEqual([
      ` 3 open events${' '.repeat(46)}vm-lifecycle in x  2026-03-01T12:00:10Z`,
      ' Started    Reboot     web_3                 for 8 s  BBBBBBBB',
      ' Scheduled  Preempt    spot_0                in 21 s          not before 12:00:31Z  CCCCCCCC',
      ' Scheduled  Freeze     web_0, web_1 +1       in 14 min 50 s   not before 12:15:00Z  AAAAAAAA',
    ]);
    expect(rows(at(11))[3]).toContain(' in 20 s ');
    expect(rows(at(41))[3]).toContain(' due for 10 s ');
  });

  test('leaves out an eviction that is presumed to be over, and events that are filtered out', () => {
    expect(rows(at(630)).join('\n')).toContain('Preempt');
    expect(rows(at(631)).join('\n')).not.toContain('Preempt');
    const freezes = rows(at(10), { isShown: ({ latest }) => latest?.eventType === 'Freeze' });
    expect(freezes.slice(1).map((row) => row.slice(0, 18))).toEqual([' 1 open event     ', ' Scheduled  Freeze']);
  });

  test('puts last what no VM has reported for a day after it was due', () => {
    const silent = rows(at(3 * 24 * 3600 + 60)).slice(2);
    expect(silent.map((row) => row.replace(/^.*nothing/, 'nothing')).toSorted()).toEqual([
      'nothing reported for 3 d 0 h  AAAAAAAA',
      'nothing reported for 3 d 0 h  BBBBBBBB',
    ]);
  });

  test('counts from the first start that any VM saw, by Azure’s clock, since the event returned', () => {
    const reboot = event({ eventType: 'Reboot', resources: ['web_0', 'web_1'] });
    const [begun0, begun1] = ['web_0', 'web_1'].map((vm) =>
      observe([nothing, { events: [started(reboot)] }], { observer: observerNamed(vm) }).records.at(-1),
    );
    if (!begun0 || !begun1) throw new Error('no records');
    const shown = (...records: readonly LifecycleRecord[]): string => {
      const view = new FleetView();
      for (const record of records) view.add(record);
      return (
        rows(at(100), { view })[2]
          ?.replace(/^.*? {2}(for|in) /, '$1 ')
          .replace(/ {2}.*$/, '') ?? ''
      );
    };
    // web_0 saw the start at 12:00:20 by a clock that is 5 min behind; web_1 was down, and saw at 12:01:30 that it had started.
    const seen = {
      ...begun0,
      observedAt: at(20 - 300),
      startedAt: at(20 - 300),
      clockOffsetSeconds: 300,
      startSeen: true,
    };
    const late = { ...begun1, observedAt: at(90), startedAt: at(90), startSeen: false };
    expect(shown(seen)).toBe('for 1 min 20 s');
    expect(shown(late)).toBe('for at least 10 s');
    expect(shown(late, seen)).toBe('for 1 min 20 s');
    const ahead = { ...seen, observedAt: at(130), startedAt: at(130), clockOffsetSeconds: 0 };
    expect(shown(ahead)).toBe('for 0 s');
    const again = {
      recordId: 'again',
      transitionId: 'again',
      evidence: ['reappeared'],
      observedAt: at(60),
      startedAt: at(60),
    };
    expect(shown(seen, { ...seen, ...again, sequence: 9, clockOffsetSeconds: 0 })).toBe('for 40 s');
  });

  test('marks an event of a test, and shows no control character of what Azure wrote', () => {
    const hostile = event({ eventType: 'Re\u001b[2J\u009bboot' });
    const [record] = observe([nothing, { events: [hostile] }]).records;
    const view = new FleetView({ includeTests: true });
    if (record) view.add({ ...record, isTest: true });
    const broken = { ...problem('1'), message: 'Nothing\u001b[2J listens.' };
    const drawn = rows(at(10), { view, problems: [broken] });
    expect(drawn[3]).toMatch(/^ Scheduled {2}Re \[2J boot .* {2}test {2}/);
    expect(drawn.join('')).not.toMatch(/\p{Cc}/u);
  });

  test('takes a third of the terminal, and says how many events are not shown', () => {
    const small = rows(at(10), {}, { columns: 100, rows: 12 });
    expect(small).toHaveLength(4);
    expect(small.slice(2)).toEqual([expect.stringContaining('Started'), ' and 2 more']);
  });

  test('is never wider than the terminal', () => {
    const narrow = rows(at(10), {}, { columns: 40, rows: 30 });
    for (const row of narrow) expect(row.length).toBeLessThan(40);
    expect(narrow.at(-1)).toBe(' Scheduled  Freeze     web_0, web_1 +1…');
  });

  test('leaves out the time that does not fit, of which a part would be another time', () => {
    expect(rows(at(10), {}, { columns: 80, rows: 30 }).slice(2)).toEqual([
      ' Started    Reboot     web_3                 for 8 s  BBBBBBBB',
      ' Scheduled  Preempt    spot_0                in 21 s           CCCCCCCC',
      ' Scheduled  Freeze     web_0, web_1 +1       in 14 min 50 s    AAAAAAAA',
    ]);
  });

  test('says that nothing is open only as far as it knows, and not while history is read', () => {
    const empty = { view: new FleetView(), oldestAt: new Date(at(-86_400)) };
    expect(rows(at(10), empty)[1]).toMatch(/^ No open event in the hub since 2026-02-28T12:00:00Z /);
    expect(rows(at(10), { ...empty, oldestAt: null })[1]).toMatch(/^ No record in the hub /);
    expect(rows(at(10), { isShown: () => false })[1]).toMatch(/^ No open event matches the filters, 3 in all /);
    const reading = rows(at(10), { isHistoryRead: false });
    expect(reading.slice(1)).toEqual([expect.stringMatching(/^ Reading what the hub holds: 12 records /)]);
  });

  test('says what is missing', () => {
    expect(rows(at(10), { losses: '38 records of web_0 are not in the hub', skippedCount: 3 })[2]).toBe(
      ' 38 records of web_0 are not in the hub, 3 messages skipped',
    );
    expect(rows(at(10), { skippedCount: 1 })[2]).toBe(' 1 message skipped');
  });

  test('says which partitions cannot be read, for how long and why', () => {
    expect(rows(at(10), { problems: [problem('1')] })[2]).toBe(' Not reading partition 1 for 5 s: Nothing listens.');
    expect(rows(at(10), { problems: [problem('1'), problem('2')] })[2]).toMatch(/^ Not reading 2 partitions for 5 s: /);
  });
});
