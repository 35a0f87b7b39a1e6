import { NotBicep, type Token } from './tokens.ts';

/** A position in a list of tokens. */
export interface Cursor {
  readonly line: number;
  peek(ahead?: number): Token;
  next(): Token;
  /** Whether the next token is this sign or word. */
  at(is: string, ahead?: number): boolean;
  /** Skips it when it is next. */
  skip(is: string): boolean;
  /** Goes over it. @throws NotBicep when something else stands there. */
  expect(is: string): void;
  word(what: string): string;
  /** Goes over line breaks; says whether there were any. */
  newlines(): boolean;
  fail(wanted: string): never;
}

export function cursorOver(tokens: readonly Token[]): Cursor {
  let position = 0;
  const end: Token = tokens.at(-1) ?? { line: 1, kind: 'end', is: 'the end of the file' };
  const peek = (ahead = 0): Token => tokens[position + ahead] ?? end;
  const next = (): Token => {
    const token = peek();
    position += 1;
    return token;
  };
  const at = (is: string, ahead = 0): boolean => {
    const token = peek(ahead);
    return (token.kind === 'sign' || token.kind === 'word') && token.is === is;
  };
  const fail = (wanted: string): never => {
    throw new NotBicep(peek().line, `${wanted} expected, found ${peek().is}`);
  };
  return {
    get line() {
      return peek().line;
    },
    peek,
    next,
    at,
    skip(is) {
      const there = at(is);
      if (there) position += 1;
      return there;
    },
    expect(is) {
      if (!at(is)) fail(is);
      position += 1;
    },
    word(what) {
      if (peek().kind !== 'word') fail(what);
      return next().is;
    },
    newlines() {
      const from = position;
      while (peek().kind === 'newline') position += 1;
      return position > from;
    },
    fail,
  };
}
