import type { Outbox } from '../outbox/outbox.ts';

/** What happened to the outbox since the process began. */
export interface StoreCounts {
  /** How often it could not be written any more, by code. */
  readonly errors: Readonly<Record<string, number>>;
  /** How often a damaged file was replaced. */
  readonly corruptions: number;
}

/** Counts changes of the outbox, which only has its present state: it is compared after each poll. */
export function createStoreCounts(
  outbox: Pick<Outbox, 'storage' | 'recovery'>,
  startedAt: Date,
): { update(): void; counts(): StoreCounts } {
  const errors: Record<string, number> = {};
  let corruptions = 0;
  let code: string | null = null;
  let recoveredAt: string | null = null;
  const update = (): void => {
    const now = outbox.storage.fault?.code ?? null;
    if (now !== null && now !== code) errors[now] = (errors[now] ?? 0) + 1;
    code = now;
    const at = outbox.recovery?.at ?? null;
    if (at !== null && at !== recoveredAt && Date.parse(at) >= startedAt.getTime()) corruptions += 1;
    recoveredAt = at;
  };
  update();
  return { update, counts: () => ({ errors: { ...errors }, corruptions }) };
}
