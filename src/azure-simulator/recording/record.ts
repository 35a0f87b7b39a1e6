import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { apiVersion, type Endpoint } from './endpoint.ts';
import { type Beginning, type Change, type Seen, writeBeginning, writeChange } from './format.ts';

const answerMs = 10_000;
/** The first answer turns the feature on and may take two minutes. */
const firstAnswerMs = 130_000;

export interface RecordOptions {
  readonly endpoint: Endpoint;
  /** What the beginning of the recording says of the endpoint. */
  readonly url: string;
  /** Keeps one line, safe from whatever happens next. */
  readonly write: (line: string) => void;
  readonly signal: AbortSignal;
  /** From one look to the next. Default 1000. */
  readonly everyMs?: number;
  readonly begun?: (beginning: Beginning) => void;
  readonly changed?: (change: Change) => void;
}

/** Looks again and again and writes down each change, until `signal`. Resolves with the number of changes. */
export async function record(options: RecordOptions): Promise<number> {
  const { endpoint, url, write, signal, everyMs = 1000, begun, changed } = options;
  const vm = await endpoint.vm(answerMs, signal);
  if (signal.aborted) return 0;
  const beginning: Beginning = { begunAt: new Date(), endpoint: url, apiVersion, vm };
  write(writeBeginning(beginning));
  begun?.(beginning);

  let last: Seen | null = null;
  let atSeconds = 0;
  let changes = 0;
  let deadlineMs = firstAnswerMs;
  for (;;) {
    const lookedMs = performance.now();
    const seen = await endpoint.look(deadlineMs, signal);
    if (signal.aborted) return changes;
    if (!('failure' in seen)) deadlineMs = answerMs;
    // By the clock that NotBefore is told in; it may be set back, a recording never goes back.
    atSeconds = Math.max(atSeconds, (Date.now() - beginning.begunAt.getTime()) / 1000);
    if (last === null || !isSame(last, seen)) {
      const change: Change = { atSeconds, seen };
      write(writeChange(change));
      changed?.(change);
      changes += 1;
      last = seen;
    }
    await sleep(Math.max(0, everyMs - (performance.now() - lookedMs)), undefined, { signal }).catch(() => {});
    if (signal.aborted) return changes;
  }
}

/** Whether a second look showed nothing new. The text of an error may hold a time or an id: its status is enough. */
export function isSame(one: Seen, other: Seen): boolean {
  if ('document' in one && 'document' in other) return isDeepStrictEqual(one.document, other.document);
  if ('answer' in one && 'answer' in other) return one.answer.status === other.answer.status;
  return 'failure' in one && 'failure' in other && one.failure.kind === other.failure.kind;
}
