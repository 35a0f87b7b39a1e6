import { createInterface } from 'node:readline';
import { openKql } from './index.ts';

/** Answers queries, one JSON object a line in (`query`, `now`), one a line out (`columns` and `rows`, or `unsupported`). */
const kql = openKql({ functionsFrom: [] });
for await (const line of createInterface({ input: process.stdin })) {
  const { query, now } = JSON.parse(line);
  process.stdout.write(`${answer(String(query), String(now))}\n`);
}

function answer(query: string, now: string): string {
  try {
    return JSON.stringify(kql.execute(query, { tables: {}, now }));
  } catch (error) {
    return JSON.stringify({ unsupported: error instanceof Error ? error.message : String(error) });
  }
}
