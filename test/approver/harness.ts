import { type Approver, type ApproverOptions, createApprover } from '../../src/approver/approver.ts';
import type { ApprovalAnswer } from '../../src/imds/approve.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import type { ScheduledEvent } from '../../src/lifecycle/scheduled-event.ts';
import { gapAfterMs, type Transition, transition } from '../../src/lifecycle/transition.ts';
import type { Log } from '../../src/log.ts';
import { silentLog } from '../../src/log.ts';
import { openOutbox } from '../../src/outbox/durable-outbox.ts';
import type { Outbox } from '../../src/outbox/outbox.ts';
import { createFakeClock, type FakeClock, settled } from '../support/fake-clock.ts';
import { observerNamed } from '../support/observations.ts';

/** A service that approves, on a real outbox: documents, the answers of Azure and the time are the test's. */
export interface ApproverHarness {
  readonly approver: Approver;
  readonly outbox: Outbox;
  readonly clock: FakeClock;
  /** EventIds in the order in which they were POSTed. */
  readonly posts: string[];
  readonly log: { readonly level: string; readonly message: string }[];
  /** One turn a second later; undefined: no valid document. Then everything runs that can. */
  observe(events: readonly ScheduledEvent[] | undefined, more?: ObserveOptions): Promise<void>;
  /** Every record so far, oldest first. */
  records(): readonly LifecycleRecord[];
  /** `Approved: accepted`, for each approval. */
  approvals(): readonly string[];
  /** As after kill -9: the file stays, and another process opens it. */
  killed(options?: Partial<HarnessOptions>): ApproverHarness;
  close(): Promise<void>;
}

export interface ObserveOptions {
  readonly bootId?: string;
  readonly afterMs?: number;
  /** 304: the document is the one before. */
  readonly unchanged?: true;
  readonly listedTwice?: readonly string[];
}

export interface HarnessOptions {
  readonly policy: Partial<ApproverOptions['policy']>;
  /** What Azure answers; null: nothing, ever. */
  readonly answer: ApprovalAnswer | null | ((eventId: string) => Promise<ApprovalAnswer>);
  readonly fresh: () => boolean;
  /** Whether the name of this VM is known, from the metadata service or the configuration. Default: true. */
  readonly name: 'read' | 'configured' | 'stored';
  readonly outbox: (outbox: Outbox) => ApproverOptions['outbox'];
  readonly clock: FakeClock;
}

const off = { userInitiated: false, freezeUpToSeconds: null, onBehalfOf: [], onBehalfAfterSeconds: 60 };

export function openApprover(directory: string, given: Partial<HarnessOptions> = {}): ApproverHarness {
  const {
    clock = createFakeClock(),
    answer = { outcome: 'accepted', reason: null },
    fresh = () => true,
    name = 'read',
  } = given;
  const observer = observerNamed('web_0');
  const posts: string[] = [];
  const log: { level: string; message: string }[] = [];
  const outbox = openOutbox({ directory, sinks: ['hub'], maxMegabytes: 16, clock, log: silentLog, version: '1.2.3' });
  const stopped = (signal: AbortSignal): Promise<ApprovalAnswer> =>
    new Promise((resolve) => {
      const unknown: ApprovalAnswer = { outcome: 'outcome-unknown', reason: 'timed out' };
      signal.addEventListener('abort', () => resolve(unknown), { once: true });
    });
  const approver = createApprover({
    imds: {
      approve: ([eventId = ''], signal) => {
        posts.push(eventId);
        if (typeof answer === 'function') return answer(eventId);
        return answer === null ? stopped(signal) : Promise.resolve(answer);
      },
    },
    outbox: given.outbox?.(outbox) ?? outbox,
    observer: {
      known: () => observer,
      fresh,
      onRead(listener) {
        if (name === 'read') listener(observer);
        return () => {};
      },
    },
    isVmNameSet: name === 'configured',
    policy: { ...off, ...given.policy },
    stateDirectory: directory,
    bridgeVersion: '1.2.3',
    clock,
    log: logInto(log),
  });
  let listed = JSON.stringify([...outbox.state.events.values()].map(({ last }) => last));
  let incarnation = outbox.state.incarnation ?? 0;

  const transitionOf = (events: readonly ScheduledEvent[] | undefined, more: ObserveOptions): Transition => {
    const clocks = { azureTime: clock.now(), clockOffsetSeconds: 0 };
    const content = JSON.stringify(events);
    if (content !== listed) incarnation += 1;
    listed = content;
    const { listedTwice = [] } = more;
    const document = { incarnation, events: events ?? [], unreadable: 0, listedTwice };
    const seen =
      events === undefined
        ? ({ kind: 'unavailable', code: 'http-503', reason: 'busy', retryAfterMs: null } as const)
        : more.unchanged
          ? ({ kind: 'unchanged', ...clocks } as const)
          : ({ kind: 'document', document, imdsApiVersion: '2020-07-01', ...clocks } as const);
    return transition(outbox.state, seen, {
      host: { bootId: more.bootId ?? outbox.state.bootId ?? 'boot-1', physicalHost: null, tick: null, wallStepMs: 0 },
      observer,
      scope: { witnessRate: 0 },
      gapAfterMs: gapAfterMs(1),
      enablingMs: 0,
      monotonicMs: clock.monotonicMs(),
      bridgeVersion: '1.2.3',
      at: clock.now(),
    });
  };
  const records = (): readonly LifecycleRecord[] =>
    outbox.pending('hub', { limit: 1000 }).map(({ json }) => JSON.parse(json.toString()) as LifecycleRecord);

  return {
    approver,
    outbox,
    clock,
    posts,
    log,
    records,
    async observe(events, more = {}) {
      await clock.advance(more.afterMs ?? 1000);
      const take = async (): Promise<void> => {
        const turn = transitionOf(events, more);
        outbox.append(turn.state, turn.records);
        approver.consider(turn);
        await settled();
      };
      await take();
      // An end rests on more than one document: another one, that says the same, confirms it at once.
      if (![...outbox.state.events.values()].some(({ absent }) => absent)) return;
      listed = '';
      await take();
    },
    approvals: () =>
      records()
        .filter(({ phase }) => phase === 'Approved')
        .map(({ phase, evidence }) => `${phase}: ${evidence.join(' ')}`),
    killed(options = {}) {
      // Nothing of what it still holds gets into the file: closing only lets the next process in.
      outbox.close();
      return openApprover(directory, { ...given, clock, ...options });
    },
    async close() {
      await approver.close(0);
      outbox.close();
    },
  };
}

/** An outbox that commits an intent in a way of the test's own. */
export const intending = (outbox: Outbox, intend: Outbox['intend']): ApproverOptions['outbox'] => ({
  get state() {
    return outbox.state;
  },
  storage: outbox.storage,
  append: (...all) => outbox.append(...all),
  openApprovals: () => outbox.openApprovals(),
  intend,
});

/** An outbox on which something happens while an intent is committed. */
export const slow = (outbox: Outbox, meanwhile: () => void): ApproverOptions['outbox'] =>
  intending(outbox, (intent) => {
    const isWritten = outbox.intend(intent);
    meanwhile();
    return isWritten;
  });

function logInto(lines: { level: string; message: string }[]): Log {
  const say =
    (level: string) =>
    (_: object, message: string): void =>
      void lines.push({ level, message });
  const log: Log = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error'), child: () => log };
  return log;
}
