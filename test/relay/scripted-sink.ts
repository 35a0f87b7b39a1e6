import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { type ParsedEntry, parsed, type SendResult, type Sink } from '../../src/sinks/sink.ts';

/** One `send` as the sink got it. */
export interface Sent {
  readonly positions: readonly number[];
  readonly records: readonly LifecycleRecord[];
  /** Of the clock of the test. */
  readonly at: number;
  readonly signal: AbortSignal;
  /** Answers it; for sinks whose script says `later`. */
  answer(result: SendResult): void;
}

export const delivered: SendResult = { kind: 'delivered' };
export const unavailable: SendResult = {
  kind: 'retry',
  cause: 'transient',
  code: 'http-503',
  reason: 'the service is down',
};
export const forbidden: SendResult = {
  kind: 'retry',
  cause: 'configuration',
  code: 'http-403',
  reason: 'grant the role',
};
export const tooLarge: SendResult = { kind: 'rejected', cause: 'too-large', code: 'http-413', reason: 'too large' };
export const poison: SendResult = {
  kind: 'rejected',
  cause: 'poison',
  code: 'http-400',
  reason: 'does not fit the table',
};

/** What a sink does with a batch. `later`: the test answers with `Sent.answer`. */
export type Script = (batch: readonly ParsedEntry[], attempt: number) => SendResult | 'later';

/** A sink whose answers a test writes, and which notes what it was given. */
export interface ScriptedSink extends Sink {
  readonly sent: Sent[];
  /** Positions that were delivered, in order, copies included. */
  readonly arrived: number[];
  /** Replaces the script from now on. */
  does(script: Script): void;
}

export function scriptedSink(
  options: Partial<Pick<Sink, 'batchBy' | 'inFlight' | 'limits'>> & { readonly monotonicMs?: () => number } = {},
): ScriptedSink {
  const sent: Sent[] = [];
  const arrived: number[] = [];
  let script: Script = () => delivered;
  return {
    name: 'scripted',
    batchBy: 'any',
    inFlight: 1,
    limits: { records: 100, bytes: 1_000_000 },
    ...options,
    sent,
    arrived,
    does(next) {
      script = next;
    },
    send(batch, signal) {
      const entries = batch.map(parsed);
      const records = entries.map(({ record }) => record);
      const positions = records.map(({ position }) => position);
      const { promise, resolve } = Promise.withResolvers<SendResult>();
      const answer = (result: SendResult): void => {
        if (result.kind === 'delivered') arrived.push(...positions);
        resolve(result);
      };
      sent.push({ positions, records, at: options.monotonicMs?.() ?? 0, signal, answer });
      const now = script(entries, sent.length);
      if (now !== 'later') answer(now);
      return promise;
    },
    check: async () => ({ ok: true, code: 'ok', detail: '' }),
    close: async () => {},
  };
}
