import { describeFinding, describeRecords, describeWorld, sizeOf } from './describe.ts';
import { generateWorld } from './generate.ts';
import { judge } from './judge.ts';
import { type Finding, type Kind, kinds, zeroKinds } from './kinds.ts';

/** How often each kind was found, with the smallest world that shows it. */
export interface Counts {
  readonly worlds: number;
  readonly events: number;
  readonly observations: number;
  readonly records: number;
  readonly found: ReadonlyMap<Kind, Found>;
}

interface Found {
  readonly count: number;
  readonly seed: number;
  readonly size: number;
  readonly finding: Finding;
}

export function countWorlds(firstSeed: number, worlds: number, progress: (done: number) => void = () => {}): Counts {
  const found = new Map<Kind, Found>();
  let [events, observations, records] = [0, 0, 0];
  for (let seed = firstSeed; seed < firstSeed + worlds; seed += 1) {
    const world = generateWorld(seed);
    const verdict = judge(world);
    events += world.events.length;
    for (const account of verdict.accounts) {
      observations += account.observations.length;
      records += account.records.length;
    }
    const size = sizeOf(world);
    for (const finding of verdict.findings) {
      const before = found.get(finding.kind);
      const isSmaller = !before || size < before.size;
      const smallest = isSmaller ? { seed, size, finding } : before;
      found.set(finding.kind, { ...smallest, count: (before?.count ?? 0) + 1 });
    }
    progress(seed - firstSeed + 1);
  }
  return { worlds, events, observations, records, found };
}

/** Kinds that must be zero and are not. */
export const brokenKinds = ({ found }: Counts): readonly Kind[] => zeroKinds.filter((kind) => found.has(kind));

/** One row a kind; the rate is per 1,000 records. */
export function tableOf(counts: Counts): string {
  const { worlds, events, observations, records, found } = counts;
  const rows = (Object.keys(kinds) as Kind[]).map((kind) => {
    const row = found.get(kind);
    const rate = row ? (1000 * row.count) / records : 0;
    const verdict = kinds[kind].zero ? (row ? 'BROKEN' : 'zero') : 'rate';
    const example = row ? `--seed ${row.seed}` : '';
    return `${kind.padEnd(34)} ${verdict.padEnd(7)} ${String(row?.count ?? 0).padStart(7)} ${rate.toFixed(2).padStart(8)}  ${example}`;
  });
  return [
    `${worlds} worlds, ${events} events, ${observations} looks, ${records} records`,
    `${'kind'.padEnd(34)} ${'is'.padEnd(7)} ${'count'.padStart(7)} ${'per 1000'.padStart(8)}  smallest example`,
    ...rows,
  ].join('\n');
}

/** The smallest world of each kind, so that a person can understand it. */
export function examplesOf({ found }: Counts, which: readonly Kind[]): string {
  return which
    .flatMap((kind) => {
      const row = found.get(kind);
      if (!row) return [];
      const world = generateWorld(row.seed);
      const about = { event: row.finding.event, vm: row.finding.vm };
      return [
        `${describeFinding(row.finding)}\n${describeWorld(world, about)}\nrecords\n${describeRecords(judge(world), about)}`,
      ];
    })
    .join('\n\n');
}
