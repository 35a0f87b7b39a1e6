import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { scenarios } from '../../../../infra/acceptance/events/scenarios.ts';
import { findLeaks } from '../../../../infra/acceptance/recordings/scan.ts';
import { createGroupDocument } from '../../../../src/azure-simulator/imds/document.ts';
import type { Fault } from '../../../../src/azure-simulator/imds/faults.ts';
import { type Recording, readRecording } from '../../../../src/azure-simulator/recording/read-recording.ts';
import { replay } from '../../../../src/azure-simulator/recording/replay.ts';
import { parseDocument } from '../../../../src/imds/document.ts';
import type { LifecycleRecord } from '../../../../src/lifecycle/record.ts';
import type { PollResult } from '../../../../src/lifecycle/scheduled-event.ts';
import { gapAfterMs, transition } from '../../../../src/lifecycle/transition.ts';
import { observerNamed, settled } from '../../../support/observations.ts';

const folder = join(import.meta.dirname, '../../../fixtures/recordings');
const files = readdirSync(folder).filter((file) => file.endsWith('.jsonl'));

/**
 * The phases that the documents of each scenario must give, by Microsoft's description of the operation: an announced event starts, with or
 * without approval, and then leaves the list. A deallocation has no event. An approval is not in the documents, and neither is a restart.
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events
 */
const announcedAndStarted = ['Scheduled', 'Started', 'Completed'];
const expected: Readonly<Record<string, { readonly type: string | null; readonly phases: readonly string[] }>> = {
  'restart-approved': { type: 'Reboot', phases: announcedAndStarted },
  restart: { type: 'Reboot', phases: announcedAndStarted },
  'restart-uniform': { type: 'Reboot', phases: announcedAndStarted },
  'restart-flexible': { type: 'Reboot', phases: announcedAndStarted },
  'redeploy-approved': { type: 'Redeploy', phases: announcedAndStarted },
  redeploy: { type: 'Redeploy', phases: announcedAndStarted },
  deallocate: { type: null, phases: [] },
  evict: { type: 'Preempt', phases: announcedAndStarted },
  'delete-uniform-approved': { type: 'Terminate', phases: announcedAndStarted },
  // No VM of the scale set remains that could record more than the announcement.
  'delete-uniform': { type: 'Terminate', phases: ['Scheduled'] },
  'delete-flexible-approved': { type: 'Terminate', phases: announcedAndStarted },
  'delete-flexible': { type: 'Terminate', phases: ['Scheduled'] },
};

test('there is a recording of each scenario, and no other', () => {
  const played = scenarios.filter(({ role }) => role !== 'windows').map(({ id }) => id);
  const recorded = files.map((file) => file.replace('.jsonl', ''));
  expect([recorded.sort(), Object.keys(expected).sort()]).toEqual([played.sort(), played.sort()]);
});

test.for(files)('no name, id or address is in %s', (file) => {
  expect(findLeaks(readFileSync(join(folder, file), 'utf8'))).toEqual([]);
});

test.for(files)('the bridge derives the phases of %s from its replay', async (file) => {
  const recording = readRecording(file, readFileSync(join(folder, file), 'utf8'));
  const records = await observeReplay(recording);
  const { type, phases } = expected[file.replace('.jsonl', '')] ?? {};
  expect(records.map(({ phase }) => phase)).toEqual(phases);
  expect([...new Set(records.map(({ eventType }) => eventType))]).toEqual(type === null ? [] : [type]);
  expect([...new Set(records.map(({ eventId }) => eventId))].length).toBeLessThanOrEqual(1);
});

/** Replays a recording on the simulator at its own speed, by a fake clock, and polls it once a second as the bridge does. */
async function observeReplay(recording: Recording): Promise<readonly LifecycleRecord[]> {
  vi.useFakeTimers({ now: Date.parse('2026-01-01T00:00:00.000Z'), fakeNodeBuiltins: true });
  onTestFinished(() => void vi.useRealTimers());
  const group = createGroupDocument();
  let fault: Fault | null = { status: 503 };
  const showFault = (_: string, given: Fault | null): void => {
    fault = given;
  };
  const over = replay({ change: group.change, fault: showFault }, recording);
  const lastSeconds = recording.changes.at(-1)?.atSeconds ?? 0;
  let state = settled;
  const records: LifecycleRecord[] = [];
  for (let second = 0; second < lastSeconds + 10; second += 1) {
    await vi.advanceTimersByTimeAsync(1000);
    const poll = pollOf(fault === null ? JSON.stringify(group.current) : null);
    const turn = transition(state, poll, {
      host: { bootId: 'boot-1', physicalHost: null, tick: null, wallStepMs: 0 },
      observer: observerNamed(recording.header.vm?.name ?? ''),
      // The recorder of a VM that is deleted is another VM of its scale set.
      scope: { witnessRate: 1 },
      gapAfterMs: gapAfterMs(1),
      enablingMs: 0,
      bridgeVersion: '1.2.3',
      at: new Date(),
      monotonicMs: 1000 * second,
    });
    state = turn.state;
    records.push(...turn.records);
  }
  expect(await over).toBe(true);
  return records;
}

function pollOf(body: string | null): PollResult {
  const parsed = body === null ? null : parseDocument(body, '2020-07-01');
  if (parsed?.kind !== 'document') return { kind: 'unavailable', code: 'http-503', reason: 'busy', retryAfterMs: null };
  return { ...parsed, imdsApiVersion: '2020-07-01', azureTime: new Date(), clockOffsetSeconds: 0 };
}
