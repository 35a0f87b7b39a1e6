import type { DatabaseSync } from 'node:sqlite';

/** What another process asks of the service that writes the outbox. */
export interface FiledRequest {
  readonly number: number;
  readonly verb: string;
  /** Parsed JSON of anybody's making; undefined where it is not JSON. */
  readonly argument: unknown;
  readonly requestedAt: string;
}

/** So many are looked at in one turn; the others wait. */
const mostAtOnce = 100;

/** Answers are kept for whoever asked; a command waits for seconds. */
const keptMs = 3_600_000;
const keptRows = 1_000;

/** Unanswered ones, oldest first. Asked every second, so the statement is compiled once. */
export function prepareRequestReader(db: DatabaseSync): () => FiledRequest[] {
  const unanswered = db.prepare(
    'SELECT number, verb, argument, requestedAt FROM requests WHERE answeredAt IS NULL ORDER BY number LIMIT ?',
  );
  return () => {
    const rows = unanswered.all(mostAtOnce) as {
      number: number;
      verb: string;
      argument: string;
      requestedAt: string;
    }[];
    return rows.map(({ argument, ...row }) => ({ ...row, argument: parsed(argument) }));
  };
}

/** Files a request in a transaction of its own. @returns its number. */
export function fileRequest(db: DatabaseSync, verb: string, argument: unknown, at: Date): number {
  const text = JSON.stringify(argument) ?? 'null';
  const { lastInsertRowid } = db
    .prepare('INSERT INTO requests (verb, argument, requestedAt) VALUES (?, ?, ?)')
    .run(verb, text, at.toISOString());
  return Number(lastInsertRowid);
}

/** Writes an answer. Nothing happens where the request was withdrawn meanwhile. */
export function writeAnswer(db: DatabaseSync, number: number, { answer, at }: Answered): void {
  db.prepare('UPDATE requests SET answer = ?, answeredAt = ? WHERE number = ? AND answeredAt IS NULL').run(
    answer,
    at,
    number,
  );
}

/** An answer on its way into the file. */
export interface Answered {
  /** JSON. */
  readonly answer: string;
  readonly at: string;
}

/** The parsed answer; undefined while there is none. */
export function answerTo(db: DatabaseSync, number: number): { readonly answer: unknown } | undefined {
  const row = db.prepare('SELECT answer FROM requests WHERE number = ? AND answeredAt IS NOT NULL').get(number);
  return row ? { answer: parsed(String(row.answer)) } : undefined;
}

/** Takes a request back. @returns false when it is answered by now. */
export const withdrawRequest = (db: DatabaseSync, number: number): boolean =>
  Number(db.prepare('DELETE FROM requests WHERE number = ? AND answeredAt IS NULL').run(number).changes) > 0;

/** Answers that nobody waits for any more; and, whoever filed them, all but the newest thousand. */
export function forgetAnswered(db: DatabaseSync, now: Date): void {
  const before = new Date(now.getTime() - keptMs).toISOString();
  db.prepare('DELETE FROM requests WHERE answeredAt < ?').run(before);
  db.prepare('DELETE FROM requests WHERE number <= (SELECT max(number) FROM requests) - ?').run(keptRows);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
