import type { CommandContext } from '../../cli/command-context.ts';
import { mayColour } from '../../process/text-format.ts';
import { createScreen } from '../../terminal/screen.ts';
import { type Row, toText } from '../../terminal/styled-text.ts';

/** The part of stdout that says whether it is a terminal, and how large. */
export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Shows a moving picture on a terminal that is large enough, and lines elsewhere. */
export interface Display {
  /** Something happened; printed where there is no picture. Null: not worth a line. */
  line(text: string | null): void;
  /** The present picture, for a number of columns. It is drawn a few times a second; the last one is always drawn. */
  draw(picture: (columns: number) => readonly Row[]): void;
  print(rows: readonly Row[]): void;
  /** Restores the terminal; to be called however the show ends. A second call does nothing. */
  close(): void;
}

const frameMs = 200;
const leastColumns = 80;

/** `height`: rows of the picture. */
export function createDisplay(
  terminal: Terminal,
  { print, env }: Pick<CommandContext, 'print' | 'env'>,
  height: (columns: number) => number,
): Display {
  const { columns = leastColumns, rows = 0, isTTY = false } = terminal;
  const canMove = isTTY && env.TERM !== 'dumb';
  const colour = mayColour(terminal, env);
  const printRows = (lines: readonly Row[]): void => print(lines.map((row) => `${toText(row, colour)}\n`).join(''));
  if (!canMove || columns < leastColumns || rows <= height(columns)) {
    return { line: (text) => text !== null && print(`${text}\n`), draw: () => {}, print: printRows, close: () => {} };
  }
  const screen = createScreen(print, colour);
  let drawnAt = Number.NEGATIVE_INFINITY;
  let newest: ((columns: number) => readonly Row[]) | null = null;
  const drawNewest = (): void => {
    if (newest !== null) screen.draw(newest(terminal.columns ?? leastColumns));
    newest = null;
  };
  return {
    line: () => {},
    draw(picture) {
      newest = picture;
      if (performance.now() - drawnAt < frameMs) return;
      drawnAt = performance.now();
      drawNewest();
    },
    print: printRows,
    close() {
      drawNewest();
      screen.close();
    },
  };
}
