import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../support/runs.ts';
import { createSite, settings, zipOf } from './site.ts';

const zips: Readonly<Record<string, Buffer>> = {
  '1.0.0': await zipOf('1.0.0'),
  '1.1.0': await zipOf('1.1.0'),
  '1.2.0': await zipOf('1.2.0', { behaviour: 'dies' }),
};

const wrong = { publicSettings: { sinks: {} } };
const given = { a: settings('a'), b: settings('b'), dies: settings('c dies'), wrong, none: undefined } as const;

const goal = fc.record({
  version: fc.constantFrom('1.0.0', '1.0.0', '1.1.0', '1.1.0', '1.2.0'),
  marker: fc.constantFrom<keyof typeof given>('a', 'a', 'b', 'b', 'dies', 'wrong', 'none'),
  isSameNumber: fc.boolean(),
});
const event = fc.oneof(
  { weight: 6, arbitrary: goal },
  { weight: 2, arbitrary: fc.constant('removal' as const) },
  { weight: 2, arbitrary: fc.constant('restart of the agent' as const) },
  { weight: 1, arbitrary: fc.constant('boot' as const) },
);
type Goal = { readonly version: string; readonly marker: keyof typeof given; readonly number: number } | null;

/** `stopsBefore`: the agent is killed before this command of the event; 0: it is not. */
const order = fc.array(fc.record({ event, stopsBefore: fc.constantFrom(0, 0, 0, 1, 2, 3, 4, 5) }), {
  minLength: 2,
  maxLength: 7,
});

test('whatever the order of events: a success means that this version runs with these settings, and a removal that none runs', async () => {
  const numRuns = runs('orders of events', { quick: 2, full: 25 });
  await fc.assert(
    fc.asyncProperty(order, async (events) => {
      let left = 0;
      using site = createSite({
        before: () => {
          left -= 1;
          if (left === 0) throw new Error('the agent is killed');
        },
      });
      const { agent, harness } = site;
      /** What Azure wants; null: no extension. */
      let wanted: Goal = null;
      let last: Goal = null;
      let isCutOff = false;
      const reach = async (goal: Goal) => {
        if (goal === null) return agent.removeAll();
        const { version, marker, number } = goal;
        return agent.apply(version, zips[version] ?? Buffer.alloc(0), given[marker], number);
      };
      for (const { event, stopsBefore } of events) {
        if (event === 'boot')
          rmSync(join(harness.root, 'run/scheduled-events-bridge-extension-update.json'), { force: true });
        else if (event === 'removal') wanted = null;
        else if (event !== 'restart of the agent') {
          const { version, marker, isSameNumber } = event;
          const isSame: boolean = isSameNumber && wanted !== null;
          wanted = {
            version,
            marker: wanted !== null && isSame ? wanted.marker : marker,
            number: isSame ? agent.number() : agent.number() + 1,
          };
        }
        // Where it is killed between two commands of an update, it has no command for the removal: the service stays (infra/extension.md).
        if (event === 'removal' && isCutOff) await reach(last);
        if (event !== 'restart of the agent') await harness.clock.sleep(900_000);
        left = stopsBefore;
        const reported = await reach(wanted).catch((error: Error) => {
          if (error.message !== 'the agent is killed') throw error;
          return null;
        });
        left = 0;
        isCutOff = reported === null;
        last = wanted;
        if (reported === null) continue;
        if (wanted === null) {
          expect(harness.runs()).toBeNull();
          continue;
        }
        if (reported.code !== 0) continue;
        expect(harness.runs()).toContain(wanted.version);
        expect(agent.status(wanted.version)).toMatchObject({ status: 'success' });
        if (wanted.marker === 'none') continue;
        expect(JSON.parse(readFileSync(harness.places.configuration, 'utf8'))).toEqual(
          given[wanted.marker].publicSettings,
        );
      }
    }),
    { numRuns },
  );
}, 600_000);
