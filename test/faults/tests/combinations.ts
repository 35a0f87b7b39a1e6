import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificate } from '../../../src/azure-simulator/certificate.ts';
import { createRandom } from '../../fleet-model/random.ts';
import { mountSmallDisk, whyNoMount } from '../../outbox/small-disk.ts';
import { Bridges } from '../combinations/bridges.ts';
import { type Combination, described, drawCombinations, pairsWithout, plainer } from '../combinations/draw.ts';
import { play } from '../combinations/play.ts';
import type { Played } from '../combinations/stage.ts';
import type { FaultTest, Outcome } from '../fault-test.ts';

/** A failing combination is made plainer with at most this many further plays. */
const mostPlays = 20;
/** The run ends after this many combinations that fail. */
const mostFailures = 3;
/** Plays only the combination with this number, for a closer look. */
const variable = 'COMBINATION';

/** What happens in combination may break what each alone does not: restarts, kills, the bound, the clock, the sinks and the disk. */
export const combinations: FaultTest = {
  id: 'combinations',
  title: 'a backlog, restarts, kills, the bound, the clock, the disk and both sinks, in combinations',
  kind: 'one process',
  cases: { quick: 50, full: 2_000 },
  load: { seconds: 60, processors: 1.2 },
  whyNot: () => {
    const reason = whyNoMount();
    return reason && `no file system can be mounted: ${reason}`;
  },
  async run(context) {
    const drawn = drawCombinations(createRandom(context.seed), context.cases);
    const only = process.env[variable];
    using disk = mountSmallDisk(200);
    const certificates = join(context.directory, 'certificates');
    mkdirSync(certificates);
    const { ca } = await makeCertificate({ directory: certificates });
    let bridges = await Bridges.start(context, ca);
    const results: Played[] = [];
    let failures = 0;
    const broken: string[] = [];

    const playOne = async (combination: Combination, index: number): Promise<Played> => {
      const random = createRandom(context.seed + 1 + index);
      const folder = join(context.directory, 'aside');
      try {
        return await play(combination, { bridges, disk, folder, certificates, random });
      } catch (error) {
        await bridges[Symbol.asyncDispose]();
        bridges = await Bridges.start(context, ca);
        return failed(error instanceof Error ? error.message : String(error));
      }
    };

    try {
      for (const [index, combination] of drawn.entries()) {
        if (context.signal.aborted) break;
        if (only !== undefined && Number(only) !== index) continue;
        const played = await playOne(combination, index);
        results.push(played);
        if (results.length % 100 === 0) context.say(`${results.length} combinations`);
        if (only !== undefined) context.say(JSON.stringify({ ...played, broken: null }));
        if (!isBad(played)) continue;
        failures += 1;
        const found = [...played.broken, `${played.copies} copies of at most ${played.allowedCopies}`].join('; ');
        context.say(`combination ${index} fails (${described(combination)}): ${found}`);
        if (failures === mostFailures) break;
        if (failures > 1 || only !== undefined) continue;
        const plain = await plainest(combination, (one) => playOne(one, index), context.signal);
        broken.push(
          `combination ${index}: ${found}`,
          `as plain as it still fails: ${described(plain)}; ${variable}=${index} with the seed ${context.seed} repeats the combination that was drawn`,
        );
      }
    } finally {
      await bridges[Symbol.asyncDispose]();
    }
    return outcomeOf(results, broken, drawn, context.signal.aborted);
  },
};

/** Takes plainer values one by one, as long as the combination still fails. */
async function plainest(
  combination: Combination,
  playAgain: (combination: Combination) => Promise<Played>,
  signal: AbortSignal,
): Promise<Combination> {
  let [plain, plays] = [combination, 0];
  for (let isPlainer = true; isPlainer; ) {
    isPlainer = false;
    for (const candidate of plainer(plain)) {
      plays += 1;
      if (plays > mostPlays || signal.aborted) return plain;
      if (!isBad(await playAgain(candidate))) continue;
      plain = candidate;
      isPlainer = true;
      break;
    }
  }
  return plain;
}

const isBad = ({ lost, copies, allowedCopies, broken }: Played): boolean =>
  lost > 0 || copies > allowedCopies || broken.length > 0;

const failed = (message: string): Played => ({
  ...{ lost: 0, copies: 0, allowedCopies: 0, samples: 0, violations: 0, freshArrived: false, happened: {} },
  broken: [message],
});

/** How often each fault has to have happened, by what was drawn. A trigger may lie behind the last batch or fault point of a process. */
function leastOf(drawn: readonly Combination[]): ReadonlyMap<string, number> {
  const drawnWith = (fits: (combination: Combination) => boolean): number => drawn.filter(fits).length;
  return new Map([
    ['ended: SIGTERM', drawnWith(({ end }) => end === 'SIGTERM')],
    ['ended: SIGKILL', drawnWith(({ end }) => end === 'SIGKILL')],
    ['ended: in flight', Math.ceil(drawnWith(({ end }) => end === 'in flight') / 2)],
    ['ended: at a fault point', Math.ceil(drawnWith(({ end }) => end === 'at a fault point') / 2)],
    ['ended: in maintenance', Math.ceil(drawnWith(({ end }) => end === 'in maintenance') / 2)],
    ['steps of the clock', drawnWith(({ clock }) => clock !== 'steady')],
    ['full outboxes', drawnWith(({ backlog }) => backlog === 'a full outbox')],
    ['bounds reached', Math.ceil(drawnWith(({ room }) => room === 'used up') / 2)],
    ['outboxes larger than their share', Math.ceil(drawnWith(({ room }) => room === 'less than stored') / 8)],
    ['disks full', drawnWith(({ directory }) => directory === 'full')],
    ['disks read-only', drawnWith(({ directory }) => directory === 'read-only')],
    ['directories created again', drawnWith(({ directory }) => directory === 'moved')],
    ['dead letters', drawnWith(({ hub, table }) => [hub, table].includes('refuses a record'))],
    [
      'refusals of a sink',
      drawnWith(({ hub, table }) => [hub, table].some((mood) => mood === 'down' || mood === 'throttling')),
    ],
    ['records discarded', 1],
  ]);
}

function outcomeOf(
  results: readonly Played[],
  broken: readonly string[],
  drawn: readonly Combination[],
  isInterrupted: boolean,
): Outcome {
  const played = isInterrupted ? drawn.slice(0, results.length) : drawn;
  const sum = (of: (played: Played) => number): number => results.reduce((total, played) => total + of(played), 0);
  return {
    ...(isInterrupted && { played: played.length }),
    lost: sum(({ lost }) => lost),
    duplicated: { found: sum(({ copies }) => copies), allowed: sum(({ allowedCopies }) => allowedCopies) },
    happened: [
      { what: 'combinations', count: results.length, least: played.length },
      ...[...leastOf(played)].map(([what, least]) => ({
        what,
        count: sum(({ happened }) => happened[what] ?? 0),
        least,
      })),
    ],
    worst: null,
    freshArrived: results.every(({ freshArrived }) => freshArrived),
    conservation: { samples: sum(({ samples }) => samples), violations: sum(({ violations }) => violations) },
    broken: [
      ...broken,
      ...(!isInterrupted && pairsWithout(drawn) > 0 ? [`${pairsWithout(drawn)} pairs of values were not drawn`] : []),
    ],
  };
}
