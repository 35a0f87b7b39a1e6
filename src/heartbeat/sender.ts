import type { Failure } from '../sinks/sink.ts';
import type { HeartbeatFacts } from './row.ts';

/** Where heartbeats go. */
export interface HeartbeatSender {
  /** For sentences. */
  readonly name: string;
  /** Resolves with why it could not be sent, null when it was. Never rejects. */
  send(facts: HeartbeatFacts, signal: AbortSignal): Promise<Failure | null>;
}
