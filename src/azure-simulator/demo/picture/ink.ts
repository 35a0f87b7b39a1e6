/** What a piece of text means; how that looks is decided where it is shown. */
export type Ink = 'plain' | 'strong' | 'quiet' | 'scheduled' | 'started' | 'ended' | 'canceled' | 'frozen' | 'broken';

export interface Piece {
  readonly text: string;
  readonly ink: Ink;
}
/** One line of a picture. */
export type Row = readonly Piece[];

export const piece = (text: string, ink: Ink = 'plain'): Piece => ({ text, ink });

/** How many columns it takes: every character used here takes one. */
export const widthOf = (row: Row): number => row.reduce((sum, { text }) => sum + text.length, 0);

/** Cut, or filled with blanks, to that many columns. */
export function toWidth(row: Row, width: number): Row {
  const fitted: Piece[] = [];
  let left = width;
  for (const { text, ink } of row) {
    if (left > 0) fitted.push(piece(text.slice(0, left), ink));
    left -= text.length;
  }
  return left > 0 ? [...fitted, piece(' '.repeat(left))] : fitted;
}

/** Characters, each with its ink, as few pieces. */
export function join(cells: Iterable<Piece>): Row {
  const row: Piece[] = [];
  for (const cell of cells) {
    const last = row.at(-1);
    if (last?.ink === cell.ink) row[row.length - 1] = piece(last.text + cell.text, cell.ink);
    else row.push(cell);
  }
  return row;
}

/** https://en.wikipedia.org/wiki/ANSI_escape_code#Select_Graphic_Rendition_parameters */
const codes: Readonly<Record<Ink, string>> = {
  plain: '',
  strong: '1',
  quiet: '2',
  scheduled: '33',
  started: '35',
  ended: '32',
  canceled: '34',
  frozen: '36',
  broken: '1;31',
};

/** For a terminal. */
export const toText = (row: Row, colour: boolean): string =>
  row.map(({ text, ink }) => (colour && codes[ink] !== '' ? `\x1b[${codes[ink]}m${text}\x1b[0m` : text)).join('');
