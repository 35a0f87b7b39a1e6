/** When a process is killed, beside at once. */
export type Trigger =
  /** `turns` of the event loop after a sink gets the n-th batch. */
  | { readonly kind: 'batch'; readonly nth: number; readonly turns: number }
  | { readonly kind: 'point'; readonly name: string; readonly nth: number };

/** What the test asks of the process with the bridges; each is answered with {@link Reply}. */
export type Order =
  | { readonly kind: 'use'; readonly sources: string; readonly ca: string }
  | {
      readonly kind: 'start';
      readonly configuration: unknown;
      readonly stateDirectory: string;
      /** A folder on another disk, for the time in which the files of a killed process are put back. */
      readonly aside: string;
      readonly tokens: string;
    }
  /** For the running bridge; it counts from now on. Null: no trigger. */
  | { readonly kind: 'arm'; readonly trigger: Trigger | null }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'kill' | 'terminate' }
  | { readonly kind: 'step clock'; readonly ms: number };

export interface Reply {
  /** Of the wall clock without its steps, in ms since the epoch. */
  readonly nowMs: number;
  /** Codes of the warnings and errors of the outbox since the last reply. */
  readonly faults: readonly string[];
  /** The bridge runs. False: it was killed by its trigger. */
  readonly isRunning: boolean;
  /** By sink: copies that a destination may have, since a result was lost or a send failed for an unknown reason. */
  readonly copies: Readonly<Record<string, number>>;
  /** The bridge ended by itself, and why. */
  readonly failure: string | null;
}
