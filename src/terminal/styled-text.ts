/** What a piece of text means; the renderer decides its style. */
export type Style = 'plain' | 'strong' | 'quiet' | 'scheduled' | 'started' | 'ended' | 'canceled' | 'frozen' | 'broken';

export interface Span {
  readonly text: string;
  readonly style: Style;
}
/** One line. */
export type Row = readonly Span[];

export const span = (text: string, style: Style = 'plain'): Span => ({ text, style });

/** Columns that it takes: one per character of those used here. */
export const widthOf = (row: Row): number => row.reduce((sum, { text }) => sum + text.length, 0);

/** Cut, or filled with blanks, to that many columns. */
export function toWidth(row: Row, width: number): Row {
  const fitted: Span[] = [];
  let left = width;
  for (const { text, style } of row) {
    if (left > 0) fitted.push(span(text.slice(0, left), style));
    left -= text.length;
  }
  return left > 0 ? [...fitted, span(' '.repeat(left))] : fitted;
}

/** Adjacent spans of one style become one. */
export function join(spans: Iterable<Span>): Row {
  const row: Span[] = [];
  for (const next of spans) {
    const last = row.at(-1);
    if (last?.style === next.style) row[row.length - 1] = span(last.text + next.text, next.style);
    else row.push(next);
  }
  return row;
}

/** https://en.wikipedia.org/wiki/ANSI_escape_code#Select_Graphic_Rendition_parameters */
const codes: Readonly<Record<Style, string>> = {
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
  row.map(({ text, style }) => (colour && codes[style] !== '' ? `\x1b[${codes[style]}m${text}\x1b[0m` : text)).join('');

/** `1 record`, `2 records`. */
export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** `1.45 s`, `12.3 s`. */
export const seconds = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} s`;
