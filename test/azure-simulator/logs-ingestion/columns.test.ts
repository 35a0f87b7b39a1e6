import { describe, expect, test } from 'vitest';
import { asStored, misfit } from '../../../src/azure-simulator/logs-ingestion/columns.ts';

const misfits: [type: string, fits: unknown[], doesNot: unknown[]][] = [
  ['string', ['', 'text', null, undefined], [1, true, {}, []]],
  ['guid', ['c7061bac-afdc-4513-b24b-aa5f13a16123'], [1]],
  ['int', [0, -1, 2 ** 31 - 1, null], [1.5, 2 ** 31, '1']],
  ['long', [2 ** 40, -1], [0.5, '1']],
  ['real', [0, 1.5, -1], ['1', true]],
  ['boolean', [true, false], ['true', 0]],
  ['datetime', ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00Z'], ['yesterday', 1_700_000_000_000, '']],
  ['dynamic', [{}, [], 'text', 1, true], []],
];

describe('the columns of a simulated table', () => {
  test.each(misfits)('%s takes %j and refuses %j', (type, fits, doesNot) => {
    const check = (value: unknown): string | null => misfit([{ Field: value }], [{ name: 'Field', type }]);
    expect(fits.map(check).filter((reason) => reason !== null)).toEqual([]);
    expect(doesNot.map(check).filter((reason) => reason === null)).toEqual([]);
  });

  test('a refusal names row, column and type', () => {
    const rows = [{ Field: 1 }, { Field: 'one' }];
    expect(misfit(rows, [{ name: 'Field', type: 'int' }])).toBe('row 1: Field is int, but "one" was sent');
    expect(misfit(rows, [{ name: 'Field', type: 'colour' }])).toContain('unknown type colour');
  });

  test('what is stored has the declared columns only, long values cut and an unbelievable time replaced', () => {
    const now = new Date('2026-01-10T00:00:00.000Z');
    const columns = ['TimeGenerated', 'Text', 'Nothing'].map((name) => ({ name, type: 'string' }));
    const row = { TimeGenerated: '2026-01-01T00:00:00.000Z', Text: 'x'.repeat(70_000), Nothing: null, Undeclared: 1 };
    expect(asStored(row, columns, now)).toEqual({ TimeGenerated: now.toISOString(), Text: 'x'.repeat(65_536) });
    const recent = { TimeGenerated: '2026-01-09T00:00:00.000Z' };
    expect(asStored(recent, columns, now)).toEqual(recent);
    expect(asStored({}, columns, now)).toEqual({ TimeGenerated: now.toISOString() });
  });
});
