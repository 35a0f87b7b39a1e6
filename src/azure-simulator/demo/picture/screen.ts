import { type Row, toText } from './ink.ts';

/** A picture that is drawn again and again on the same lines of a terminal. */
export interface Screen {
  draw(rows: readonly Row[]): void;
  /** Gives the cursor back, below the picture. To be called however it ends; a second time does nothing. */
  close(): void;
}

const hideCursor = '\x1b[?25l';
const showCursor = '\x1b[?25h';
const toLineEnd = '\x1b[K';
const toScreenEnd = '\x1b[J';

/** `write`: to the terminal. A frame is one write, so that no half of one is ever seen. */
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
