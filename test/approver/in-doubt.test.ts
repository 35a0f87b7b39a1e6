import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { disablingFile } from '../../src/approver/disabled.ts';
import type { ApprovalAnswer } from '../../src/imds/approve.ts';
import type { ScheduledEvent } from '../../src/lifecycle/scheduled-event.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { event, started } from '../support/observations.ts';
import { type ApproverHarness, type HarnessOptions, openApprover, slow } from './harness.ts';

/** The clock of the harness starts at New Year: fifteen minutes ahead of it. */
const notBefore = '2026-01-01T00:15:00.000Z';
const reboot = event({ eventType: 'Reboot', eventSource: 'User', durationSeconds: -1, notBefore });
const freeze = event({ notBefore });
const { eventId } = reboot;
const policy = { userInitiated: true, freezeUpToSeconds: 9, onBehalfOf: ['web_1'], onBehalfAfterSeconds: 60 };

async function inDirectory(
  given: Partial<HarnessOptions>,
  scenario: (harness: ApproverHarness, directory: string) => Promise<ApproverHarness | undefined>,
): Promise<void> {
  using directory = temporaryDirectory('in-doubt');
  const harness = openApprover(directory.path, { policy, ...given });
  const last = await scenario(harness, directory.path);
  await (last ?? harness).close();
}

describe('the policy approves nothing when in doubt', () => {
  test('an EventId that a document lists twice is never approved, even when a later document lists it once', () =>
    inDirectory({}, async ({ observe, posts, log }) => {
      const listedTwice = [eventId.toLowerCase()];
      await observe([]);
      for (const _ of [1, 2]) await observe([freeze], { listedTwice });
      expect(posts).toEqual([]);
      expect(log.at(-1)?.message).toContain('the document lists it more than once');
      await observe([event({ ...freeze, eventType: 'Preempt' })]);
      expect(posts).toEqual([]);
      return undefined;
    }));

  test.each<[string, ScheduledEvent]>([
    ['reboot', reboot],
    ['longer freeze', event({ notBefore, durationSeconds: 9 })],
    ['freeze of more VMs', event({ notBefore, resources: ['web_0', 'web_1'] })],
  ])('an approved EventId that reappears as a %s is not approved again', (_, back) =>
    inDirectory({}, async ({ observe, posts, killed }) => {
      await observe([]);
      await observe([freeze]);
      await observe([started(freeze)]);
      await observe([]);
      for (const __ of [1, 2]) await observe([back]);
      expect(posts).toEqual([eventId]);
      const after = killed();
      for (const __ of [1, 2, 3]) await after.observe([back]);
      expect(after.posts).toEqual([]);
      return after;
    }),
  );

  test.each<[HarnessOptions['name'], number]>([
    ['stored', 0],
    ['read', 1],
    ['configured', 1],
  ])('a name of this VM that is %s: %i approved', (name, count) =>
    inDirectory({ name }, async ({ observe, posts }) => {
      await observe([]);
      for (const _ of [1, 2]) await observe([reboot]);
      expect(posts).toHaveLength(count);
      return undefined;
    }),
  );

  test.each<[string, ScheduledEvent]>([
    ['type', event({ ...reboot, resources: ['web_1'], eventType: 'Redeploy' })],
    ['list of VMs', event({ ...reboot, resources: ['web_1', 'web_0'] })],
  ])('the delay of a neighbour starts again when the event has another %s', (_, changed) =>
    inDirectory({}, async ({ observe, posts }) => {
      await observe([]);
      await observe([event({ ...reboot, resources: ['web_1'] })]);
      await observe([changed], { afterMs: 59_900 });
      await observe([changed], { afterMs: 59_900 });
      expect(posts).toEqual([]);
      await observe([changed], { afterMs: 200 });
      expect(posts).toEqual([eventId]);
      return undefined;
    }),
  );

  test('several events of one document are each judged by themselves, and sent two at a time', () =>
    inDirectory({}, async ({ observe, posts, approvals }) => {
      const others = [
        event({ ...reboot, eventId: 'second' }),
        event({ ...reboot, eventId: 'third' }),
        event({ ...reboot, eventId: 'evicts', eventType: 'Preempt' }),
        event({ ...freeze, eventId: 'long', durationSeconds: 31 }),
        event({ ...reboot, eventId: 'of-others', resources: ['db_7', 'web_0'] }),
      ];
      await observe([]);
      await observe([reboot, ...others]);
      expect(posts).toEqual([eventId, 'second']);
      for (const _ of [1, 2]) await observe([reboot, ...others]);
      expect(posts).toEqual([eventId, 'second', 'third']);
      expect(approvals()).toEqual(posts.map(() => 'Approved: accepted'));
      return undefined;
    }));

  test.each<ApprovalAnswer>([
    { outcome: 'refused', reason: 'HTTP 400' },
    { outcome: 'outcome-unknown', reason: 'HTTP 429' },
    { outcome: 'outcome-unknown', reason: 'no answer in 10 s' },
  ])('after %o it is not sent again by this process, nor by the next one', (answer) =>
    inDirectory({ answer }, async ({ observe, posts, killed }) => {
      await observe([]);
      for (const _ of [1, 2, 3]) await observe([reboot]);
      await observe(undefined);
      await observe([]);
      await observe([reboot]);
      expect(posts).toEqual([eventId]);
      const after = killed();
      for (const _ of [1, 2, 3]) await after.observe([reboot]);
      expect(after.posts).toEqual([]);
      return after;
    }),
  );
});

test('an approval started for this VM is not sent for another VM after a crash', () =>
  inDirectory({ answer: null, policy: { ...policy, onBehalfAfterSeconds: 0 } }, async (before) => {
    await before.observe([]);
    await before.observe([reboot]);
    const after = before.killed();
    for (const _ of [1, 2, 3]) await after.observe([event({ ...reboot, resources: ['web_1', 'web_0'] })]);
    expect([after.posts, after.approvals()]).toEqual([[], []]);
    expect(after.log.at(-1)?.message).toContain('begun as user-initiated, and is on-behalf-of:web_1 by now');
    return after;
  }));

describe('an approval that is forbidden after its intent was stored', () => {
  interface Meanwhile {
    readonly name: string;
    readonly happens: (directory: string) => void;
    readonly isOver: (directory: string) => void;
  }
  const clock = createFakeClock();
  test.each<Meanwhile>([
    {
      name: 'the file that stops it is made',
      happens: (directory) => writeFileSync(join(directory, disablingFile), ''),
      isOver: (directory) => rmSync(join(directory, disablingFile)),
    },
    { name: 'more than 5 s pass', happens: () => clock.stepWall(5_001), isOver: () => {} },
  ])('is not sent, leaves no record when $name, and is decided again', async ({ happens, isOver }) => {
    let isSlow = true;
    let path = '';
    const outbox: HarnessOptions['outbox'] = (real) => slow(real, () => isSlow && happens(path));
    await inDirectory({ outbox, clock }, async (harness, directory) => {
      path = directory;
      await harness.observe([]);
      await harness.observe([reboot]);
      expect([harness.posts, harness.approvals(), harness.outbox.openApprovals()]).toEqual([[], [], []]);
      expect(harness.outbox.state.approved).toEqual(new Set());
      expect(harness.log.at(-1)?.message).toContain('is not approved automatically');
      isSlow = false;
      isOver(directory);
      for (const _ of [1, 2]) await harness.observe([reboot]);
      expect([harness.posts, harness.approvals()]).toEqual([[eventId], ['Approved: accepted']]);
      return undefined;
    });
  });

  test('is not used when the event ends', () =>
    inDirectory({ outbox: (real) => slow(real, () => clock.stepWall(5_001)), clock }, async ({ observe, records }) => {
      await observe([]);
      await observe([reboot]);
      await observe([]);
      expect(records().map(({ phase }) => phase)).not.toContain('Approved');
      expect(records().at(-1)?.evidence).not.toContain('approved');
      return undefined;
    }));
});
