import type { DatabaseSync } from 'node:sqlite';
import { readTerms } from '../../lifecycle/approval-terms.ts';
import type { ApprovalIntent, ConcludedApproval } from '../outbox.ts';
import { attempt } from '../store/files.ts';
import { all } from '../store/sql.ts';

/** As long as an ended event is remembered, and as many. */
const keptDays = 30;
const keptRows = 1_000;

const eventKeyOf = ({ eventId }: { readonly eventId: string }): string => eventId.toLowerCase();

/** Writes an intent, over that of an earlier approval of the same event. */
export function writeIntent(db: DatabaseSync, intent: ApprovalIntent): void {
  db.prepare(`INSERT INTO approvals (eventKey, eventId, cause, intendedAt, terms) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (eventKey) DO UPDATE SET eventId = excluded.eventId, cause = excluded.cause,
      intendedAt = excluded.intendedAt, terms = excluded.terms, outcome = NULL, outcomeAt = NULL, reason = NULL`).run(
    eventKeyOf(intent),
    intent.eventId,
    intent.cause,
    intent.at.toISOString(),
    intent.terms ? JSON.stringify(intent.terms) : null,
  );
}

/** Within the caller's transaction. */
export function writeConclusion(db: DatabaseSync, { outcome, at, reason, ...event }: ConcludedApproval): void {
  const put = db.prepare('UPDATE approvals SET outcome = ?, outcomeAt = ?, reason = ? WHERE eventKey = ?');
  put.run(outcome, at.toISOString(), reason, eventKeyOf(event));
}

/** Intents without an outcome, oldest first. */
export const openIntents = (db: DatabaseSync): ApprovalIntent[] =>
  all<{ eventId: string; cause: string; intendedAt: string; terms: string | null }>(
    db,
    'SELECT eventId, cause, intendedAt, terms FROM approvals WHERE outcome IS NULL ORDER BY intendedAt, rowid',
  ).map(({ eventId, cause, intendedAt, terms }) => ({
    eventId,
    cause,
    at: new Date(Date.parse(intendedAt) || 0), // a byte went bad: long ago
    terms: readTerms(attempt(() => JSON.parse(terms ?? 'null'))),
  }));

/** Deletes outcomes of long ago: no command shows them once their event is forgotten. */
export function forgetConcluded(db: DatabaseSync, now: Date): void {
  const before = new Date(now.getTime() - keptDays * 24 * 3_600_000).toISOString();
  db.prepare('DELETE FROM approvals WHERE outcome IS NOT NULL AND outcomeAt < ?').run(before);
  db.prepare(`DELETE FROM approvals WHERE outcome IS NOT NULL AND eventKey NOT IN (
    SELECT eventKey FROM approvals WHERE outcome IS NOT NULL ORDER BY outcomeAt DESC LIMIT ?)`).run(keptRows);
}

/** The events that count as approved after these outcomes: one that Azure refused does not. */
export function approvedAfter(
  approved: ReadonlySet<string>,
  concluded: readonly ConcludedApproval[],
): ReadonlySet<string> {
  const after = new Set(approved);
  for (const { outcome, ...event } of concluded) {
    if (outcome === 'refused') after.delete(eventKeyOf(event));
    else after.add(eventKeyOf(event));
  }
  return after;
}
