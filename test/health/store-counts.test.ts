import { expect, test } from 'vitest';
import { createStoreCounts } from '../../src/health/store-counts.ts';
import type { Outbox } from '../../src/outbox/outbox.ts';

const startedAt = new Date('2026-01-01T00:00:00.000Z');
const fault = (code: string) => ({ kind: 'full' as const, code, reason: '', since: '' });
const recovery = (at: string) => ({
  at,
  reason: '',
  movedTo: '',
  salvaged: { stream: true, events: 0, records: 0, lost: 0 },
});

test('a storage error counts once, however long it lasts, and again when it returns or changes', () => {
  const stands = { fault: null as ReturnType<typeof fault> | null, undurable: 0 };
  const counts = createStoreCounts({ storage: stands, recovery: null }, startedAt);
  for (const code of ['ENOSPC', 'ENOSPC', null, 'ENOSPC', 'EROFS', null]) {
    stands.fault = code === null ? null : fault(code);
    counts.update();
  }
  expect(counts.counts()).toEqual({ errors: { ENOSPC: 2, EROFS: 1 }, corruptions: 0 });
});

test('a damaged file counts where it was replaced in this process, not where an earlier one did it', () => {
  const outbox: { storage: Outbox['storage']; recovery: Outbox['recovery'] } = {
    storage: { fault: null, undurable: 0 },
    recovery: recovery('2025-12-31T23:00:00.000Z'),
  };
  const counts = createStoreCounts(outbox, startedAt);
  expect(counts.counts().corruptions).toBe(0);
  outbox.recovery = recovery('2026-01-01T01:00:00.000Z');
  counts.update();
  counts.update();
  expect(counts.counts().corruptions).toBe(1);
});
