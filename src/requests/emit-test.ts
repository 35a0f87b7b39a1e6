import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Observer } from '../lifecycle/scheduled-event.ts';
import { testRecord } from '../lifecycle/test-record.ts';
import type { Outbox } from '../outbox/outbox.ts';

/** The verb of the request. */
export const emitTestRequest = 'emit-test';

/** What the service answers. */
export type EmitTestAnswer =
  | { readonly ok: false; readonly message: string }
  | {
      readonly ok: true;
      readonly message: string;
      readonly eventId: string;
      readonly recordId: string;
      readonly transitionId: string;
      readonly streamId: string;
      readonly position: number;
      /** Names of the configured sinks; absent from a service of an older version. */
      readonly sinks?: readonly string[];
    };

/** Creates a test record and stores it like any other. */
export function createEmitTest({
  outbox,
  observer,
  clock,
  version,
  imdsApiVersion,
}: {
  readonly outbox: Pick<Outbox, 'state' | 'append' | 'storage' | 'backlog'>;
  readonly observer: { known(): Observer | null };
  readonly clock: Clock;
  readonly version: string;
  /** As configured: of the record as long as no document was seen. */
  readonly imdsApiVersion: string;
}): (argument: unknown) => EmitTestAnswer {
  return () => {
    const known = observer.known();
    if (known === null) {
      return {
        ok: false,
        message: 'This VM does not know its own name yet, since the instance metadata cannot be read: check says why.',
      };
    }
    const { state, record } = testRecord(outbox.state, {
      unique: randomUUID(),
      observer: known,
      at: clock.now(),
      imdsApiVersion,
      bridgeVersion: version,
    });
    outbox.append(state, [record]);
    const { eventId, recordId, transitionId, streamId, position } = record;
    const where = outbox.storage.fault === null ? 'is in the outbox' : 'is in memory, since the disk takes no writes,';
    const message = `A test record ${where} and goes to every sink; status shows whether it arrived.`;
    const sinks = outbox.backlog().map(({ sink }) => sink);
    return { ok: true, message, eventId, recordId, transitionId, streamId, position, sinks };
  };
}
