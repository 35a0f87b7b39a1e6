/** What the test asks of the process with the bridge; each is answered with {@link Reply}. */
export type Order =
  | {
      readonly kind: 'start';
      readonly sources: string;
      readonly configuration: unknown;
      readonly stateDirectory: string;
    }
  /** Lets so much time pass for the bridge. */
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'measure' };

export interface Reply {
  /** The wall clock of the bridge, in ms since the epoch. */
  readonly nowMs: number;
  /** Warnings and errors since the last reply. */
  readonly log: readonly LogLine[];
  /** Where it was asked to measure them. */
  readonly resources: Resources | null;
}

export interface LogLine {
  readonly atMs: number;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What a leak would let grow. */
export interface Resources {
  /** Of the process: sockets and other handles, timers of Node. */
  readonly active: number;
  readonly timers: number;
  /** Of the clock of the bridge. */
  readonly sleepers: number;
  readonly listeners: number;
  readonly heapMegabytes: number;
}
