import type { LifecycleRecord } from './observer.ts';

type Record = Pick<
  LifecycleRecord,
  'vmId' | 'streamId' | 'sequence' | 'phase' | 'evidence' | 'observedAt' | 'clockOffsetSeconds'
>;

/** When it was seen on Azure's clock, which all VMs share. */
const timeOf = ({ observedAt, clockOffsetSeconds }: Record): number =>
  Date.parse(observedAt) + 1000 * (clockOffsetSeconds ?? 0);

function rankOf({ phase, evidence }: Record): number {
  if (evidence.includes('said-by-azure')) return 0;
  if (phase === 'Completed' && evidence.includes('left-after-started')) return 1;
  if (phase === 'Canceled') return 2;
  return phase === 'Completed' ? 3 : 4;
}

/**
 * How one event ended, by the rules of the contract, written without the product's: a return withdraws the ends before it;
 * of those left the best known wins, and a Canceled watched without a gap outranks a Completed that never saw Started.
 */
export function fold(records: readonly Record[]): Record | null {
  const returns = records.filter(({ evidence }) => evidence.includes('reappeared'));
  const ends = records.filter(
    (record) =>
      ['Completed', 'Canceled', 'Ended'].includes(record.phase) &&
      !returns.some(
        (back) =>
          timeOf(record) < timeOf(back) ||
          (back.vmId === record.vmId && back.streamId === record.streamId && record.sequence < back.sequence),
      ),
  );
  return ends.sort((a, b) => rankOf(a) - rankOf(b) || timeOf(a) - timeOf(b))[0] ?? null;
}
