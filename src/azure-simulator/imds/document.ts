import { isDeepStrictEqual } from 'node:util';
import {
  type EventPatch,
  type NewEvent,
  patchWireEvent,
  toWireEvent,
  type WireDocument,
  type WireEvent,
} from './wire.ts';

/** One change that was issued: what a test or the demo compares records with. */
export interface IssuedStep {
  readonly at: Date;
  readonly eventId: string;
  readonly eventType: string;
  readonly step: 'scheduled' | 'started' | 'removed' | 'updated';
  readonly resources: readonly string[];
  /** Of the document that shows the step first. */
  readonly incarnation: number;
}

/** The document of one placement group: all its VMs see the same. */
export interface GroupDocument {
  /** A copy: changing it changes nothing. */
  readonly current: WireDocument;
  readonly issued: readonly IssuedStep[];
  schedule(event: NewEvent): string;
  /** Nothing happens when the event has started already or has left. */
  start(eventId: string): void;
  /** Nothing happens when the event has left already. */
  remove(eventId: string): void;
  update(eventId: string, patch: EventPatch): void;
  /**
   * Any edit of the raw document as one step: the incarnation goes up by one unless the edit sets it itself, or
   * `sameIncarnation` asks for the oddity of another list under the same number.
   * `schedule`, `start`, `remove` and `update` called within it belong to the same step.
   */
  change(edit: (document: WireDocument) => void, options?: { readonly sameIncarnation?: boolean }): void;
  find(eventId: string): Readonly<WireEvent> | undefined;
  /** Calls back after each change. @returns how to stop that. */
  watch(changed: () => void): () => void;
}

export function createGroupDocument(): GroupDocument {
  const state: WireDocument = { DocumentIncarnation: 1, Events: [] };
  const issued: IssuedStep[] = [];
  const watchers = new Set<() => void>();
  let changing = false;

  const find = (eventId: string): WireEvent | undefined => state.Events.find((event) => sameId(event.EventId, eventId));

  const change: GroupDocument['change'] = (edit, { sameIncarnation = false } = {}) => {
    if (changing) return edit(state);
    const before = structuredClone(state);
    changing = true;
    try {
      edit(state);
    } finally {
      changing = false;
    }
    const numbered = sameIncarnation || state.DocumentIncarnation !== before.DocumentIncarnation;
    if (!numbered && !isDeepStrictEqual(before.Events, state.Events)) state.DocumentIncarnation += 1;
    issued.push(...stepsBetween(before, state, new Date()));
    for (const changed of [...watchers]) changed();
  };

  return {
    get current() {
      return structuredClone(state);
    },
    issued,
    find,
    change,
    schedule(event) {
      const listed = toWireEvent(event, new Date());
      change(({ Events }) => Events.push(listed));
      return listed.EventId;
    },
    start(eventId) {
      const event = find(eventId);
      if (event !== undefined && event.EventStatus !== 'Started')
        change(() => patchWireEvent(event, { status: 'Started' }));
    },
    remove(eventId) {
      if (find(eventId) === undefined) return;
      change((document) => {
        document.Events = document.Events.filter((event) => !sameId(event.EventId, eventId));
      });
    },
    update(eventId, patch) {
      const event = find(eventId);
      if (event === undefined) throw new Error(`event ${eventId} is not in the document, so it cannot be updated`);
      change(() => patchWireEvent(event, patch));
    },
    watch(changed) {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
  };
}

/** The steps that lead from one document to another, in the order of the documents. */
export function stepsBetween(before: WireDocument, after: WireDocument, at: Date): IssuedStep[] {
  const steps: IssuedStep[] = [];
  const issue = (event: WireEvent, step: IssuedStep['step']): void => {
    const { EventId: eventId, EventType: eventType, Resources } = event;
    const resources = Array.isArray(Resources) ? [...Resources] : [];
    steps.push({ at, eventId, eventType, step, resources, incarnation: after.DocumentIncarnation });
  };
  for (const event of before.Events) {
    if (!after.Events.some(({ EventId }) => sameId(EventId, event.EventId))) issue(event, 'removed');
  }
  for (const event of after.Events) {
    const old = before.Events.find(({ EventId }) => sameId(EventId, event.EventId));
    const started = event.EventStatus === 'Started';
    if (old === undefined) issue(event, started ? 'started' : 'scheduled');
    else if (started && old.EventStatus !== 'Started') issue(event, 'started');
    else if (!isDeepStrictEqual(old, event)) issue(event, 'updated');
  }
  return steps;
}

/** Ids are GUIDs: letter case means nothing. */
export function sameId(one: unknown, other: unknown): boolean {
  return String(one).toLowerCase() === String(other).toLowerCase();
}
