import type { StepKind } from '../../../src/lifecycle/record-id.ts';

/** An event as it was announced: what every observer has to report of it. Written down before any bridge has seen it. */
export interface Announced {
  readonly eventId: string;
  readonly eventType: string;
  /** In this order; the last one is `end` once the event has left the document. */
  readonly steps: readonly StepKind[];
}
