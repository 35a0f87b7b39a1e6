import { describe, expect, test } from 'vitest';
import type { ApproverOptions } from '../../src/approver/approver.ts';
import type { ApprovalAnswer } from '../../src/imds/approve.ts';
import { termsOf } from '../../src/lifecycle/approval-terms.ts';
import type { ScheduledEvent } from '../../src/lifecycle/scheduled-event.ts';
import type { Outbox } from '../../src/outbox/outbox.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { event, started } from '../support/observations.ts';
import { type ApproverHarness, type HarnessOptions, openApprover, slow } from './harness.ts';

const preempt = event({ eventType: 'Preempt' });
const { eventId } = preempt;
const shown = termsOf(preempt, undefined);

/** One document, then an operator's request. */
async function whenRequested(
  events: readonly ScheduledEvent[] | undefined,
  argument: unknown,
  given: Partial<HarnessOptions> = {},
  andThen: (harness: ApproverHarness) => void | Promise<void> = () => {},
): Promise<unknown> {
  using directory = temporaryDirectory('by-hand');
  const harness = openApprover(directory.path, given);
  await harness.observe(events);
  const answer = await harness.approver.approve(argument);
  await andThen(harness);
  await harness.close();
  return answer;
}

describe('manual approval', () => {
  test.each<[string, ScheduledEvent]>([
    ['an eviction', preempt],
    ['a deletion', event({ eventType: 'Terminate' })],
    ['a reboot by the platform', event({ eventType: 'Reboot', durationSeconds: -1 })],
    ['a long freeze', event({ durationSeconds: 600 })],
    ['an event of other VMs', event({ resources: ['db_7'] })],
    ['an event of an unknown type', event({ eventType: 'Melt' })],
  ])('takes %s, in the first document too', async (_, listed) => {
    const answer = await whenRequested([listed], { eventId }, {}, ({ posts, approvals, records }) => {
      expect([posts, approvals()]).toEqual([[eventId], ['Approved: accepted']]);
      expect(records().at(-1)).toMatchObject({ phase: 'Approved', eventType: listed.eventType });
    });
    expect(answer).toMatchObject({
      ok: true,
      outcome: 'accepted',
      message: expect.stringContaining('Azure accepted it'),
    });
  });

  test('finds the event case-insensitively, while it names the VMs that were shown', async () => {
    const asked = { eventId: eventId.toLowerCase(), terms: { ...shown, resources: ['WEB_0'] } };
    expect(await whenRequested([preempt], asked)).toMatchObject({ ok: true });
  });

  test.each<[string, readonly ScheduledEvent[] | undefined, unknown, string]>([
    ['an event that is not listed, and says which are', [preempt], { eventId: 'other' }, `Listed: ${eventId}`],
    ['an event where none is listed', [], { eventId }, 'Listed: none'],
    ['an event that has started', [started(preempt)], { eventId }, 'The event is Started'],
    [
      'an event that names other VMs than were shown',
      [preempt],
      { eventId, terms: { ...shown, resources: ['web_0', 'web_1'] } },
      'other VMs',
    ],
    [
      'an event that names more VMs than were shown',
      [event({ ...preempt, resources: ['web_0', 'db_7'] })],
      { eventId, terms: shown },
      'names other VMs: web_0, db_7',
    ],
    [
      'an event that was shown as a freeze',
      [preempt],
      { eventId, terms: { ...shown, eventType: 'Freeze' } },
      'The event has changed: it is of the type Preempt',
    ],
    [
      'an event that was shown as one that a user asked for',
      [preempt],
      { eventId, terms: { ...shown, eventSource: 'User' } },
      'source Platform',
    ],
    [
      'an event that is to last longer than was shown',
      [event({ ...preempt, durationSeconds: 600 })],
      { eventId, terms: shown },
      'duration 600',
    ],
    ['a request that names VMs in another way', [preempt], { eventId, resources: ['web_0'] }, 'another version'],
    ['a request whose terms cannot be read', [preempt], { eventId, terms: { ...shown, listedTwice: 1 } }, 'version'],
    ['an event while the metadata service does not answer', undefined, { eventId }, 'what is scheduled now is unknown'],
    ['nothing in particular', [preempt], null, 'no EventId'],
    ['what is no text', [preempt], { eventId: 5 }, 'no EventId'],
    ['nothing at all', [preempt], { eventId: ' ' }, 'no EventId'],
  ])('does not take %s', async (_, events, argument, message) => {
    const answer = await whenRequested(events, argument, {}, ({ posts, approvals }) =>
      expect([posts, approvals()]).toEqual([[], []]),
    );
    expect(answer).toEqual({ ok: false, outcome: null, message: expect.stringContaining(message) });
  });

  test.each([
    [false, { ok: false, outcome: null, message: expect.stringContaining('listed more than once') }],
    [true, { ok: true, outcome: 'accepted' }],
  ])('accepts an event that is listed twice only when the operator was warned: %s', async (listedTwice, answer) => {
    using directory = temporaryDirectory('by-hand');
    const harness = openApprover(directory.path);
    await harness.observe([preempt], { listedTwice: [eventId.toLowerCase()] });
    expect(await harness.approver.approve({ eventId, terms: { ...shown, listedTwice } })).toMatchObject(answer);
    await harness.close();
  });

  test('sends nothing and records nothing when the document became old while the intent was written', async () => {
    const clock = createFakeClock();
    const slowDisk = (outbox: Outbox): ApproverOptions['outbox'] => slow(outbox, () => clock.stepWall(5_001));
    const answer = await whenRequested(
      [preempt],
      { eventId },
      { clock, outbox: slowDisk },
      ({ posts, approvals, outbox }) => {
        expect([posts, approvals(), outbox.openApprovals()]).toEqual([[], [], []]);
        expect(outbox.state.approved).toEqual(new Set());
      },
    );
    expect(answer).toMatchObject({ ok: false, outcome: null });
  });

  test('does not take a document of more than 5 s ago', async () => {
    using directory = temporaryDirectory('by-hand');
    const harness = openApprover(directory.path);
    await harness.observe([preempt]);
    await harness.clock.advance(5001);
    expect(await harness.approver.approve({ eventId })).toMatchObject({ ok: false, outcome: null });
    expect(harness.posts).toEqual([]);
    await harness.close();
  });

  test('is refused before the metadata service has named this VM', async () => {
    expect(await whenRequested([preempt], { eventId }, { fresh: () => false })).toMatchObject({
      ok: false,
      outcome: null,
    });
  });

  test.each<ApprovalAnswer>([
    { outcome: 'refused', reason: 'The metadata service refused it.' },
    { outcome: 'outcome-unknown', reason: 'No answer.' },
  ])('answers with the outcome %o', async (answer) => {
    const answered = await whenRequested([preempt], { eventId }, { answer }, ({ approvals }) =>
      expect(approvals()).toEqual([`Approved: ${answer.outcome}`]),
    );
    expect(answered).toEqual({ ok: false, outcome: answer.outcome, message: answer.reason });
  });

  test('requested twice at once is one approval, and both requests get its outcome', async () => {
    using directory = temporaryDirectory('by-hand');
    const harness = openApprover(directory.path);
    await harness.observe([preempt]);
    const answers = await Promise.all([harness.approver.approve({ eventId }), harness.approver.approve({ eventId })]);
    expect(answers.map(({ ok }) => ok)).toEqual([true, true]);
    expect([harness.posts, harness.approvals()]).toEqual([[eventId], ['Approved: accepted']]);
    await harness.close();
  });

  test('requested again after a refusal is a second approval with its own record', async () => {
    let outcome: 'refused' | 'accepted' = 'refused';
    const answer = async (): Promise<ApprovalAnswer> =>
      outcome === 'refused' ? { outcome, reason: 'busy' } : { outcome, reason: null };
    await whenRequested([preempt], { eventId }, { answer }, async ({ approver, approvals, records }) => {
      outcome = 'accepted';
      expect(await approver.approve({ eventId })).toMatchObject({ ok: true });
      expect(approvals()).toEqual(['Approved: refused', 'Approved: accepted']);
      expect(new Set(records().map(({ recordId }) => recordId)).size).toBe(3);
    });
  });

  test('of an event of other VMs names its VMs in the record, and in the record of the end', async () => {
    const ofOthers = event({ resources: ['db_7'] });
    await whenRequested([ofOthers], { eventId }, {}, async ({ observe, records }) => {
      await observe([started(ofOthers)]);
      await observe([]);
      expect(records().map(({ phase, observerAffected }) => `${phase} ${observerAffected}`)).toEqual([
        'Approved false',
        'Started false',
        'Completed false',
      ]);
      expect(records().map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    });
  });
});
