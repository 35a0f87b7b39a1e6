import { join } from 'node:path';
import { startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import { createRandom, type Random } from '../../fleet-model/random.ts';
import type { FaultContext, FaultTest, Outcome } from '../fault-test.ts';
import { type CaseResult, type FileCase, freshArrives, runCase, type Slot } from '../file-calls/life.ts';
import { ownVm, type Phase, preparePhases } from '../file-calls/phases.ts';
import { buildShim, faultsOfCall, fileCalls, whyNoShim } from '../file-calls/shim.ts';
import { compareWithStrace } from '../file-calls/shim-proof.ts';
import { outboxModule } from '../file-calls/stored-backlog.ts';
import { whyNoStrace } from '../file-calls/strace.ts';

/** Lives that run beside each other: most of the time each waits for the next poll, and twelve keep one processor busy. */
const slotsFor = (cases: number): number => Math.min(12, Math.ceil(cases / 6));

/** Kills the bridge at, or fails, each of its calls on the files of the state directory, from an empty one to a migration. */
export const fileCallFaults: FaultTest = {
  id: 'file-calls',
  title: 'the n-th file call kills the bridge, fails or writes half, in six phases of an outbox',
  kind: 'processes',
  // There are about 8,680 faults: the number of calls differs a little from run to run.
  cases: { quick: 36, full: 8_600 },
  load: { seconds: 60, processors: 0.5 },
  whyNot: whyNoShim,
  async run(context) {
    const random = createRandom(context.seed);
    const phases = preparePhases(await outboxModule(context.sources), context.directory);
    const slots = await startSlots(context);
    try {
      const proof = await proven(slots, phases, context);
      const plain = phases.map((phase): FileCase => ({ phase, fault: null, isKilledAtEnd: false }));
      const counted = await runAll(slots, plain, context);
      context.signal.throwIfAborted();
      const all = counted.flatMap(faultsOf);
      const cases = sampled(all, context.cases, random);
      const calls = counted.reduce((sum, one) => sum + Object.values(one.calls).reduce((a, b) => a + b, 0), 0);
      context.say(`${calls} calls in ${phases.length} phases, ${cases.length} of ${all.length} faults`);
      const results = await runAll(slots, cases, context);
      const [slot] = slots;
      const outcome = outcomeOf([...counted, ...results], slot !== undefined && (await freshArrives(slot)));
      return {
        ...outcome,
        ...(results.length < context.cases && { played: results.length }),
        happened: [...outcome.happened, ...proof.happened],
        broken: [...outcome.broken, ...proof.broken],
      };
    } finally {
      await Promise.all(slots.map(({ azure }) => azure.close()));
    }
  },
};

/** Each has one VM of the same name, and events of its own. */
async function startSlots({ cases, directory, program }: FaultContext): Promise<readonly Slot[]> {
  const shim = buildShim(directory);
  return Promise.all(
    Array.from({ length: slotsFor(cases) }, async (_, n) => {
      const azure = await startAzureSimulator({ vms: [{ name: ownVm }] });
      return { azure, program, shim, folder: join(directory, `slot-${n}`) };
    }),
  );
}

/** Where strace is there, it has to see the same calls as the shim: otherwise some of them are never tested. */
async function proven(
  [slot]: readonly Slot[],
  phases: readonly Phase[],
  { say }: FaultContext,
): Promise<Pick<Outcome, 'happened' | 'broken'>> {
  const reason = whyNoStrace();
  const phase = phases.find(({ name }) => name === 'salvage');
  if (reason !== null || !slot || !phase) {
    say(`that the shim sees every call is not checked: ${reason}`);
    return { happened: [], broken: [] };
  }
  const { seen, differences } = await compareWithStrace(slot, phase);
  return {
    happened: [{ what: 'calls that strace saw as well', count: seen, least: 100 }],
    broken: differences.map((one) => `a call that was not seen, ${one}`),
  };
}

async function runAll(
  slots: readonly Slot[],
  cases: readonly FileCase[],
  { signal, say }: FaultContext,
): Promise<readonly CaseResult[]> {
  const rest = [...cases];
  const results: CaseResult[] = [];
  const work = async (slot: Slot): Promise<void> => {
    for (let one = rest.shift(); one && !signal.aborted; one = rest.shift()) {
      results.push(await runCase(slot, one));
      if (results.length % 100 === 0) say(`${results.length} of ${cases.length} cases`);
    }
  };
  await Promise.all(slots.map(work));
  return results;
}

/** Every fault of every call of this life; of a life in which the outbox is removed, only of the calls after that. */
function faultsOf({ fileCase: { phase }, calls, callsBeforeRemoval }: CaseResult): readonly FileCase[] {
  return fileCalls.flatMap((call) => {
    const first = (callsBeforeRemoval?.[call] ?? 0) + 1;
    const numbers = Array.from({ length: Math.max(0, calls[call] - first + 1) }, (_, index) => first + index);
    return numbers.flatMap((n) =>
      faultsOfCall[call].map((fault): FileCase => {
        return { phase, fault: { call, n, ...fault }, isKilledAtEnd: !fault.isLasting && n % 2 === 0 };
      }),
    );
  });
}

/** In turn from each phase and kind of call, so that a small sample has some of all. */
function sampled(all: readonly FileCase[], count: number, random: Random): readonly FileCase[] {
  const drawn = all.map((one) => ({ one, at: random.next() })).sort((a, b) => a.at - b.at);
  const seen = new Map<string, number>();
  const ranked = drawn.map(({ one, at }) => {
    const group = `${one.phase.name} ${one.fault?.call}`;
    const rank = seen.get(group) ?? 0;
    seen.set(group, rank + 1);
    return { one, rank, at };
  });
  return ranked
    .sort((a, b) => a.rank - b.rank || a.at - b.at)
    .slice(0, count)
    .map(({ one }) => one);
}

function outcomeOf(results: readonly CaseResult[], freshArrived: boolean): Outcome {
  const sum = (of: (result: CaseResult) => number): number => results.reduce((all, one) => all + of(one), 0);
  const withFault = results.filter(({ fileCase }) => fileCase.fault !== null);
  const fired = withFault.filter(({ hasFired }) => hasFired).length;
  const isFatal = ({ fileCase: { fault } }: CaseResult): boolean => /kill/.test(fault?.action ?? '');
  return {
    lost: sum(({ judgement }) => judgement.lost),
    // Whatever a life sent and had not settled yet.
    duplicated: { found: sum(({ judgement }) => judgement.copies), allowed: sum(({ due }) => due) },
    happened: [
      // The number of calls depends a little on how long each takes: some faults are behind the last one.
      { what: 'faults', count: fired, least: Math.floor(withFault.length * 0.8) },
      {
        what: 'kills',
        count: withFault.filter((one) => one.hasFired && isFatal(one)).length,
        least: Math.floor(withFault.length / 8),
      },
    ],
    worst: {
      what: 'complete after a start',
      seconds: Math.max(...results.map(({ recoverySeconds }) => recoverySeconds)),
      mostSeconds: 30,
    },
    freshArrived,
    conservation: { samples: sum(({ samples }) => samples), violations: sum(({ imbalanced }) => imbalanced) },
    broken: results.flatMap(({ broken, judgement }) => [...broken, ...judgement.broken]),
  };
}
