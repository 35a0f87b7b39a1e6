import { kql, linesOf, textOf } from '../pack.ts';
import { clock, staged } from '../stage.ts';
import type { QueryCase } from './case.ts';
import { groupCases } from './groups.ts';
import { historyCases } from './history.ts';
import { impactCases } from './impact.ts';
import { noticeCases } from './notice.ts';
import { nowCases } from './now.ts';
import { outageCases } from './outages.ts';
import { pipelineCases } from './pipeline.ts';

export const cases: readonly QueryCase[] = [
  ...nowCases,
  ...noticeCases,
  ...impactCases,
  ...groupCases,
  ...historyCases,
  ...outageCases,
  ...pipelineCases,
];

/** The result of the query of a case, or of another query text. */
export function answerOf(
  { query, stage, change = (tables) => tables, edit, show }: QueryCase,
  text = textOf(query),
): string[] {
  if (edit && !text.includes(edit[0])) throw new Error(`${query} does not hold ${edit[0]}`);
  const asked = edit ? text.replace(...edit) : text;
  return linesOf(kql.execute(asked, { tables: change(staged(stage)), now: clock(stage.askedAt) }), show);
}
