import { expect, test } from 'vitest';
import { pauseBetween } from '../../src/lifecycle/pause.ts';

interface Case {
  readonly name: string;
  readonly tick: { readonly longestMs: number; readonly totalMs: number } | null;
  readonly wallStepMs?: number;
  readonly azureRanAheadMs?: number;
  readonly incarnationSkipped?: boolean;
  readonly pause: { readonly longestMs: number; readonly totalMs: number } | null;
}

const cases: readonly Case[] = [
  { name: 'a tick in time', tick: { longestMs: 0, totalMs: 0 }, pause: { longestMs: 0, totalMs: 0 } },
  { name: 'a late tick', tick: { longestMs: 2978, totalMs: 3100 }, pause: { longestMs: 2978, totalMs: 3100 } },
  {
    name: 'a late tick and a wall clock that was set right afterwards',
    tick: { longestMs: 300, totalMs: 300 },
    wallStepMs: 5000,
    pause: { longestMs: 5000, totalMs: 5000 },
  },
  {
    name: 'two late ticks and a step: the step is the longest of them',
    tick: { longestMs: 300, totalMs: 500 },
    wallStepMs: 5000,
    pause: { longestMs: 5000, totalMs: 5200 },
  },
  {
    name: "a late tick with Azure's clock ahead of ours",
    tick: { longestMs: 200, totalMs: 200 },
    azureRanAheadMs: 7000,
    pause: { longestMs: 7000, totalMs: 7000 },
  },
  {
    name: 'an NTP step beside a tick in time',
    tick: { longestMs: 0, totalMs: 0 },
    wallStepMs: 60_000,
    pause: { longestMs: 0, totalMs: 0 },
  },
  { name: 'nothing measured', tick: null, wallStepMs: 60_000, pause: null },
  {
    name: 'no tick, a skipped document and a step',
    tick: null,
    incarnationSkipped: true,
    wallStepMs: 8000,
    pause: { longestMs: 8000, totalMs: 8000 },
  },
  {
    name: 'no tick, a skipped document and a small step',
    tick: null,
    incarnationSkipped: true,
    wallStepMs: 500,
    pause: null,
  },
];

test.each(cases)(
  'the pause of $name',
  ({ tick, wallStepMs = 0, azureRanAheadMs = 0, incarnationSkipped = false, pause }) => {
    const host = { bootId: null, physicalHost: null, tick, wallStepMs };
    expect(pauseBetween(host, { incarnationSkipped, azureRanAheadMs })).toEqual(pause);
  },
);
