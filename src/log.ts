import { pino } from 'pino';
import type { Clock } from './clock.ts';

/** What every part logs through; pino's logger is one. One line per fact: the fields are for machines, the message for people. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
}

/** Says nothing: for tests and for parts that run before there is a log. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLog,
};

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Where lines go. `write` must neither block nor throw: the thread that logs is the one that polls. */
export interface LogDestination {
  write(line: string): void;
}

/** Makes a log whose lines are JSON objects, or what `pretty` makes of them (for a terminal). */
export function createLog(options: {
  readonly level: LogLevel;
  readonly destination: LogDestination;
  /** Makes a JSON line readable; the answer holds its own line end. */
  readonly pretty?: (line: string) => string;
}): Log {
  const { level, destination, pretty } = options;
  const target = pretty ? { write: (line: string) => destination.write(pretty(line)) } : destination;
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: briefError, err: briefError },
    },
    target,
  );
}

/** The message of any thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Only what says what went wrong. The SDKs' errors carry whole requests and, in `failedLogs`, every record that was not
 * uploaded: logged as they are, one of them fills megabytes.
 */
function briefError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack } = error;
  const code = 'code' in error ? error.code : undefined;
  const cause = error.cause instanceof Error ? `${error.cause.name}: ${error.cause.message}` : undefined;
  return { name, message, code, cause, stack };
}

/** Calls `line` at most once per reason and window, with the number of calls of that reason suppressed since the last. */
export type RateLimit = (reason: string, line: (leftOut: number) => void) => void;

/**
 * One line per reason and `everyMs` milliseconds: a fault that repeats every second is one fact, not 86,400 lines a day.
 * Reasons are meant to be few (codes, not sentences); beyond 500 of them the oldest is forgotten.
 */
export function createRateLimit({ clock, everyMs }: { readonly clock: Clock; readonly everyMs: number }): RateLimit {
  const reasons = new Map<string, { readonly at: number; leftOut: number }>();
  return (reason, line) => {
    const now = clock.monotonicMs();
    const known = reasons.get(reason);
    if (known && now - known.at < everyMs) {
      known.leftOut += 1;
      return;
    }
    reasons.delete(reason);
    reasons.set(reason, { at: now, leftOut: 0 });
    if (reasons.size > 500) reasons.delete(reasons.keys().next().value ?? reason);
    line(known?.leftOut ?? 0);
  };
}

/** The messages of a problem. `seconds`: since it began. */
export interface StatusMessages {
  readonly begins: () => void;
  /** It still is as it was said before. */
  readonly lasts: (seconds: number) => void;
  readonly over: (seconds: number) => void;
}

/** Logs a problem when it starts and ends; `code` is null without one. */
export type StatusLogger = (code: string | null, lines: StatusMessages) => void;

/**
 * One line when a problem begins or changes, one every ten minutes while it lasts, one when it has ended. However it
 * flickers, each code is said at most once a minute, and only what was said to begin is said to be over: so the log stays
 * short, and a minute later at the latest its last word is true. To be called again and again, news or not.
 */
export function createStatusLogger({ clock }: { readonly clock: Clock }): StatusLogger {
  const loggedAt = new Map<string, number>();
  let said: string | null = null;
  let since: number | null = null;
  return (code, lines) => {
    const now = clock.monotonicMs();
    const seconds = Math.round((now - (since ?? now)) / 1000);
    if (code === null) {
      if (said !== null) lines.over(seconds);
      said = null;
      since = null;
      return;
    }
    since ??= now;
    const quietMs = code === said ? 600_000 : 60_000;
    if (now - (loggedAt.get(code) ?? Number.NEGATIVE_INFINITY) < quietMs) return;
    loggedAt.set(code, now);
    if (code === said) lines.lasts(seconds);
    else lines.begins();
    said = code;
  };
}
