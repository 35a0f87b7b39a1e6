import type { CommandContext } from '../../cli/command-context.ts';
import { mayColour } from '../../process/text-format.ts';
import { type Row, toText } from './picture/ink.ts';
import { createScreen } from './picture/screen.ts';

/** Where stdout leads. */
export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** How a show is seen: as a living picture where there is a terminal for it, else line by line. */
export interface Display {
  /** Something happened: one line, unless there is a picture. Null: not worth one. */
  line(text: string | null): void;
  /** The picture as it is now, for so many columns. It is drawn a few times a second, and the last one always. */
  draw(picture: (columns: number) => readonly Row[]): void;
  say(rows: readonly Row[]): void;
  /** Gives the terminal back as it was; to be called however the show ends. A second time it does nothing. */
  close(): void;
}

const frameMs = 200;
const leastColumns = 80;

/** `height`: rows that the picture takes. */
export function createDisplay(
  terminal: Terminal,
  { print, env }: Pick<CommandContext, 'print' | 'env'>,
  height: (columns: number) => number,
): Display {
  const { columns = leastColumns, rows = 0, isTTY = false } = terminal;
  const canMove = isTTY && env.TERM !== 'dumb';
  const colour = mayColour(terminal, env);
  const say = (lines: readonly Row[]): void => print(lines.map((row) => `${toText(row, colour)}\n`).join(''));
  if (!canMove || columns < leastColumns || rows <= height(columns)) {
    return { line: (text) => text !== null && print(`${text}\n`), draw: () => {}, say, close: () => {} };
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
    say,
    close() {
      drawNewest();
      screen.close();
    },
  };
}
