import type { AccessToken, TokenCredential } from '@azure/identity';
import type { Deadlines } from '../azure/deadline.ts';
import { type Failure, KnownFailure } from '../azure/failure.ts';
import type { HeartbeatSender } from '../heartbeat/sender.ts';
import type { SinkShape } from '../sinks/descriptor.ts';
import type { Sink } from '../sinks/sink.ts';
import type { SenderProcess } from './sender-process.ts';

/** A sink whose work is done in another process, which may die of it. */
export function createRemoteSink(
  shape: SinkShape,
  process: SenderProcess,
): Sink & { readonly deadlines: Pick<Deadlines, 'missed' | 'lateSettles'> } {
  return {
    ...shape,
    async send(batch, signal) {
      try {
        return await process.call(
          'send',
          batch.map(({ json }) => json),
          signal,
        );
      } catch (error) {
        return failureOf(error);
      }
    },
    async check(signal) {
      try {
        return await process.call('check', null, signal);
      } catch (error) {
        const { code, reason } = failureOf(error);
        return { ok: false, code, detail: reason };
      }
    },
    close: () => process.close(),
    get deadlines() {
      return process.deadlines;
    },
  };
}

/** Heartbeats by the process of the sink, which has what they need. */
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

/** Tokens fetched by a process of their own, a new one each time: it remembers none. */
export const createRemoteTokens = (process: SenderProcess): TokenCredential => ({
  async getToken(scopes, { abortSignal } = {}): Promise<AccessToken> {
    const scope = typeof scopes === 'string' ? scopes : scopes.join(' ');
    const answer = await process.call('token', scope, abortSignal instanceof AbortSignal ? abortSignal : undefined);
    if (answer.failure) throw new KnownFailure(answer.failure);
    return answer;
  },
});

/** Anything else is a mistake of ours in the other process: it must not cost a record either. */
function failureOf(error: unknown): Failure {
  if (error instanceof KnownFailure) return error.failure;
  const message = error instanceof Error ? error.message : String(error);
  return {
    kind: 'retry',
    cause: 'transient',
    code: 'sender-threw',
    reason: `Internal error in the sender: ${message}; the batch is sent again. Please report it.`,
  };
}
