import type { DatabaseSync } from 'node:sqlite';
import type { FiledRequest } from '../outbox.ts';
import { attempt } from '../store/files.ts';

/** The number that is executed per poll; the others wait. */
const mostAtOnce = 100;

/** A command waits for its answer for seconds. */
const keptMs = 3_600_000;
const keptRows = 1_000;

/** Oldest first. */
export function unansweredRequests(db: Pick<DatabaseSync, 'prepare'>): FiledRequest[] {
  const sql =
    'SELECT number, verb, argument, requestedAt FROM requests WHERE answeredAt IS NULL ORDER BY number LIMIT ?';
  const rows = db.prepare(sql).all(mostAtOnce) as unknown as readonly (FiledRequest & { readonly argument: string })[];
  return rows.map((row) => ({ ...row, argument: parsed(row.argument) }));
}

/** Files a request in a transaction of its own. @returns its number. */
export function fileRequest(db: DatabaseSync, verb: string, argument: unknown, at: Date): number {
  const put = db.prepare('INSERT INTO requests (verb, argument, requestedAt) VALUES (?, ?, ?)');
  return Number(put.run(verb, JSON.stringify(argument) ?? 'null', at.toISOString()).lastInsertRowid);
}

/** Writes an answer, unless the request was withdrawn meanwhile. */
export function writeAnswer(db: DatabaseSync, number: number, json: string, at: string): void {
  const put = db.prepare('UPDATE requests SET answer = ?, answeredAt = ? WHERE number = ? AND answeredAt IS NULL');
  put.run(json, at, number);
}

/** The parsed answer; undefined while there is none. */
export function answerTo(db: DatabaseSync, number: number): { readonly answer: unknown } | undefined {
  const row = db.prepare('SELECT answer FROM requests WHERE number = ? AND answeredAt IS NOT NULL').get(number);
  return row ? { answer: parsed(String(row.answer)) } : undefined;
}

/** @returns false when it is answered by now. */
export const withdrawRequest = (db: DatabaseSync, number: number): boolean =>
  Number(db.prepare('DELETE FROM requests WHERE number = ? AND answeredAt IS NULL').run(number).changes) > 0;

/** Deletes old answers, and all requests but the newest thousand. */
export function forgetAnswered(db: DatabaseSync, now: Date): void {
  const before = new Date(now.getTime() - keptMs).toISOString();
  db.prepare('DELETE FROM requests WHERE answeredAt < ?').run(before);
  db.prepare('DELETE FROM requests WHERE number <= (SELECT max(number) FROM requests) - ?').run(keptRows);
}

/** Undefined where it is not JSON. */
const parsed = (text: string): unknown => attempt(() => JSON.parse(text));
