import { describeFinding } from './describe.ts';
import { judge, type Verdict } from './judge.ts';
import { kinds } from './kinds.ts';
import { isEnd } from './observed-lifecycle.ts';
import { type LifecycleRecord, productFold } from './observer.ts';
import type { Case, Expected } from './scene.ts';

const twoPolls = 3;
const tickMs = 300;

/** What is wrong with what the bridge says of this case; nothing when all is as expected. */
export function judgeCase({ world, expected }: Case): {
  readonly verdict: Verdict;
  readonly problems: readonly string[];
} {
  const verdict = judge(world);
  const broken = verdict.findings.filter(({ kind }) => kinds[kind].zero).map(describeFinding);
  return { verdict, problems: [...expected.flatMap((one) => differences(one, verdict)), ...broken] };
}

function differences(expected: Expected, { accounts }: Verdict): string[] {
  const records = accounts
    .filter(({ vm }) => expected.vm === undefined || vm.name === expected.vm)
    .flatMap((account) => account.records)
    .filter(({ record }) => record.eventId === expected.event);
  const end =
    expected.vm === undefined
      ? (productFold(records.map(({ record }) => record))[0]?.end ?? null)
      : (records.filter(isEnd).at(-1)?.record ?? null);
  const last = records.at(-1)?.record;
  const differs = (what: string, wanted: unknown, said: unknown): string =>
    `${expected.vm ?? 'fold'} ${expected.event}: ${what} ${JSON.stringify(said)}, not ${JSON.stringify(wanted)}`;
  const found: string[] = [];
  if (expected.end !== undefined && !(expected.end ?? [null]).some((phase) => phase === (end?.phase ?? null))) {
    found.push(differs('end', expected.end, end && `${end.phase} [${end.evidence.join(' ')}]`));
  }
  const phases = records.map(({ record }) => record.phase);
  if (expected.phases && phases.join() !== expected.phases.join())
    found.push(differs('phases', expected.phases, phases));
  const begins = records[0]?.record.evidence;
  if (expected.begins && begins?.join() !== expected.begins.join())
    found.push(differs('begins', expected.begins, begins));
  for (const [figure, field, tolerance] of figures) {
    const wanted = expected[figure];
    if (wanted === undefined) continue;
    const said = last?.[field] ?? null;
    // No pause and none measured are the same to a reader.
    const isSame = wanted === null || said === null ? (said || null) === wanted : Math.abs(said - wanted) <= tolerance;
    if (!isSame) found.push(differs(field, wanted, said));
  }
  return found;
}

const figures = [
  ['noticeSeconds', 'noticeSeconds', twoPolls],
  ['startedSeconds', 'startedSeconds', twoPolls],
  ['pauseMs', 'observedPauseTotalMs', tickMs],
  ['outageSeconds', 'observedOutageSeconds', twoPolls],
] as const satisfies readonly (readonly [keyof Expected, keyof LifecycleRecord, number])[];
