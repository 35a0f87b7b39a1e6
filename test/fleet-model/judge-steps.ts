import type { Finding, Kind } from './kinds.ts';
import { isEnd, isKnown, type ObservedLifecycle, type Step } from './observed-lifecycle.ts';
import type { Account, Recorded } from './observer.ts';
import type { PlatformEvent } from './world.ts';

/** A step is said at once; only while the observer does not know who it is may it wait. */
const toleranceMs = 2500;
const identityToleranceMs = 15_000;

const phasesFor = (step: Step): readonly string[] => {
  if (step.kind === 'appear' || step.kind === 'return') {
    if (!isKnown(step.entry)) return ['Scheduled', 'Updated'];
    return [step.isStarted ? 'Started' : 'Scheduled'];
  }
  if (step.kind === 'start') return ['Started'];
  if (step.kind === 'said') return ['Completed', 'Canceled'];
  return ['Updated'];
};

/** Compares the steps that the documents showed with the records of one stream about one event. */
export function judgeSteps(
  event: PlatformEvent,
  account: Account,
  lifecycle: ObservedLifecycle,
  records: readonly Recorded[],
): Finding[] {
  const { vm } = account;
  const findings: Finding[] = [];
  const add = (kind: Kind, atMs: number, text: string): void => {
    findings.push({ kind, event: event.id, vm: vm.name, atMs, text });
  };
  const free = new Set(records.filter(({ record }) => record.phase !== 'Approved'));
  for (const { record } of lifecycle.departures) if (record) free.delete(record);
  const knownMs = account.observations.find(({ view, atMs }) => view !== null && atMs >= vm.identityMs)?.atMs;
  for (const step of lifecycle.steps) {
    const { atMs, kind, entry } = step;
    if (knownMs === undefined) break;
    const latestMs = atMs < vm.identityMs ? knownMs + identityToleranceMs : atMs + toleranceMs;
    const match = [...free].find(
      (recorded) =>
        recorded.atMs >= atMs &&
        recorded.atMs <= latestMs &&
        phasesFor(step).includes(recorded.record.phase) &&
        (kind !== 'return' || recorded.record.evidence.includes('reappeared')),
    );
    if (match) free.delete(match);
    else add('step-missed', atMs, `${kind} (${entry.status}) was shown and not recorded`);
  }
  for (const recorded of free) {
    const isTwin = records.some(
      (other) =>
        other !== recorded &&
        other.record.observedAt === recorded.record.observedAt &&
        (other.record.phase === recorded.record.phase || (isEnd(other) && isEnd(recorded))),
    );
    add(
      isTwin ? 'step-doubled' : 'step-invented',
      recorded.atMs,
      `${say(recorded)} stands for no change of a document`,
    );
  }
  records.forEach(({ record, atMs }, index) => {
    if (record.sequence !== index + 1) {
      add('step-doubled', atMs, `sequence ${record.sequence} on record ${index + 1} of its stream`);
    }
  });
  return findings;
}

/** Numbers of a stream have no gap, and no id occurs twice. */
export function judgeNumbers({ vm, records }: Account): Finding[] {
  const findings: Finding[] = [];
  const next = new Map<number, number>();
  const ids = new Set<string>();
  for (const { record, atMs, stream } of records) {
    const expected = next.get(stream) ?? 1;
    next.set(stream, record.position + 1);
    const finding = { kind: 'step-doubled', event: record.eventId, vm: vm.name, atMs } as const;
    if (record.position !== expected)
      findings.push({ ...finding, text: `position ${record.position}, not ${expected}` });
    const id = `${stream} ${record.recordId}`;
    if (ids.has(id)) findings.push({ ...finding, text: `recordId of an earlier record` });
    ids.add(id);
  }
  return findings;
}

export const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;
export const say = ({ record }: Recorded): string => `${record.phase} [${record.evidence.join(' ')}]`;
