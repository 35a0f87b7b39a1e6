import { type Row, toText, widthOf } from './styled-text.ts';

/** A picture that is drawn over itself on the same lines of a terminal. */
export interface Screen {
  draw(rows: readonly Row[]): void;
  /** Prints lines that stay, above the picture. */
  printAbove(rows: readonly Row[]): void;
  /** Shows the cursor again, below the picture; to be called however the show ends. A second call does nothing. */
  close(): void;
  /** Removes the picture, and closes. */
  erase(): void;
}

const hideCursor = '\x1b[?25l';
const showCursor = '\x1b[?25h';
const toLineEnd = '\x1b[K';
const toScreenEnd = '\x1b[J';

/**
 * `write`: to the terminal. A frame is one write, so that half a frame is never visible.
 * `columns`: of the terminal, where it may change: what became narrower wraps the rows that are on it.
 */
export function createScreen(
  write: (text: string) => void,
  colour: boolean,
  columns: () => number = () => Number.POSITIVE_INFINITY,
): Screen {
  let drawn: readonly Row[] = [];
  let isOpen = true;
  const text = (rows: readonly Row[]): string => rows.map((row) => `${toText(row, colour)}${toLineEnd}\n`).join('');
  const linesOf = (row: Row): number => Math.max(1, Math.ceil(widthOf(row) / columns()));
  const home = (): string => {
    const height = drawn.reduce((sum, row) => sum + linesOf(row), 0);
    return `${height === 0 ? hideCursor : `\x1b[${height}A`}\r`;
  };
  return {
    draw(rows) {
      if (!isOpen) return;
      write(`${home()}${text(rows)}${toScreenEnd}`);
      drawn = rows;
    },
    printAbove(rows) {
      if (isOpen) write(`${home()}${text(rows)}${text(drawn)}${toScreenEnd}`);
      else write(text(rows));
    },
    close() {
      if (isOpen && drawn.length > 0) write(showCursor);
      isOpen = false;
    },
    erase() {
      if (isOpen && drawn.length > 0) write(`${home()}${toScreenEnd}${showCursor}`);
      isOpen = false;
    },
  };
}
