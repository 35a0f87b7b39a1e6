/** Whole numbers, both ends included. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
}

/** How many numbers are in ranges that do not overlap. */
export const countOf = (ranges: readonly NumberRange[]): number =>
  ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);

/** Whole numbers that arrive in any order, kept as ranges: as long as none is missing, one range. */
export class NumberRanges {
  /** In order, with at least one number missing between two. */
  #ranges: NumberRange[] = [];

  get first(): number | null {
    return this.#ranges[0]?.from ?? null;
  }

  get last(): number | null {
    return this.#ranges.at(-1)?.to ?? null;
  }

  /** The numbers that are not there between two that are. */
  get missing(): readonly NumberRange[] {
    return this.#ranges.slice(1).map(({ from }, index) => ({
      from: (this.#ranges[index]?.to ?? 0) + 1,
      to: from - 1,
    }));
  }

  add(number: number): void {
    const isTouching = ({ from, to }: NumberRange): boolean => from - 1 <= number && number <= to + 1;
    const touching = this.#ranges.filter(isTouching);
    const merged = {
      from: Math.min(number, ...touching.map(({ from }) => from)),
      to: Math.max(number, ...touching.map(({ to }) => to)),
    };
    const others = this.#ranges.filter((range) => !isTouching(range));
    const index = others.findIndex(({ from }) => from > merged.to);
    this.#ranges = others.toSpliced(index === -1 ? others.length : index, 0, merged);
  }
}
