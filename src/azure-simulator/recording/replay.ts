import { setTimeout as sleep } from 'node:timers/promises';
import type { Change, RecordedAnswer, RecordedDocument } from '../../recording/format.ts';
import type { Fault } from '../imds/faults.ts';
import type { ImdsSimulator } from '../imds/server.ts';
import type { WireDocument } from '../imds/wire.ts';
import type { Recording } from './read-recording.ts';

export interface ReplayOptions {
  /** How many times faster than recorded. Default 1: only then gaps and notices are as long as they were. */
  readonly speed?: number;
  /** Changes at least this far apart stay so at any speed, since polls come once a second. Default 0. */
  readonly minimumStepSeconds?: number;
  /** Ends the replay; the events listed then stay listed. */
  readonly signal?: AbortSignal;
  /** Called with each change when it is shown. */
  readonly shown?: (change: Change) => void;
}

/**
 * Shows a recording on the metadata service: each document with its recorded incarnation and ids, NotBefore moved so that at
 * speed 1 the notice is as recorded, and every other answer as a fault. The last change stays. @returns false when it was aborted.
 */
export async function replay(
  imds: Pick<ImdsSimulator, 'change' | 'fault'>,
  { header, changes }: Recording,
  { speed = 1, minimumStepSeconds = 0, signal, shown }: ReplayOptions = {},
): Promise<boolean> {
  const begunMs = Date.now();
  const moved = (time: Date): Date => new Date(begunMs + (time.getTime() - header.begunAt.getTime()) / speed);
  let dueMs = begunMs;
  let lastSeconds = 0;
  for (const change of changes) {
    const apart = change.atSeconds - lastSeconds;
    dueMs += 1000 * Math.max(apart / speed, Math.min(apart, minimumStepSeconds));
    lastSeconds = change.atSeconds;
    await waitUntil(dueMs, signal);
    if (signal?.aborted) return false;
    show(imds, change.seen, moved);
    shown?.(change);
  }
  return true;
}

function show(imds: Pick<ImdsSimulator, 'change' | 'fault'>, seen: RecordedAnswer, moved: (time: Date) => Date): void {
  imds.fault('scheduledevents', faultOf(seen));
  if (!('document' in seen)) return;
  const document = withNotBefore(seen.document, moved);
  imds.change((shown) => void Object.assign(shown, document), { sameIncarnation: true });
}

/** The fault that repeats what the endpoint did; null for a document. */
export function faultOf(seen: RecordedAnswer): Fault | null {
  if ('document' in seen) return null;
  if ('answer' in seen) return seen.answer;
  return seen.failure.kind === 'no-answer' ? 'hang' : 'reset';
}

/** A copy in which each readable NotBefore is moved; its format stays. */
export function withNotBefore(document: RecordedDocument, moved: (time: Date) => Date): WireDocument {
  const copy = structuredClone(document) as WireDocument;
  for (const event of copy.Events) {
    const time = new Date(event.NotBefore);
    if (Number.isNaN(time.getTime())) continue;
    const isIso = /^\d{4}-/.test(event.NotBefore);
    event.NotBefore = isIso ? moved(time).toISOString() : moved(time).toUTCString();
  }
  return copy;
}

/** A timer counts no further than 24 days. */
const longestTimerMs = 2 ** 31 - 1;

async function waitUntil(dueMs: number, signal: AbortSignal | undefined): Promise<void> {
  for (;;) {
    const leftMs = dueMs - Date.now();
    if (leftMs <= 0 || signal?.aborted) return;
    await sleep(Math.min(leftMs, longestTimerMs), undefined, { ...(signal && { signal }) }).catch(() => {});
  }
}
