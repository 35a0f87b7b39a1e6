import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { disablingFile } from '../../src/approver/disabled.ts';
import type { ApprovalAnswer } from '../../src/imds/approve.ts';
import type { ScheduledEvent } from '../../src/lifecycle/scheduled-event.ts';
import type { Outbox } from '../../src/outbox/outbox.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { settled } from '../support/fake-clock.ts';
import { event, started } from '../support/observations.ts';
import { type ApproverHarness, type HarnessOptions, intending, openApprover } from './harness.ts';

/** The clock of the harness starts at New Year: fifteen minutes ahead of it. */
const notBefore = '2026-01-01T00:15:00.000Z';
const reboot = event({ eventType: 'Reboot', eventSource: 'User', durationSeconds: -1, notBefore });
const ofNeighbour = event({ ...reboot, resources: ['web_1'] });
const userInitiated = { policy: { userInitiated: true } };
const { eventId } = reboot;

/** A bridge in a directory of its own; closed and removed afterwards. */
async function inDirectory(
  given: Partial<HarnessOptions>,
  scenario: (harness: ApproverHarness, directory: string) => Promise<ApproverHarness | undefined>,
): Promise<void> {
  using directory = temporaryDirectory('approver');
  const harness = openApprover(directory.path, given);
  const last = await scenario(harness, directory.path);
  await (last ?? harness).close();
}

describe('approving by policy', () => {
  test('an event that appears is approved at once, with one POST and one record', () =>
    inDirectory(userInitiated, async ({ observe, posts, approvals, records, outbox }) => {
      await observe([]);
      for (let n = 0; n < 5; n += 1) await observe([reboot]);
      expect(posts).toEqual([eventId]);
      expect(approvals()).toEqual(['Approved: accepted']);
      expect(records().map(({ position, sequence }) => [position, sequence])).toEqual([
        [1, 1],
        [2, 2],
      ]);
      expect(outbox.state.approved).toEqual(new Set([eventId.toLowerCase()]));
      expect(outbox.openApprovals()).toEqual([]);
      return undefined;
    }));

  test('an event listed at the start is approved with the second document, even when that document is unchanged', () =>
    inDirectory(userInitiated, async ({ observe, posts }) => {
      await observe([reboot]);
      expect(posts).toEqual([]);
      await observe(undefined);
      expect(posts).toEqual([]);
      await observe([reboot], { unchanged: true });
      expect(posts).toEqual([eventId]);
      return undefined;
    }));

  test('nothing is approved without a policy in the configuration', () =>
    inDirectory({}, async ({ observe, posts, log }) => {
      for (const _ of [1, 2, 3]) await observe([reboot]);
      expect(posts).toEqual([]);
      expect(log).toEqual([]);
      return undefined;
    }));

  test('nothing is approved before the metadata service has named this VM', () => {
    let isFresh = false;
    return inDirectory({ ...userInitiated, fresh: () => isFresh }, async ({ observe, posts }) => {
      for (const _ of [1, 2, 3]) await observe([reboot]);
      expect(posts).toEqual([]);
      isFresh = true;
      await observe([reboot]);
      expect(posts).toEqual([eventId]);
      return undefined;
    });
  });

  test('a stop file in the state directory pauses approvals until it is removed', () =>
    inDirectory(userInitiated, async ({ observe, posts }, directory) => {
      await observe([]);
      writeFileSync(join(directory, disablingFile), '');
      for (const _ of [1, 2, 3]) await observe([reboot]);
      expect(posts).toEqual([]);
      rmSync(join(directory, disablingFile));
      await observe([reboot]);
      expect(posts).toEqual([eventId]);
      return undefined;
    }));

  test('a neighbour keeps its full delay when the clock is set forward', () =>
    inDirectory(
      { policy: { userInitiated: true, onBehalfOf: ['web_1'], onBehalfAfterSeconds: 60 } },
      async ({ observe, posts, approvals, clock }) => {
        await observe([]);
        await observe([ofNeighbour]);
        clock.stepWall(86_400_000);
        await observe([ofNeighbour]);
        await observe([ofNeighbour], { afterMs: 58_900 });
        expect(posts).toEqual([]);
        await observe([ofNeighbour], { afterMs: 200 });
        expect(posts).toEqual([eventId]);
        expect(approvals()).toEqual(['Approved: accepted on-behalf-of:web_1']);
        return undefined;
      },
    ));

  test('the intent is on disk before the request is sent to Azure', async () => {
    let open: Outbox | null = null;
    let found: readonly string[] = [];
    const answer = async (): Promise<ApprovalAnswer> => {
      found = open?.openApprovals().map((intent) => intent.eventId) ?? [];
      return { outcome: 'accepted', reason: null };
    };
    await inDirectory({ ...userInitiated, answer }, async ({ observe, outbox }) => {
      open = outbox;
      await observe([]);
      await observe([reboot]);
      expect(found).toEqual([eventId]);
      return undefined;
    });
  });

  test('without a disk that takes the intent nothing is approved', () =>
    inDirectory(
      {
        ...userInitiated,
        outbox: (outbox) => intending(outbox, () => false),
      },
      async ({ observe, posts, log }) => {
        await observe([]);
        for (const _ of [1, 2, 3]) await observe([reboot]);
        expect(posts).toEqual([]);
        expect(log.filter(({ level }) => level === 'error')).toHaveLength(1);
        return undefined;
      },
    ));

  test.each<[ApprovalAnswer, string, string[]]>([
    [{ outcome: 'accepted', reason: null }, 'Ended: approved', ['info']],
    [{ outcome: 'refused', reason: 'not valid' }, 'Canceled: left-before-not-before', ['warn']],
    [{ outcome: 'outcome-unknown', reason: 'no answer' }, 'Ended: approved', ['warn']],
  ])('the outcome %o is recorded, is not requested again, and is used when the event ends', (answer, end, levels) =>
    inDirectory({ ...userInitiated, answer }, async ({ observe, posts, approvals, records, log }) => {
      await observe([]);
      for (const _ of [1, 2, 3]) await observe([reboot]);
      expect(posts).toEqual([eventId]);
      expect(approvals()).toEqual([`Approved: ${answer.outcome}`]);
      expect(log.filter(({ message }) => /pproved: Reboot/.test(message)).map(({ level }) => level)).toEqual(levels);
      await observe([]);
      const last = records().at(-1);
      expect(`${last?.phase}: ${last?.evidence.join(' ')}`).toBe(end);
      return undefined;
    }),
  );

  test('a slow POST delays no poll, and nothing is sent twice', async () => {
    let answer: (answer: ApprovalAnswer) => void = () => {};
    const slow = (): Promise<ApprovalAnswer> => new Promise((resolve) => (answer = resolve));
    await inDirectory({ ...userInitiated, answer: slow }, async ({ observe, posts, approvals, records }) => {
      await observe([]);
      for (const _ of [1, 2, 3]) await observe([reboot]);
      await observe([started(reboot)]);
      await observe([]);
      expect([posts, approvals()]).toEqual([[eventId], []]);
      answer({ outcome: 'accepted', reason: null });
      await settled();
      expect(approvals()).toEqual(['Approved: accepted']);
      expect(records().map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
      return undefined;
    });
  });

  test('the reason why an event of this VM is not approved is logged once', () =>
    inDirectory(userInitiated, async ({ observe, log }) => {
      await observe([]);
      for (const _ of [1, 2, 3]) await observe([event({ eventType: 'Preempt' })]);
      const why = 'events of its type need a manual approval';
      expect(log).toEqual([{ level: 'info', message: `Preempt ${eventId} is not approved automatically: ${why}.` }]);
      return undefined;
    }));

  test('an internal error never reaches the poll loop', () =>
    inDirectory(
      {
        ...userInitiated,
        outbox: (outbox) =>
          intending(outbox, () => {
            throw new Error('of ours');
          }),
      },
      async ({ observe, log }) => {
        await observe([]);
        await observe([reboot]);
        expect(log.map(({ level }) => level)).toEqual(['error']);
        return undefined;
      },
    ));
});

describe('an approval that a process left open', () => {
  const silent = { ...userInitiated, answer: null };
  const early = started(reboot);
  const bootId = 'boot-2';

  type ObserveArguments = readonly [events: readonly ScheduledEvent[], more?: { bootId?: string; afterMs?: number }];
  test.each<{
    name: string;
    first?: ScheduledEvent;
    observations: readonly ObserveArguments[];
    posts: number;
    outcome: string;
  }>([
    {
      name: 'is accepted when the event is Started before its time',
      observations: [[[early]]],
      posts: 0,
      outcome: 'accepted',
    },
    {
      name: 'has the outcome outcome-unknown when the event is Started after its time',
      observations: [[[early], { afterMs: 1_000_000 }]],
      posts: 0,
      outcome: 'outcome-unknown',
    },
    {
      name: 'is accepted when this VM was rebooted by the event before its time',
      observations: [[[], { bootId }]],
      posts: 0,
      outcome: 'accepted',
    },
    {
      name: 'has the outcome outcome-unknown when this VM was rebooted after the time of the event',
      observations: [[[], { bootId, afterMs: 1_000_000 }]],
      posts: 0,
      outcome: 'outcome-unknown',
    },
    {
      name: 'has the outcome outcome-unknown when the event left',
      observations: [[[]]],
      posts: 0,
      outcome: 'outcome-unknown',
    },
    {
      name: 'is not sent again with the first document, but with the second',
      observations: [[[reboot]], [[reboot]], [[reboot]]],
      posts: 1,
      outcome: 'accepted',
    },
  ])('$name', ({ observations, posts, outcome }) =>
    inDirectory(silent, async (before) => {
      await before.observe([]);
      await before.observe([reboot]);
      expect([before.posts, before.approvals()]).toEqual([[eventId], []]);
      const after = before.killed({ answer: { outcome: 'accepted', reason: null } });
      for (const [events, more] of observations) await after.observe(events, more);
      expect(after.posts).toHaveLength(posts);
      expect(after.approvals()).toEqual([`Approved: ${outcome}`]);
      expect(after.outbox.openApprovals()).toEqual([]);
      expect(after.records().map(({ position }) => position)).toEqual(after.records().map((_, n) => n + 1));
      return after;
    }),
  );

  test('is recorded with every known field when the event was of other VMs and has been forgotten', () =>
    inDirectory(
      { policy: { userInitiated: true, onBehalfOf: ['web_1'], onBehalfAfterSeconds: 0 }, answer: null },
      async (before) => {
        await before.observe([]);
        await before.observe([ofNeighbour]);
        const after = before.killed();
        await after.observe([]);
        expect(after.approvals()).toEqual(['Approved: outcome-unknown on-behalf-of:web_1']);
        expect(after.records()).toMatchObject([{ eventType: 'Reboot', affectedResources: ['web_1'], position: 1 }]);
        return after;
      },
    ));

  test.each<[string, (directory: string) => void, ScheduledEvent, Partial<HarnessOptions>]>([
    ['the file stops it', (path) => writeFileSync(join(path, disablingFile), ''), reboot, {}],
    ['the policy allows it no more', () => {}, reboot, { policy: {} }],
    ['the event is another one by now', () => {}, event({ ...reboot, resources: ['web_7', 'web_0'] }), {}],
    ['it is uncertain which VM this is', () => {}, reboot, { fresh: () => false }],
  ])('is not sent again while %s, and settled by the document in the end', (_, prepare, listed, options) =>
    inDirectory(silent, async (before, directory) => {
      await before.observe([]);
      await before.observe([reboot]);
      prepare(directory);
      const after = before.killed({ answer: { outcome: 'accepted', reason: null }, ...options });
      for (const __ of [1, 2, 3]) await after.observe([listed]);
      expect([after.posts, after.approvals()]).toEqual([[], []]);
      await after.observe([started(listed)]);
      expect(after.approvals()).toEqual(['Approved: accepted']);
      return after;
    }),
  );

  test('that an operator requested is retried regardless of the policy', () =>
    inDirectory({ answer: null }, async (before) => {
      const preempt = event({ eventType: 'Preempt', notBefore });
      await before.observe([preempt]);
      void before.approver.approve({ eventId });
      await settled();
      const after = before.killed({ answer: { outcome: 'accepted', reason: null } });
      for (const _ of [1, 2, 3]) await after.observe([preempt]);
      expect([after.posts, after.approvals()]).toEqual([[eventId], ['Approved: accepted']]);
      return after;
    }));
});

describe('the end of the service', () => {
  test('waits for an outcome for a moment, and approves nothing more', () =>
    inDirectory(userInitiated, async ({ observe, approver, posts }) => {
      await observe([]);
      await approver.close(2000);
      await observe([reboot]);
      expect(posts).toEqual([]);
      expect(await approver.approve({ eventId })).toMatchObject({ ok: false });
      return undefined;
    }));

  test('leaves an approval without an outcome open', () =>
    inDirectory({ ...userInitiated, answer: null }, async ({ observe, approver, approvals, outbox, clock }) => {
      await observe([]);
      await observe([reboot]);
      const closing = approver.close(2000);
      await clock.advance(2000);
      await closing;
      expect(approvals()).toEqual([]);
      expect(outbox.openApprovals()).toMatchObject([{ eventId, cause: 'user-initiated' }]);
      return undefined;
    }));
});
