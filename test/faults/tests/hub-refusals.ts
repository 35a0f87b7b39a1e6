import type { FaultTest } from '../fault-test.ts';
import { playStorms, type Storm } from '../virtual/storm.ts';

/** What a namespace answers to a transfer, and what the bridge calls it. */
const conditions: readonly (readonly [condition: string, code: RegExp])[] = [
  ['com.microsoft:server-busy', /^server-busy$/],
  ['amqp:resource-limit-exceeded', /^quota-exceeded$/],
  ['amqp:internal-error', /^internal-error$/],
  ['com.microsoft:timeout', /^amqp-timeout$/],
  ['com.microsoft:entity-disabled', /^disabled$/],
  ['amqp:link:stolen', /./],
  ['com.microsoft:argument-out-of-range', /^argument-out-of-range$/],
  ['com.microsoft:partition-not-owned-error', /./],
];

const stormOf = ([condition, code]: (typeof conditions)[number], minutes: number): Storm => ({
  name: condition,
  sinks: ['event-hubs'],
  code,
  minutes,
  // The longest pause, and a poll.
  mostHealSeconds: 5 * 60 + 6,
  begin: ({ eventHubs }) => eventHubs.fault({ reject: condition }),
  end: ({ eventHubs }) => eventHubs.fault(null),
  refusals: ({ eventHubs }) => eventHubs.faultsPlayed,
  mostRefusals: 15 + Math.ceil(minutes),
});

/** A namespace that is busy, has used up a quota, or refuses a partition. */
export const hubRefusals: FaultTest = {
  id: 'hub-refusals',
  title: 'an event hub that is busy, over a quota, disabled, or refuses a partition',
  kind: 'one process',
  // Minutes of each.
  cases: { quick: 6, full: 60 },
  load: { seconds: 25, processors: 0.6 },
  run: (context) =>
    playStorms(
      conditions.map((condition) => stormOf(condition, context.cases)),
      context,
    ),
};
