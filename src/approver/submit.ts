import type { Clock } from '../clock.ts';
import type { ApprovalAnswer } from '../imds/approve.ts';
import type { Imds } from '../imds/client.ts';
import type { ObserverWatch } from '../imds/observer-watch.ts';
import type { ApprovalTerms } from '../lifecycle/approval-terms.ts';
import { recordApproval } from '../lifecycle/approved-record.ts';
import type { EventMemory } from '../lifecycle/state.ts';
import { createRateLimit, type Log } from '../log.ts';
import type { ApprovalIntent, Outbox } from '../outbox/outbox.ts';
import { keyOf } from './event-key.ts';

export interface SubmitterOptions {
  readonly imds: Pick<Imds, 'approve'>;
  readonly outbox: Pick<Outbox, 'state' | 'storage' | 'intend' | 'openApprovals' | 'append'>;
  readonly observer: Pick<ObserverWatch, 'known'>;
  readonly bridgeVersion: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Sends approvals, by policy or manual: an intent on disk, then one POST, then one `Approved` record with the outcome. */
export interface Submitter {
  /** Intents that are not under way: left open by a process before this one. */
  leftOpen(): readonly ApprovalIntent[];
  /** Commits an intent. Null: the disk takes no writes. */
  intend(event: { readonly eventId: string }, terms: ApprovalTerms, cause: string): ApprovalIntent | null;
  /** The one POST of an intent, outside of the poll loop. Resolves with what became of it. */
  post(intent: ApprovalIntent): Promise<ApprovalAnswer>;
  /** Nothing was sent, so the intent ends without a record. */
  withdraw(intent: ApprovalIntent, why: string, wasApproved: boolean): void;
  /** The outcome is known without a POST. */
  conclude(intent: ApprovalIntent, answer: ApprovalAnswer): void;
  /** The POST of this event that is under way. */
  underWay(key: string): Promise<ApprovalAnswer> | undefined;
  /** Another POST may begin. */
  hasRoom(): boolean;
  /** Sent by this process, and still scheduled: a policy sends once. */
  wasPosted(key: string): boolean;
  /** Forgets what was sent for all but these events. */
  keep(keys: ReadonlySet<string>): void;
  /** Why nothing is approved while the disk takes no writes, as the end of a sentence. */
  noTrace(): string;
  /** Resolves when what is under way has its outcome, after `withinMs` at the latest: then it stays open for the next start. */
  close(withinMs: number): Promise<void>;
}

/** A VM may send five requests a second in all, and a request refused for that is not repeated: the rest waits. */
const mostAtOnce = 2;

export function createSubmitter({ imds, outbox, observer, bridgeVersion, clock, log }: SubmitterOptions): Submitter {
  const stopping = new AbortController();
  const logRateLimited = createRateLimit({ clock, everyMs: 10 * 60_000 });
  const underWay = new Map<string, Promise<ApprovalAnswer>>();
  const posted = new Set<string>();
  /** What was known of the events being approved: they may leave, and be forgotten, before the outcome is there. */
  const remembered = new Map<string, EventMemory | undefined>();

  // Read every second: only where there may be any is the disk asked.
  const open = (): readonly ApprovalIntent[] => (outbox.state.approved.size > 0 ? outbox.openApprovals() : []);
  for (const intent of open()) remembered.set(keyOf(intent), outbox.state.events.get(keyOf(intent)));

  const noTrace = (): string =>
    `the disk takes no writes, and an approval must leave a trace. ${outbox.storage.fault?.reason ?? ''}`.trim();

  const conclude = (intent: ApprovalIntent, { outcome, reason }: ApprovalAnswer): void => {
    const known = observer.known();
    if (known === null) return;
    const { eventId, cause } = intent;
    const at = clock.now();
    const approval = { eventId, outcome, cause, at, observer: known, bridgeVersion };
    const { state, record } = recordApproval(outbox.state, { ...approval, known: remembered.get(keyOf(intent)) });
    outbox.append(state, [record], [{ eventId, outcome, at, reason }]);
    remembered.delete(keyOf(intent));
    const fields = { part: 'approve', eventId, eventType: record.eventType, cause, outcome, position: record.position };
    const what = `${record.eventType ?? 'An event'} ${eventId} (${cause})`;
    if (outcome === 'accepted') log.info(fields, `Approved: ${what}. Azure starts it for every VM that it names.`);
    else log.warn(fields, `${outcome === 'refused' ? 'Not approved' : 'Perhaps approved'}: ${what}. ${reason}`);
  };

  const send = async (intent: ApprovalIntent): Promise<ApprovalAnswer> => {
    const answer = await imds.approve([intent.eventId], stopping.signal);
    // Aborted by us: the next start settles it.
    if (stopping.signal.aborted && answer.outcome === 'outcome-unknown') return answer;
    conclude(intent, answer);
    return answer;
  };

  return {
    leftOpen: () => open().filter((intent) => !underWay.has(keyOf(intent))),
    intend({ eventId }, terms, cause) {
      const intent = { eventId, cause, at: clock.now(), terms };
      if (outbox.intend(intent)) return intent;
      logRateLimited('no-intent', (leftOut) => {
        log.error({ part: 'approve', eventId, cause, leftOut }, `Event ${eventId} is not approved: ${noTrace()}`);
      });
      return null;
    },
    post(intent) {
      const key = keyOf(intent);
      posted.add(key);
      remembered.set(key, outbox.state.events.get(key));
      const posting = send(intent).finally(() => underWay.delete(key));
      posting.catch((error: unknown) => {
        const { eventId } = intent;
        log.error({ part: 'approve', eventId, error }, 'An approval failed with an internal error.');
      });
      underWay.set(key, posting);
      return posting;
    },
    withdraw({ eventId }, why, wasApproved) {
      const outcome = wasApproved ? 'outcome-unknown' : 'refused';
      const reason = `Held back before anything was sent: ${why}.`;
      outbox.append(outbox.state, [], [{ eventId, outcome, at: clock.now(), reason }]);
    },
    conclude,
    underWay: (key) => underWay.get(key),
    hasRoom: () => underWay.size < mostAtOnce,
    wasPosted: (key) => posted.has(key),
    keep(keys) {
      for (const key of posted) if (!keys.has(key)) posted.delete(key);
    },
    noTrace,
    async close(withinMs) {
      const settled = new AbortController();
      const all = Promise.allSettled(underWay.values()).then(() => settled.abort());
      await Promise.race([all, clock.sleep(withinMs, settled.signal)]);
      stopping.abort();
      await all;
    },
  };
}
