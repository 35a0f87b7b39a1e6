import type { Pragma } from './syntax.ts';

/** The smallest pieces of a file. `text` carries what stands between its quotes: plain parts, and the pieces of each `${…}`. */
export type Token = { readonly line: number } & (
  | { readonly kind: 'word' | 'sign'; readonly is: string }
  | { readonly kind: 'number'; readonly is: string }
  | { readonly kind: 'text'; readonly is: string; readonly parts: readonly (string | readonly Token[])[] }
  | { readonly kind: 'newline' | 'end'; readonly is: string }
);

/** Something that is not Bicep, and where. */
export class NotBicep extends Error {
  readonly line: number;
  constructor(line: number, what: string) {
    super(what);
    this.line = line;
  }
}

const signs = /(=>|==|!=|=~|!~|<=|>=|&&|\|\||\?\?|\.\?|::|[-+*/%<>!?:.,=|@(){}[\]])/y;
const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', "'": "'", '\\': '\\', $: '$' };

/** Cuts a file into tokens; comments go, `#disable-next-line` is kept apart. @throws NotBicep */
export function tokenize(source: string): { tokens: Token[]; pragmas: Pragma[] } {
  const pragmas: Pragma[] = [];
  let at = 0;
  let line = 1;

  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source)?.[0];
    if (found === undefined) return null;
    at += found.length;
    return found;
  };

  /** Up to the end of the file, or of the `${…}` that contains it. */
  function pieces(inText: boolean): Token[] {
    const tokens: Token[] = [];
    let open = 0;
    for (;;) {
      match(/[ \t\r]+|\/\/[^\n]*/y);
      if (at >= source.length) {
        if (inText) throw new NotBicep(line, 'a ${ that is not closed');
        tokens.push({ line, kind: 'end', is: 'the end of the file' });
        return tokens;
      }
      const next = source[at] ?? '';
      if (/[ \t\r]/.test(next) || source.startsWith('//', at)) continue;
      if (next === '\n') {
        tokens.push({ line, kind: 'newline', is: 'the end of the line' });
        at += 1;
        line += 1;
      } else if (source.startsWith('/*', at)) {
        const comment = match(/\/\*[\s\S]*?\*\//y);
        if (comment === null) throw new NotBicep(line, 'a comment that is not closed');
        line += comment.split('\n').length - 1;
      } else if (next === '#') {
        const before = source.slice(0, at).split('\n').at(-2) ?? '';
        pragmas.push(pragma(match(/#[^\n]*/y) ?? '', before, line));
      } else if (source.startsWith("'''", at)) {
        tokens.push(block());
      } else if (next === "'") {
        tokens.push(text());
      } else if (/[a-zA-Z_]/.test(next)) {
        tokens.push({ line, kind: 'word', is: match(/\w+/y) ?? '' });
      } else if (/\d/.test(next)) {
        tokens.push({ line, kind: 'number', is: match(/\d+/y) ?? '' });
      } else {
        const sign = match(signs);
        if (sign === null) throw new NotBicep(line, `${JSON.stringify(next)} means nothing here`);
        if (sign === '{') open += 1;
        if (sign === '}' && open === 0 && inText) {
          tokens.push({ line, kind: 'end', is: '}' });
          return tokens;
        }
        if (sign === '}') open -= 1;
        tokens.push({ line, kind: 'sign', is: sign });
      }
    }
  }

  /** `'''…'''`: as it stands, a first line break left out. */
  function block(): Token {
    const from = line;
    const found = match(/'''(?:\r?\n)?[\s\S]*?'''+/y);
    if (found === null) throw new NotBicep(line, "a text in ''' that is not closed");
    line += found.split('\n').length - 1;
    return { line: from, kind: 'text', is: 'a text', parts: [found.slice(3, -3).replace(/^\r?\n/, '')] };
  }

  function text(): Token {
    const parts: (string | readonly Token[])[] = [];
    let plain = '';
    at += 1;
    for (;;) {
      const next = source[at];
      if (next === undefined || next === '\n') throw new NotBicep(line, 'a text that is not closed');
      if (next === "'") {
        at += 1;
        if (plain !== '' || parts.length === 0) parts.push(plain);
        return { line, kind: 'text', is: 'a text', parts };
      }
      if (next === '\\') plain += escaped();
      else if (source.startsWith('${', at)) {
        if (plain !== '') parts.push(plain);
        plain = '';
        at += 2;
        parts.push(pieces(true));
      } else {
        plain += next;
        at += 1;
      }
    }
  }

  function escaped(): string {
    const code = match(/\\u\{[0-9a-fA-F]+\}/y);
    if (code !== null) return String.fromCodePoint(Number.parseInt(code.slice(3, -1), 16));
    const mark = source[at + 1] ?? '';
    const means = escapes[mark];
    if (means === undefined)
      throw new NotBicep(line, `\\${mark} is no escape: ${Object.keys(escapes).join(' ')} and u{…} are`);
    at += 2;
    return means;
  }

  return { tokens: pieces(false), pragmas };
}

/** Its reason is the comment behind it, else the comment on the line before. */
function pragma(text: string, before: string, line: number): Pragma {
  const [words = '', ...comment] = text.split('//');
  const above = /^\s*\/\/(.*)$/.exec(before)?.[1] ?? '';
  const [directive, ...codes] = words.trim().split(/\s+/);
  if (directive !== '#disable-next-line') {
    throw new NotBicep(line, `${directive} is not used here: #disable-next-line CODE // reason`);
  }
  return { line, codes, reason: comment.join('//').trim() || above.trim() };
}
