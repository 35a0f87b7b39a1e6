import { describe, expect, test } from 'vitest';
import { asStored, typeMismatch } from '../../../src/azure-simulator/logs-ingestion/columns.ts';

const cases: [type: string, fits: unknown[], doesNot: unknown[]][] = [
  ['string', ['', 'text', '1', null, undefined], [1, true, {}, []]],
  ['guid', ['c7061bac-afdc-4513-b24b-aa5f13a16123'], [1]],
  ['int', [0, -1, 2 ** 31 - 1, null], [1.5, 2 ** 31, '1']],
  ['long', [2 ** 40, -1], [0.5, 2 ** 53, '1']],
  ['real', [0, 1.5, -1], ['1', true]],
  ['boolean', [true, false], ['true', 0]],
  [
    'datetime',
    ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123456789Z'],
    ['yesterday', ''],
  ],
  ['dateTime', ['2026-01-01T02:00:00+02:00', '2026-01-01 00:00:00', '2026-01-01 00:00', '2026-01-01'], ['2026-13-01']],
  ['DateTime', [null], [1_700_000_000_000, 'Sat, 14 Mar 2026 09:41:53 GMT', '14 March 2026', '2026-01-01T']],
  ['dynamic', [{}, [], 'text', '{"a":1}', 1, true], []],
];

describe('the columns of a simulated table', () => {
  test.each(cases)('%s takes %j and refuses %j', (type, fits, doesNot) => {
    const check = (value: unknown): string | null => typeMismatch([{ Field: value }], [{ name: 'Field', type }]);
    expect(fits.map(check).filter((reason) => reason !== null)).toEqual([]);
    expect(doesNot.map(check).filter((reason) => reason === null)).toEqual([]);
  });

  test('a refusal names row, column and type', () => {
    const rows = [{ Field: 1 }, { Field: 'one' }];
    expect(typeMismatch(rows, [{ name: 'Field', type: 'int' }])).toBe('row 1: Field is int, but "one" was sent');
    expect(typeMismatch(rows, [{ name: 'Field', type: 'colour' }])).toContain('unknown type colour');
  });

  test('a stored row has only the declared columns, long values are truncated and an implausible time is replaced', () => {
    const now = new Date('2026-01-10T00:00:00.000Z');
    const columns = ['TimeGenerated', 'Text', 'Nothing'].map((name) => ({ name, type: 'string' }));
    const row = { TimeGenerated: '2026-01-01T00:00:00.000Z', Text: 'x'.repeat(70_000), Nothing: null, Undeclared: 1 };
    expect(asStored(row, columns, now)).toEqual({ TimeGenerated: now.toISOString(), Text: 'x'.repeat(65_536) });
    const recent = { TimeGenerated: '2026-01-09T00:00:00.000Z' };
    expect(asStored(recent, columns, now)).toEqual(recent);
    expect(asStored({}, columns, now)).toEqual({ TimeGenerated: now.toISOString() });
  });

  test('a time without an offset is one of UTC', () => {
    const columns = [{ name: 'TimeGenerated', type: 'dateTime' }];
    const stored = (text: string): unknown =>
      asStored({ TimeGenerated: text }, columns, new Date('2026-01-10T12:00:00.000Z')).TimeGenerated;
    expect(stored('2026-01-08 12:00:01')).toBe('2026-01-08 12:00:01');
    expect(stored('2026-01-08 11:59:59')).toBe('2026-01-10T12:00:00.000Z');
    expect(stored('2026-01-08 12:59:59+01:00')).toBe('2026-01-10T12:00:00.000Z');
  });

  test('a field in another letter case is an undeclared one', () => {
    const columns = [{ name: 'Phase', type: 'string' }];
    expect(typeMismatch([{ phase: 1 }], columns)).toBeNull();
    expect(asStored({ phase: 'x', PHASE: 'y' }, columns, new Date(0))).toEqual({
      TimeGenerated: '1970-01-01T00:00:00.000Z',
    });
  });

  test.each([
    ['that fits', 'x'.repeat(65_536), 'x'.repeat(65_536)],
    ['of one byte each', 'x'.repeat(65_537), 'x'.repeat(65_536)],
    ['of two bytes, the last one split', `x${'ä'.repeat(32_768)}`, `x${'ä'.repeat(32_767)}`],
    ['of three bytes', '€'.repeat(21_846), '€'.repeat(21_845)],
    ['of four bytes', `xxx${'🙂'.repeat(16_384)}`, `xxx${'🙂'.repeat(16_383)}`],
    ['of an array', ['x'.repeat(70_000)], `["${'x'.repeat(65_534)}`],
  ])('a value is cut at 64 KB between characters: text %s', (_, sent, stored) => {
    const columns = [{ name: 'Value', type: 'dynamic' }];
    expect(asStored({ Value: sent }, columns, new Date(0)).Value === stored).toBe(true);
  });
});
