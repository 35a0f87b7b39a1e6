import type { HttpConnection } from './exchange.ts';
import { quoteError } from './http-status.ts';

/** What became of an approval. `reason` is a sentence for an operator; null where the outcome says it all. */
export type ApprovalAnswer =
  | { readonly outcome: 'accepted'; readonly reason: null }
  | { readonly outcome: 'refused' | 'outcome-unknown'; readonly reason: string };

/** How long the service may take, the connection included. */
export const approvalDeadlineMs = 10_000;

/**
 * Tells Azure that these events may start now, for every VM that they name. Never rejects. 200 for any valid id, also one that
 * was approved before, so it may be repeated; 400 for what is malformed. Any other answer, or none, proves nothing.
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#start-an-event
 */
export async function postApproval(
  connection: HttpConnection,
  {
    path,
    headers,
    eventIds,
  }: {
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly eventIds: readonly string[];
  },
  signal: AbortSignal,
): Promise<ApprovalAnswer> {
  const body = JSON.stringify({ StartRequests: eventIds.map((eventId) => ({ EventId: eventId })) });
  const answer = await connection.exchange(
    { path, headers: { ...headers, 'Content-Type': 'application/json' }, body, deadlineMs: approvalDeadlineMs },
    signal,
  );
  if (answer.kind === 'failure') return unknown(`Whether Azure accepted it is not known: ${answer.reason}`);
  if (answer.status === 200) return { outcome: 'accepted', reason: null };
  const told = `HTTP ${answer.status}${quoteError(answer.body) || quoteText(answer.body)}`;
  if (answer.status === 400) return { outcome: 'refused', reason: `The metadata service refused it (${told}).` };
  const hint =
    answer.status === 403
      ? ': where the Metadata Security Protocol is enforced, its rules must allow this process'
      : '';
  return unknown(
    `Whether Azure accepted it is not known: the metadata service answered neither yes nor no (${told})${hint}.`,
  );
}

const unknown = (reason: string): ApprovalAnswer => ({ outcome: 'outcome-unknown', reason });

/** The beginning of a body that is not the JSON of the service. */
function quoteText(body: string): string {
  const words = body.replace(/\s+/g, ' ').trim().slice(0, 160);
  return words === '' ? '' : `: ${JSON.stringify(words)}`;
}
