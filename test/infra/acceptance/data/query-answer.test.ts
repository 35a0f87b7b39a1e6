import { describe, expect, test } from 'vitest';
import { queryErrorIn, readQueryAnswer } from '../../../../infra/acceptance/data/query-answer.ts';

/** The example of https://learn.microsoft.com/azure/azure-monitor/logs/api/response-format */
const documented = {
  tables: [
    {
      name: 'PrimaryResult',
      columns: [
        { name: 'Category', type: 'string' },
        { name: 'count_', type: 'long' },
      ],
      rows: [
        ['Administrative', 20839],
        ['Recommendation', 122],
        ['Alert', 64],
        ['ServiceHealth', 11],
      ],
    },
  ],
};

describe('an answer of the query API of Log Analytics', () => {
  test('is read as rows by the names of the columns', () => {
    const { columns, rows } = readQueryAnswer(documented);
    expect(columns).toEqual([
      { name: 'Category', type: 'string' },
      { name: 'count_', type: 'long' },
    ]);
    expect(rows[1]).toEqual({ Category: 'Recommendation', count_: 122 });
    expect(rows).toHaveLength(4);
  });

  test('has times with any number of digits, and dynamic values as text', () => {
    const columns = [
      { name: 'At', type: 'datetime' },
      { name: 'Tags', type: 'dynamic' },
      { name: 'Empty', type: 'dynamic' },
      { name: 'Name', type: 'string' },
    ];
    const rows = [
      ['2026-08-01T12:00:00Z', '{"owner":"web"}', '', '2026-08-01T12:00:00Z'],
      ['2026-08-01T12:00:00.5Z', '["a"]', null, null],
    ];
    expect(readQueryAnswer({ tables: [{ name: 'PrimaryResult', columns, rows }] }).rows).toEqual([
      { At: '2026-08-01T12:00:00.0000000Z', Tags: { owner: 'web' }, Empty: '', Name: '2026-08-01T12:00:00Z' },
      { At: '2026-08-01T12:00:00.5000000Z', Tags: ['a'], Empty: null, Name: null },
    ]);
  });

  test('with an error beside its rows is an error: the result is not complete', () => {
    const error = {
      code: 'PartialError',
      message: 'There were some errors when processing your query.',
      details: [
        {
          code: 'EngineError',
          message: 'Something went wrong processing your query on the server.',
          innererror: {
            code: '-2133196797',
            message: 'Query result set has exceeded the internal record count limit 500000',
          },
        },
      ],
    };
    expect(() => readQueryAnswer({ ...documented, error })).toThrow(
      'Log Analytics has only a part of the result: -2133196797: Query result set has exceeded the internal record count limit 500000',
    );
  });

  test.for([{}, null, { tables: [] }, { tables: [{ name: 'PrimaryResult', columns: [] }] }])(
    'without a table of results is an error: %j',
    (answer) => {
      expect(() => readQueryAnswer(answer)).toThrow('without a table of results');
    },
  );
});

describe('a query that Log Analytics refuses', () => {
  test('is explained by the innermost error, as az rest prints it', () => {
    const answer = {
      error: {
        message: 'The request had some invalid properties',
        code: 'BadArgumentError',
        correlationId: '00000000-0000-0000-0000-000000000000',
        innererror: {
          code: 'SemanticError',
          message: 'A semantic error occurred.',
          innererror: {
            code: 'SEM0100',
            message: "'where' operator: Failed to resolve column or scalar expression named 'NotBeforeUtc'",
            line: 3,
            pos: 9,
          },
        },
      },
    };
    expect(queryErrorIn(`ERROR: Bad Request(${JSON.stringify(answer)})`)).toBe(
      "SEM0100: 'where' operator: Failed to resolve column or scalar expression named 'NotBeforeUtc'",
    );
  });

  test('keeps a message without JSON as it is', () => {
    expect(queryErrorIn('ERROR: Please run az login')).toBe('ERROR: Please run az login');
    expect(queryErrorIn('ERROR: {not json}')).toBe('ERROR: {not json}');
  });
});
