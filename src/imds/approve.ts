import type { Clock } from '../clock.ts';
import { readRetryAfter } from '../http/retry-after.ts';
import { quote } from './document.ts';
import type { HttpAnswer, HttpConnection } from './exchange.ts';
import type { HttpFailure } from './http-failure.ts';
import { quoteError } from './http-status.ts';

/** The outcome of an approval. `reason` is a sentence for an operator; null if it was accepted. */
export type ApprovalAnswer =
  | { readonly outcome: 'accepted'; readonly reason: null }
  | { readonly outcome: 'refused' | 'outcome-unknown'; readonly reason: string };

/** How long the service may take, connections and waits for a throttled request included. */
export const approvalDeadlineMs = 10_000;
/** Where it is throttled and does not say for how long: it counts requests by the second. */
const throttledMs = 1_000;

// assumption: imds-approval-refused
/**
 * Approves these events, for every VM that they name. Never rejects. 200 for any valid id, also one that
 * was approved before, so it may be repeated; 400 for what is malformed. 429, where the programs of the VM ask more often than
 * five times a second, is repeated after its Retry-After, within the deadline. Any other answer, or none, proves nothing.
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#start-an-event
 */
export async function postApproval(
  connection: HttpConnection,
  {
    path,
    headers,
    eventIds,
    clock,
  }: {
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly eventIds: readonly string[];
    readonly clock: Clock;
  },
  signal: AbortSignal,
): Promise<ApprovalAnswer> {
  const body = JSON.stringify({ StartRequests: eventIds.map((eventId) => ({ EventId: eventId })) });
  const began = clock.monotonicMs();
  const post = (): Promise<HttpAnswer | HttpFailure> =>
    connection.exchange(
      {
        path,
        headers: { ...headers, 'Content-Type': 'application/json' },
        body,
        deadlineMs: Math.max(1, approvalDeadlineMs - (clock.monotonicMs() - began)),
      },
      signal,
    );
  let answer = await post();
  while (answer.kind === 'answer' && answer.status === 429 && !signal.aborted) {
    const waitMs = readRetryAfter(answer.header('retry-after'), answer.arrivedAt) ?? throttledMs;
    if (clock.monotonicMs() - began + waitMs >= approvalDeadlineMs) break;
    await clock.sleep(Math.max(waitMs, 100), signal);
    if (!signal.aborted) answer = await post();
  }
  if (answer.kind === 'failure') return unknown(`Whether Azure accepted it is not known: ${answer.reason}`);
  if (answer.status === 200) return { outcome: 'accepted', reason: null };
  const received = `HTTP ${answer.status}${quoteError(answer.body) || (answer.body.trim() && `: ${quote(answer.body)}`)}`;
  if (answer.status === 400) return { outcome: 'refused', reason: `The metadata service refused it (${received}).` };
  const hint =
    answer.status === 403
      ? ': where the Metadata Security Protocol is enforced, its rules must allow this process'
      : '';
  return unknown(
    `Whether Azure accepted it is not known: the metadata service neither accepted nor refused it (${received})${hint}.`,
  );
}

const unknown = (reason: string): ApprovalAnswer => ({ outcome: 'outcome-unknown', reason });
