import type { Operation } from '../azure/deadline.ts';
import { aborted, KnownFailure } from '../azure/failure.ts';
import type { Clock } from '../clock.ts';
import { createRateLimit, type Log } from '../log.ts';
import type { Failure } from '../sinks/sink.ts';
import { type Calls, createCalls, type Handlers } from './calls.ts';
import type { Child } from './channel.ts';
import { goneFailure, type Killed } from './gone.ts';
import { anonymousBytesOf } from './memory.ts';
import type { PollerMethods, SenderMethods, SenderRole, SenderStart, SenderStatus } from './protocol.ts';

/**
 * A process that is there while there is something to do: started by a call, or when something is near; ended after an idle time;
 * when it dies, the next call starts another one. The pace of calls is the relay's and the credential's, so it is that of the
 * starts too.
 */
export interface SenderProcess {
  /** Rejects with a {@link KnownFailure}; when the process ends before it answers, with one that says how. */
  call<K extends keyof SenderMethods & string>(
    name: K,
    value: Parameters<SenderMethods[K]>[0],
    signal?: AbortSignal,
  ): Promise<ReturnType<SenderMethods[K]>>;
  /** Deadlines missed in all its runs. */
  readonly deadlines: { readonly missed: Readonly<Partial<Record<Operation, number>>>; readonly lateSettles: number };
  readonly facts: SenderFacts;
  /**
   * Starts it if something is near, since a start takes a few hundred milliseconds of a notice that may be 30 s. For after each
   * poll: a separate timer once a second would cost a sixth of a poll.
   */
  startAhead(): void;
  /** Ends it within 3 s, even when it hangs. Never rejects. */
  close(): Promise<void>;
}

/** For metrics and status. */
export interface SenderFacts {
  readonly role: SenderRole;
  /** Null while there is no process. */
  readonly pid: number | null;
  readonly residentBytes: number;
  /** Since this process began. */
  readonly starts: number;
  /** Unexpected ends, by code. */
  readonly deaths: Readonly<Record<string, number>>;
  /** Of these, how many in the last ten minutes, and the latest. */
  readonly recentDeaths: number;
  readonly lastDeath: null | { readonly code: string; readonly reason: string };
}

export interface SenderProcessOptions {
  readonly role: SenderRole;
  /** For sentences: `sends to the event hub x`. */
  readonly does: string;
  readonly start: SenderStart;
  readonly fork: (options: { readonly heapMegabytes: number; readonly onStderr: (text: string) => void }) => Child;
  /** What it may ask of us. */
  readonly offers: Handlers<PollerMethods>;
  /** `startAhead` starts it, and it is kept. Default: never. */
  readonly near?: () => boolean;
  /** An event is about to start; the process gets it with each call of `status`. */
  readonly startDue?: () => boolean;
  /** Ends after so long without a call. */
  readonly idleMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<SenderLimits>;
}

export interface SenderLimits {
  /** After this long without a message it is ended. Time in which this process was paused does not count. */
  readonly hungMs: number;
  readonly heapMegabytes: number;
  /** Of memory that no file backs: heap, buffers, stacks. */
  readonly memoryMegabytes: number;
}

/** A healthy sender has some 30 MB, some 60 at full speed; the unit gives all processes of the service 320. */
const defaultLimits: SenderLimits = { hungMs: 15_000, heapMegabytes: 96, memoryMegabytes: 128 };
/** With a call under way: how often its memory is read, and how often it is asked for its status. */
const busyPace = { checkMs: 250, pingMs: 1000 };
/** Without: each reading takes 0.1 ms of CPU, each status 0.4 ms in two processes. */
const idlePace = { checkMs: 1000, pingMs: 5000 };
/** After a death nothing but a call starts it for so long. */
const restPauseMs = 30_000;
const recentMs = 10 * 60_000;
const closeMs = 2_500;
const lineEveryMs = 60_000;

interface Run {
  readonly child: Child;
  readonly calls: Calls<SenderMethods>;
  readonly over: AbortController;
  begun: Promise<unknown>;
  /** Calls under way. */
  busy: number;
  lastUse: number;
  killed: Killed;
  isEnding: boolean;
  silentMs: number;
  status: SenderStatus;
}

const noStatus: SenderStatus = { deadlines: null, residentBytes: 0, allocatedBytes: 0 };

export function createSenderProcess(options: SenderProcessOptions): SenderProcess {
  const { role, does, start, fork, offers, near = () => false, startDue = () => false, idleMs, clock, log } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const lines = createRateLimit({ clock, everyMs: lineEveryMs });
  const closed = new AbortController();
  const missed: Partial<Record<Operation, number>> = {};
  const deaths: Record<string, number> = {};
  let lateSettles = 0;
  let starts = 0;
  let run: Run | null = null;
  let lastDeath: SenderFacts['lastDeath'] = null;
  /** On the monotonic clock, the recent ones only. */
  let deathTimes: number[] = [];
  /** When it last died or could not begin, on the monotonic clock. */
  let failedAt = Number.NEGATIVE_INFINITY;
  const endings = new Set<Promise<void>>();

  function begin(): Run {
    starts += 1;
    const child = fork({ heapMegabytes: limits.heapMegabytes, onStderr: passOn });
    const calls = createCalls<SenderMethods, PollerMethods>(child, offers);
    const made: Run = {
      child,
      calls,
      over: new AbortController(),
      begun: calls.call('begin', start),
      busy: 0,
      lastUse: clock.monotonicMs(),
      killed: null,
      isEnding: false,
      silentMs: 0,
      status: noStatus,
    };
    // Every call of this run fails like it, so it is not kept: what was missing may be there for the next one.
    made.begun.catch(() => {
      if (!made.isEnding) failedAt = clock.monotonicMs();
      void end(made);
    });
    run = made;
    const ended = child.exited.then((exit) => {
      endings.delete(ended);
      const failure = goneFailure(exit, made.killed, {
        does,
        hungSeconds: limits.hungMs / 1000,
        memoryMegabytes: limits.memoryMegabytes,
      });
      if (run === made) run = null;
      made.over.abort();
      calls.end(new KnownFailure(failure));
      keepCounts(made.status);
      if (!made.isEnding) died(failure, made);
    });
    endings.add(ended);
    void watch(made);
    return made;
  }

  function died(failure: Failure, { child }: Run): void {
    const { code, reason } = failure;
    failedAt = clock.monotonicMs();
    deathTimes = [...recentDeathTimes(), failedAt];
    lastDeath = { code, reason };
    deaths[code] = (deaths[code] ?? 0) + 1;
    lines(code, (leftOut) =>
      log.warn({ part: 'sender', sender: role, code, pid: child.pid, ...(leftOut > 0 && { leftOut }) }, reason),
    );
  }

  const recentDeathTimes = (): number[] => deathTimes.filter((at) => clock.monotonicMs() - at < recentMs);
  const isResting = (): boolean => clock.monotonicMs() - failedAt < restPauseMs;

  /** Logs its stderr: warnings of Node and the stack of the error that ended it. */
  function passOn(text: string): void {
    for (const line of text.split('\n')) {
      const said = line.trim().slice(0, 500);
      if (said !== '') lines(said.slice(0, 60), () => log.warn({ part: 'sender', sender: role }, said));
    }
  }

  function keepCounts({ deadlines }: SenderStatus): void {
    for (const [operation, count] of Object.entries(deadlines?.missed ?? {})) {
      const key = operation as Operation;
      missed[key] = (missed[key] ?? 0) + count;
    }
    lateSettles += deadlines?.lateSettles ?? 0;
  }

  /** Watches one process until it ends. */
  async function watch(made: Run): Promise<void> {
    let sinceAskedMs = Number.POSITIVE_INFINITY;
    let isAsked = false;
    let wasDue = false;
    while (!made.over.signal.aborted) {
      const began = clock.monotonicMs();
      const { checkMs, pingMs } = made.busy > 0 ? busyPace : idlePace;
      await clock.sleep(checkMs, made.over.signal);
      // While the machine is paused the sender does not hang.
      const elapsedMs = Math.min(clock.monotonicMs() - began, 2 * checkMs);
      made.silentMs += elapsedMs;
      sinceAskedMs += elapsedMs;
      if (isTooLarge(made)) kill(made, 'memory');
      else if (made.silentMs >= limits.hungMs) kill(made, 'hung');
      else if (isIdle(made)) void end(made);
      const isDue = startDue();
      if (isAsked || (sinceAskedMs < pingMs && isDue === wasDue)) continue;
      isAsked = true;
      wasDue = isDue;
      sinceAskedMs = 0;
      made.calls.call('status', isDue).then(
        (status) => {
          made.status = status;
          made.silentMs = 0;
          isAsked = false;
        },
        () => {}, // its end is handled elsewhere
      );
    }
  }

  function isTooLarge({ child, status }: Run): boolean {
    // Not its resident bytes: on Windows they include the program file itself.
    const bytes = (child.pid === undefined ? null : anonymousBytesOf(child.pid)) ?? status.allocatedBytes;
    return bytes > limits.memoryMegabytes * 1024 * 1024;
  }

  const isIdle = (made: Run): boolean =>
    made.busy === 0 && !made.isEnding && clock.monotonicMs() - made.lastUse >= idleMs && !near();

  function kill(made: Run, why: Killed): void {
    made.killed ??= why;
    if (run === made) run = null;
    made.child.kill();
  }

  async function end(made: Run): Promise<void> {
    if (made.isEnding) return;
    made.isEnding = true;
    if (run === made) run = null;
    const late = new AbortController();
    const timer = clock.sleep(closeMs, late.signal).then(() => made.child.kill());
    try {
      await Promise.race([made.calls.call('close', null), timer]);
    } catch {
      // It has ended already.
    }
    made.child.disconnect();
    await Promise.race([made.child.exited, timer]);
    late.abort();
    await made.child.exited;
  }

  return {
    async call(name, value, signal) {
      if (signal?.aborted || closed.signal.aborted) throw new KnownFailure(aborted);
      const made = run ?? begin();
      made.busy += 1;
      try {
        return await made.calls.call(name, value, signal);
      } finally {
        made.busy -= 1;
        made.lastUse = clock.monotonicMs();
        if (idleMs === 0 && made.busy === 0) void end(made);
      }
    },
    get deadlines() {
      const now = run?.status.deadlines;
      const sum = { ...missed };
      for (const [operation, count] of Object.entries(now?.missed ?? {})) {
        const key = operation as Operation;
        sum[key] = (sum[key] ?? 0) + count;
      }
      return { missed: sum, lateSettles: lateSettles + (now?.lateSettles ?? 0) };
    },
    get facts() {
      const pid = run?.child.pid ?? null;
      const residentBytes = run?.status.residentBytes ?? 0;
      return {
        role,
        pid,
        residentBytes,
        starts,
        deaths: { ...deaths },
        recentDeaths: recentDeathTimes().length,
        lastDeath,
      };
    },
    startAhead() {
      if (run === null && !closed.signal.aborted && near() && !isResting()) begin();
    },
    async close() {
      closed.abort();
      if (run) await end(run);
      await Promise.all(endings);
    },
  };
}
