import { type Row, toText } from './styled-text.ts';

/** A picture that is drawn over itself on the same lines of a terminal. */
export interface Screen {
  draw(rows: readonly Row[]): void;
  /** Shows the cursor again, below the picture; to be called however the show ends. A second call does nothing. */
  close(): void;
}

const hideCursor = '\x1b[?25l';
const showCursor = '\x1b[?25h';
const toLineEnd = '\x1b[K';
const toScreenEnd = '\x1b[J';

/** `write`: to the terminal. A frame is one write, so that half a frame is never visible. */
export function createScreen(write: (text: string) => void, colour: boolean): Screen {
  let height = 0;
  let isOpen = true;
  return {
    draw(rows) {
      if (!isOpen) return;
      const home = height === 0 ? hideCursor : `\x1b[${height}A`;
      write(`${home}\r${rows.map((row) => `${toText(row, colour)}${toLineEnd}\n`).join('')}${toScreenEnd}`);
      height = rows.length;
    },
    close() {
      if (isOpen && height > 0) write(showCursor);
      isOpen = false;
    },
  };
}
