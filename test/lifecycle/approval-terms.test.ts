import { describe, expect, test } from 'vitest';
import { type ApprovalTerms, differenceBetween, readTerms, termsOf } from '../../src/lifecycle/approval-terms.ts';
import { event } from '../support/observations.ts';

const freeze = event({ resources: ['web_0', 'web_1'] });
const { eventId } = freeze;
const document = { incarnation: 1, events: [freeze], unreadable: 0 };
const agreed = termsOf(freeze, document);

describe('the terms of an approval', () => {
  test('are the fields of the event in the document, and the number of its entries', () => {
    const listedTwice = ['another', eventId.toLowerCase()];
    expect(agreed).toEqual({
      eventType: 'Freeze',
      eventSource: 'Platform',
      durationSeconds: 5,
      resources: ['web_0', 'web_1'],
      listedTwice: false,
    });
    expect(termsOf(freeze, { ...document, listedTwice })).toEqual({ ...agreed, listedTwice: true });
  });

  test.each<[string, Partial<ApprovalTerms>, string | null]>([
    ['nothing', {}, null],
    ['the order and the letters of names', { resources: ['WEB_1', 'web_0'] }, null],
    ['the type', { eventType: 'Reboot' }, 'is of the type Reboot'],
    ['the letters of the type', { eventType: 'freeze' }, 'is of the type freeze'],
    ['the type, which is no longer reported', { eventType: null }, 'is of the type unknown'],
    ['the source', { eventSource: 'User' }, 'has the source User'],
    ['the duration', { durationSeconds: 0 }, 'has the duration 0'],
    ['the duration, which is no longer reported', { durationSeconds: null }, 'has the duration unknown'],
    ['a name more', { resources: ['web_0', 'web_1', 'db_7'] }, 'names other VMs: web_0, web_1, db_7'],
    ['a name less', { resources: ['web_0'] }, 'names other VMs: web_0'],
    ['a name twice', { resources: ['web_0', 'web_0', 'web_1'] }, 'names other VMs: web_0, web_0, web_1'],
    ['the names, which are no longer reported', { resources: null }, 'names other VMs: none'],
    ['that it is listed twice', { listedTwice: true }, 'is listed more than once'],
  ])('are broken by another type, source, duration, name or entry: %s', (_, change, message) => {
    expect(differenceBetween(agreed, { ...agreed, ...change })).toBe(message);
  });

  test('hold when the operator was shown two entries, of which one has left', () => {
    expect(differenceBetween({ ...agreed, listedTwice: true }, agreed)).toBeNull();
  });

  test.each<ApprovalTerms>([
    agreed,
    { eventType: null, eventSource: null, durationSeconds: null, resources: null, listedTwice: true },
    { ...agreed, durationSeconds: -1, resources: [] },
  ])('round-trip through JSON: %j', (terms) => expect(readTerms(JSON.parse(JSON.stringify(terms)))).toEqual(terms));

  const { eventType: _, ...withoutType } = agreed;
  test.each<unknown>([
    undefined,
    null,
    'Freeze',
    5,
    [],
    {},
    withoutType,
    { ...agreed, eventType: 5 },
    { ...agreed, eventSource: ['User'] },
    { ...agreed, durationSeconds: '5' },
    { ...agreed, resources: 'web_0' },
    { ...agreed, resources: ['web_0', 5] },
    { ...agreed, listedTwice: 'no' },
  ])('are none when they read %j', (value) => expect(readTerms(value)).toBeNull());
});
