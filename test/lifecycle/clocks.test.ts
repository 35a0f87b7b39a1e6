import { describe, expect, test } from 'vitest';
import { play, seconds } from '../support/cases.ts';
import { at, event, inWords, type Look, nothing, started, tell } from '../support/story.ts';

const scheduled = event();

describe('a clock that is set', () => {
  test('two hours forward at a reset, and right again, holds nothing open for two hours', () => {
    const looks: readonly Look[] = [
      { events: [], incarnation: 16 },
      { events: [started(scheduled)], incarnation: 17 },
      { events: [], incarnation: 1, clockAheadSeconds: 7200 },
      ...seconds(300, { events: [], incarnation: 1 }),
    ];
    expect(tell(looks).records.at(-1)).toMatchObject({ phase: 'Completed', observedAt: at(303) });
    expect(inWords(tell(looks.slice(0, -1)).records)).toHaveLength(1);
  });

  test('an hour forward while an event is Started makes it last no hour', () => {
    const { records } = tell([
      nothing,
      { events: [scheduled] },
      { events: [started(scheduled)] },
      ...seconds(28, { events: [started(scheduled)] }),
      { events: [], clockAheadSeconds: 3600 },
    ]);
    expect(records.at(-1)).toMatchObject({ phase: 'Completed', startedSeconds: 29 });
  });

  play([
    {
      name: 'an hour slow, and an answer without Date: the offset known last counts',
      seen: [
        { ...nothing, clockAheadSeconds: -3600 },
        { events: [event({ notBefore: at(60) })], clockAheadSeconds: -3600 },
        { events: [], clockAheadSeconds: -3600, dateless: true, after: 60 },
      ],
      records: ['Scheduled: said-by-azure', 'Ended: observation-gap not-before-passed'],
    },
    {
      name: 'forward by a minute between two polls is no gap',
      seen: [nothing, { events: [scheduled] }, { events: [], clockAheadSeconds: 60 }],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before'],
    },
  ]);
});

test('a process that starts again within a boot goes on counting', () => {
  const absent: Look = { events: [], incarnation: 1 };
  const before = tell([{ events: [], incarnation: 16 }, { events: [started(scheduled)], incarnation: 17 }, absent]);
  const state = structuredClone(before.state);
  const after = tell([{ ...absent, after: 303 }], { state, from: Date.parse(at(0)) });
  expect(after.records.at(-1)).toMatchObject({ phase: 'Completed' });
});
