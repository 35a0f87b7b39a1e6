import type { DeadlineCounts } from '../azure/deadline.ts';
import type { Config } from '../config.ts';
import type { HeartbeatFacts } from '../heartbeat/row.ts';
import type { CheckResult, Failure, SendResult } from '../sinks/sink.ts';

/** The purpose of a process: the name of the sink that it runs, or `tokens` where it fetches them for all sinks. */
export type SenderRole = string;
export const tokensRole = 'tokens';

/** The first message that a process receives. Over the channel, since others can read arguments and environment. */
export interface SenderStart {
  /** With the sinks of this process only. */
  readonly config: Config;
}

/** The methods of a sender process. `begin` is called first, and once. */
export type SenderMethods = {
  begin(start: SenderStart): void;
  /** The records as they were stored, oldest first. */
  send(batch: readonly Uint8Array[]): SendResult;
  check(value: null): CheckResult;
  heartbeat(facts: HeartbeatFacts): Failure | null;
  token(scope: string): TokenAnswer;
  /** Reports whether an event is about to start, and returns the status. A process that does not answer hangs. */
  status(startDue: boolean): SenderStatus;
  /** Closes its connections. */
  close(value: null): void;
};

/** The methods of the process that polls, which holds the tokens: they outlive the process that uses them. */
export type PollerMethods = {
  token(scope: string): TokenAnswer;
  replaceToken(refused: { readonly scope: string; readonly token: string }): boolean;
};

export type TokenAnswer =
  | { readonly token: string; readonly expiresOnTimestamp: number; readonly failure?: never }
  | { readonly failure: Failure };

export interface SenderStatus {
  readonly deadlines: DeadlineCounts | null;
  readonly residentBytes: number;
  /** Heap and buffers: what no file backs, as far as Node knows it. */
  readonly allocatedBytes: number;
}
