import { expect, test } from 'vitest';
import { openKql } from '../tools/kql/index.ts';
import { fencedBlocks } from './blocks.ts';

test('every query in a document is one that the engine of the tests runs', () => {
  const queries = fencedBlocks().filter(({ language }) => language === 'kusto');
  expect(queries.length).toBeGreaterThan(0);
  const kql = openKql({ functionsFrom: ['infra/kql/functions'] });
  const tables = { VmLifecycle_CL: [], VmLifecycleBridge_CL: [] };
  for (const { text } of queries) {
    expect(kql.bind(text).diagnostics, text).toEqual([]);
    expect(kql.execute(text, { tables, now: '2026-11-22T00:00:00Z' }).columns.length, text).toBeGreaterThan(0);
  }
});
