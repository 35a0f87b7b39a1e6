import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Entry, SendResult, Sink } from '../../src/sinks/sink.ts';
import { sampleEntry } from '../support/sample-record.ts';

/** How a destination can be made to misbehave, until it is reset. */
export type Misbehaviour =
  /** It asks for less. */
  | 'throttled'
  /** It takes what it is given and says nothing. */
  | 'silent'
  /** It lets us in no further until someone acts. */
  | 'refused'
  /** It finds what it is given malformed. */
  | 'malformed';

/** A sink and the destination behind it, as the suite needs them. */
export interface SinkUnderTest {
  readonly sink: Sink;
  /** `recordId`s that have arrived, in order, copies included. */
  arrived(): readonly string[];
  /** The very bytes or the row of what arrived, to compare copies. */
  contents(): readonly string[];
  /** Null: it behaves again. */
  misbehave(how: Misbehaviour | null): void;
  /** Longest that an answer may take when the destination says nothing: the sink's own deadlines and a little. */
  readonly timeoutMs: number;
  /** A batch that is more than the destination takes at once. */
  readonly tooMuch: readonly Entry[];
  /** The sink serves the next test too, unless this one closed it. Default: it is closed. */
  readonly isKept?: boolean;
}

/**
 * What the relay relies on, as `sink.ts` says it. Every sink passes this, against the real thing or something that talks
 * like it. `name` begins the name of each test. `knows`: which refusals a destination of this kind has at all.
 */
export function passesTheContract(
  name: string,
  open: () => Promise<SinkUnderTest> | SinkUnderTest,
  knows: { readonly throttling: boolean; readonly malformed: boolean; readonly tooLarge: boolean },
): void {
  describe(`${name}, as any sink`, () => {
    let under: SinkUnderTest;
    // Of now: Log Analytics replaces the time of what is older than two days.
    const observedAt = new Date().toISOString();
    const never = new AbortController().signal;
    const send = (batch: readonly Entry[], signal: AbortSignal = never): Promise<SendResult> =>
      under.sink.send(batch, signal);
    const entries = (...ids: string[]): readonly Entry[] =>
      ids.map((recordId, index) => sampleEntry({ recordId, sequence: index + 1, position: index + 1, observedAt }));
    const recovered = async (): Promise<void> => {
      under.misbehave(null);
      const before = under.arrived().length;
      expect(await send(entries('recovered'))).toEqual({ kind: 'delivered' });
      expect(under.arrived().slice(before)).toContain('recovered');
    };

    beforeEach(async () => {
      under = await open();
    });
    afterEach(async () => {
      under.misbehave(null);
      if (!under.isKept) await under.sink.close();
    });

    test(`${name} delivers a batch in its order, and batches in theirs`, async () => {
      expect(await send(entries('a', 'b', 'c'))).toEqual({ kind: 'delivered' });
      expect(await send(entries('d'))).toEqual({ kind: 'delivered' });
      expect(under.arrived()).toEqual(['a', 'b', 'c', 'd']);
    });

    test(`${name} takes the same batch again and sends the same`, async () => {
      const batch = entries('again');
      expect(await send(batch)).toEqual({ kind: 'delivered' });
      expect(await send(batch)).toEqual({ kind: 'delivered' });
      expect(under.arrived()).toEqual(['again', 'again']);
      expect(new Set(under.contents()).size).toBe(1);
    });

    if (knows.throttling)
      test(`${name} reports a throttle with its time, and continues afterwards`, async () => {
        under.misbehave('throttled');
        expect(await send(entries('slowly'))).toMatchObject({ kind: 'retry', cause: 'throttled' });
        await recovered();
      });

    test(`${name} keeps its own deadline when the destination never answers`, async () => {
      expect(await send(entries('before'))).toEqual({ kind: 'delivered' });
      under.misbehave('silent');
      const started = performance.now();
      expect(await send(entries('unanswered'))).toMatchObject({ kind: 'retry', cause: 'transient' });
      expect(performance.now() - started).toBeLessThan(under.timeoutMs);
      await recovered();
    });

    test(`${name} keeps refused records until an operator acts, with the remedy`, async () => {
      under.misbehave('refused');
      const result = await send(entries('refused'));
      expect(result).toMatchObject({ kind: 'retry', cause: 'configuration' });
      expect('reason' in result && result.reason).toMatch(/: (grant|check|keep) /);
      await recovered();
    });

    if (knows.malformed)
      test(`${name} rejects what the destination finds malformed`, async () => {
        under.misbehave('malformed');
        expect(await send(entries('malformed'))).toMatchObject({ kind: 'rejected', cause: 'poison' });
        await recovered();
      });

    if (knows.tooLarge)
      test(`${name} rejects a batch that is too large, and nothing of it arrives`, async () => {
        expect(await send(under.tooMuch)).toMatchObject({ kind: 'rejected', cause: 'too-large' });
        expect(under.arrived()).toEqual([]);
        await recovered();
      });

    test(`${name} sends nothing when it is aborted before it starts`, async () => {
      expect(await send(entries('late'), AbortSignal.abort())).toMatchObject({ kind: 'retry', cause: 'transient' });
      expect(under.arrived()).toEqual([]);
    });

    test(`${name} answers at once when it is called off`, async () => {
      expect(await send(entries('first'))).toEqual({ kind: 'delivered' });
      under.misbehave('silent');
      const callOff = new AbortController();
      const sending = send(entries('called off'), callOff.signal);
      setTimeout(() => callOff.abort(), 50);
      expect(await sending).toMatchObject({ kind: 'retry', cause: 'transient', code: 'aborted' });
      await recovered();
    });

    test(`${name} verifies that it could send, without sending`, async () => {
      expect(await under.sink.check(never)).toMatchObject({ ok: true, code: 'ok' });
      expect(under.arrived()).toEqual([]);
      under.misbehave('refused');
      expect(await under.sink.check(never)).toMatchObject({ ok: false });
    });

    test(`${name} closes within 3 s, also in the middle of silence`, async () => {
      expect(await send(entries('last'))).toEqual({ kind: 'delivered' });
      under.misbehave('silent');
      const callOff = new AbortController();
      const sending = send(entries('cut'), callOff.signal);
      callOff.abort();
      await sending;
      const started = performance.now();
      await under.sink.close();
      expect(performance.now() - started).toBeLessThan(3000);
    });
  });
}
