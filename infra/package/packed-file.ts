/** One file of a package. */
export interface PackedFile {
  /** Relative, with slashes. */
  readonly path: string;
  readonly mode: 0o644 | 0o755;
  readonly content: Buffer;
}

/** By code unit, in no language's order: the same on every machine. */
export const byPath = ({ path: a }: { readonly path: string }, { path: b }: { readonly path: string }): number =>
  a < b ? -1 : Number(a > b);
