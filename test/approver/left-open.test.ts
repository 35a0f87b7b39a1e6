import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { disablingFile } from '../../src/approver/disabled.ts';
import type { ScheduledEvent } from '../../src/lifecycle/scheduled-event.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { createFakeClock, settled } from '../support/fake-clock.ts';
import { event, started } from '../support/observations.ts';
import { type ApproverHarness, type HarnessOptions, type ObserveOptions, openApprover } from './harness.ts';

/** The clock of the harness starts at New Year. */
const freeze = event({ durationSeconds: 5, notBefore: '2026-01-01T02:00:00.000Z' });
const { eventId } = freeze;
const answers: Partial<HarnessOptions> = { answer: { outcome: 'accepted', reason: null } };

/** An operator approves a freeze, and the service dies before Azure has answered; `scenario` is for the next service. */
async function afterDeath(
  scenario: (harness: ApproverHarness, directory: string) => Promise<void>,
  inBetween: (file: string) => void = () => {},
): Promise<void> {
  using directory = temporaryDirectory('left-by-hand');
  const before = openApprover(directory.path, { answer: null, clock: createFakeClock() });
  await before.observe([freeze]);
  void before.approver.approve({ eventId });
  await settled();
  expect(before.posts).toEqual([eventId]);
  inBetween(join(directory.path, 'outbox.sqlite'));
  const after = before.killed(answers);
  await scenario(after, directory.path);
  await after.close();
}

describe('a manual approval that a process left open', () => {
  test('is sent again while the event is what the operator was shown', () =>
    afterDeath(async ({ observe, posts, approvals }) => {
      await observe([freeze]);
      expect(posts).toEqual([]);
      for (const _ of [1, 2]) await observe([event({ ...freeze, resources: ['WEB_0'], description: 'Other words.' })]);
      expect([posts, approvals()]).toEqual([[eventId], ['Approved: accepted']]);
    }));

  type Given = { readonly more?: ObserveOptions; readonly wallMs?: number };
  type Case = readonly [what: string, listed: ScheduledEvent, why: string, given: Given];
  test.each<Case>([
    ['is a reboot by now', event({ ...freeze, eventType: 'Reboot' }), 'the event is of the type Reboot', {}],
    ['is an eviction by now', event({ ...freeze, eventType: 'Preempt' }), 'the event is of the type Preempt', {}],
    ['has no type any more', event({ ...freeze, eventType: null }), 'the type unknown', {}],
    ['lasts longer by now', event({ ...freeze, durationSeconds: 600 }), 'the duration 600', {}],
    ['has no duration any more', event({ ...freeze, durationSeconds: -1 }), 'the duration -1', {}],
    ['names another VM by now', event({ ...freeze, resources: ['web_0', 'db_7'] }), 'other VMs: web_0, db_7', {}],
    ['is that of another VM by now', event({ ...freeze, resources: ['db_7'] }), 'other VMs: db_7', {}],
    ['no longer names a VM', event({ ...freeze, resources: null }), 'other VMs: none', {}],
    ['is listed twice by now', freeze, 'listed more than once', { more: { listedTwice: [eventId.toLowerCase()] } }],
    ['was asked for long ago', freeze, 'may no longer be wanted', { wallMs: 6 * 60_000 }],
    ['was asked for by a clock that was set back since', freeze, 'may no longer be wanted', { wallMs: -6 * 60_000 }],
  ])('is not sent again when the event %s, and this is logged once', (_, listed, why, { more = {}, wallMs = 0 }) =>
    afterDeath(async ({ observe, posts, approvals, log, clock, outbox }) => {
      clock.stepWall(wallMs);
      for (const __ of [1, 2, 3]) await observe([listed], more);
      expect([posts, approvals()]).toEqual([[], []]);
      const warnings = log.filter(({ level }) => level === 'warn').map(({ message }) => message);
      expect(warnings).toEqual([expect.stringContaining(why)]);
      expect(warnings[0]).toContain(`run: approve ${eventId}`);
      expect(outbox.openApprovals()).toHaveLength(1);
      await observe([started(listed)], more);
      expect(approvals()).toHaveLength(1);
      expect(outbox.openApprovals()).toEqual([]);
    }),
  );

  test('is not sent again while the file stops it', () =>
    afterDeath(async ({ observe, posts }, directory) => {
      writeFileSync(join(directory, disablingFile), '');
      for (const _ of [1, 2, 3]) await observe([freeze]);
      expect(posts).toEqual([]);
    }));

  test.each(['NULL', `'{'`, `'{"resources":[]}'`])('is not sent again where its terms were lost: %s', (terms) =>
    afterDeath(
      async ({ observe, posts, log }) => {
        for (const _ of [1, 2, 3]) await observe([freeze]);
        expect(posts).toEqual([]);
        expect(log.at(-1)?.message).toContain('not known any more what the event was');
      },
      (file) => {
        const db = new DatabaseSync(file);
        db.exec(`UPDATE approvals SET terms = ${terms}`);
        db.close();
      },
    ),
  );

  test('is replaced when the operator requests approval of the changed event', () =>
    afterDeath(async ({ observe, posts, approver, approvals, records }) => {
      const longer = event({ ...freeze, durationSeconds: 600 });
      for (const _ of [1, 2]) await observe([longer]);
      expect(await approver.approve({ eventId })).toMatchObject({ ok: true });
      await observe([longer]);
      expect([posts, approvals()]).toEqual([[eventId], ['Approved: accepted']]);
      expect(records().at(-1)).toMatchObject({ phase: 'Approved', durationSeconds: 600 });
    }));
});
