import { expect, test } from 'vitest';
import { skippedNote } from '../../src/fleet-page/notes.ts';
import { statusOf, whyNone } from '../../src/fleet-page/page-state.ts';
import { ms } from './vm-reports.ts';

const read = { isHistoryRead: true, problems: [], notes: [] };
const facts = { reading: read, isFiltered: false, firstRecordAt: ms('08:00:00'), now: ms('12:00:00') };

test('that nothing is shown has a reason: not read yet, filtered, or nothing in what the hub holds', () => {
  const why = (more: Partial<typeof facts>): string => whyNone('No event is announced', { ...facts, ...more });
  expect(why({})).toBe('No event is announced in what the hub holds, since 08:00:00.');
  expect(why({ isFiltered: true })).toBe('No event is announced that matches the filters.');
  expect(why({ reading: { ...read, isHistoryRead: false } })).toBe('Reading the history of the hub…');
  expect(whyNone('No event is announced', { ...facts, firstRecordAt: null })).toBe(
    'No event is announced: the hub holds no record.',
  );
});

test('the page is live only while all of the hub is read', () => {
  expect(statusOf({ reading: read, knownVms: 87 })).toEqual({ state: 'live', text: 'Live, 87 VMs known' });
  expect(statusOf({ reading: { ...read, problems: ['Nothing listens.'] as never }, knownVms: 87 })).toEqual({
    state: 'lost',
    text: 'Not reading all of the hub, 87 VMs known',
  });
  expect(statusOf({ reading: { ...read, isHistoryRead: false }, knownVms: 87 }).state).toBe('reading');
});

test('skipped messages are counted', () => {
  expect(skippedNote(1)).toMatch(/^1 message skipped/);
  expect(skippedNote(3)).toMatch(/^3 messages skipped/);
});
