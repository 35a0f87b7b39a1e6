import type { TokenCredential } from '@azure/identity';
import type { DeadlineCounts } from '../azure/deadline.ts';
import { failedCheck, KnownFailure, retry } from '../azure/failure.ts';
import { faultPoint } from '../fault-point.ts';
import type { HeartbeatSender } from '../heartbeat/sender.ts';
import { messageOf } from '../log.ts';
import type { SinkShape } from '../sinks/descriptor.ts';
import type { Failure, Sink } from '../sinks/sink.ts';
import type { SenderProcess } from './sender-process.ts';
import { tokensOver } from './tokens.ts';

/** A sink that runs in another process: a crash there does not end this one. */
export function createRemoteSink(
  shape: SinkShape,
  process: SenderProcess,
): Sink & { readonly deadlines: DeadlineCounts } {
  return {
    ...shape,
    async send(batch, signal) {
      try {
        const result = process.call(
          'send',
          batch.map(({ json }) => json),
          signal,
        );
        await null; // the calls of one turn are posted together, at its end
        faultPoint('request-handed-over');
        return await result;
      } catch (error) {
        return failureOf(error);
      }
    },
    async check(signal) {
      try {
        return await process.call('check', null, signal);
      } catch (error) {
        return failedCheck(failureOf(error));
      }
    },
    close: () => process.close(),
    get deadlines() {
      return process.deadlines;
    },
  };
}

/** Heartbeats, sent by the process of the sink. */
export const createRemoteHeartbeat = (name: string, process: SenderProcess): HeartbeatSender => ({
  name,
  async send(facts, signal) {
    try {
      return await process.call('heartbeat', facts, signal);
    } catch (error) {
      return failureOf(error);
    }
  },
});

/** Tokens from a process of their own, which caches none. */
export const createRemoteTokens = (process: SenderProcess): TokenCredential =>
  tokensOver((scope, signal) => process.call('token', scope, signal));

/** Anything else is an internal error of the other process: no record may be lost by it. */
function failureOf(error: unknown): Failure {
  if (error instanceof KnownFailure) return error.failure;
  const message = messageOf(error);
  const reason = `Internal error in the sender: ${message}; the batch is sent again. Please report it.`;
  return retry('transient', 'sender-threw', reason);
}
