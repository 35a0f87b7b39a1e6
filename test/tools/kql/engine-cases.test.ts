import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openKql, Unsupported } from './index.ts';

/** Queries with the answers of Microsoft's own engine: the folder that `KQL_CASES` names, else beside the repository. */
const folder = process.env.KQL_CASES ?? join(import.meta.dirname, '../../../../shared/kql-cases');
const missing = existsSync(join(folder, 'cases.json')) ? null : `no cases.json in ${folder}`;
if (missing)
  console.warn(`  skipped: the recorded answers of Microsoft's engine (${missing}); KQL_CASES names their folder`);

/** As many of them are answered at least; the rest is refused. A number that falls is a loss, one that grows is to be entered. */
const floor = { core: 1481, all: 1716 };

const sometime = '2026-08-01T12:00:00.0000000Z';

type RecordedCase = { readonly name: string; readonly tier: string; readonly query: string; readonly now?: string };
type Verdict = { readonly ok: boolean; readonly why?: string };
type Compare = (expected: RecordedCase, got: unknown) => Verdict;

const readFolder = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));

/** Undefined for what is refused. */
function answerOf(kql: ReturnType<typeof openKql>, query: string, now: string) {
  try {
    return kql.execute(query, { tables: {}, now });
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

describe.skipIf(missing)("the recorded answers of Microsoft's engine", { timeout: 240_000 }, () => {
  const kql = openKql();

  test('no query is answered in another way, and no fewer are answered than before', async () => {
    const { compare }: { compare: Compare } = await import(pathToFileURL(join(folder, 'compare.mjs')).href);
    const { cases }: { cases: readonly RecordedCase[] } = readFolder('cases.json');
    const wrong: string[] = [];
    const right = { core: 0, all: 0 };
    for (const each of cases) {
      const answer = answerOf(kql, each.query, each.now ?? sometime);
      if (!answer) continue;
      const { ok, why } = compare(each, answer);
      if (!ok) wrong.push(`${each.name}: ${why}`);
      else {
        right.all += 1;
        if (each.tier === 'core') right.core += 1;
      }
    }
    expect(wrong).toEqual([]);
    expect(right.core).toBeGreaterThanOrEqual(floor.core);
    expect(right.all).toBeGreaterThanOrEqual(floor.all);
  });

  test("a query that Azure's engine refused is refused here", () => {
    const { queries }: { queries: readonly { readonly query: string }[] } = readFolder('rejected.json');
    const answered = queries.filter(({ query }) => answerOf(kql, query, sometime) !== undefined);
    expect(answered.map(({ query }) => query)).toEqual([]);
  });
});
