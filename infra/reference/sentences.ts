/** Finds the sentences that the program can say, in its own source: what is said is written there and nowhere else. */

/** Text by path. */
export type SourceText = ReadonlyMap<string, string>;

/** A call in the source, its arguments as they are written. */
export interface Call {
  readonly path: string;
  readonly name: string;
  readonly args: readonly string[];
}

/** Every call `<name>(…)` whose name matches, which is to capture what to call it by. */
export function callsOf(sources: SourceText, pattern: RegExp): Call[] {
  const global = new RegExp(`${pattern.source}\\(`, 'g');
  return [...sources].flatMap(([path, text]) =>
    [...text.matchAll(global)].map((match) => ({
      path,
      name: match[1] ?? match[0],
      args: argumentsFrom(text, match.index + match[0].length),
    })),
  );
}

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '`': '`', "'": "'", '"': '"' };

/** The arguments of the call whose bracket was opened just before `start`. */
function argumentsFrom(text: string, start: number): string[] {
  const args: string[] = [];
  let from = start;
  let at = start;
  for (; at < text.length && text[at] !== ')'; at = endOf(text, at)) {
    if (text[at] !== ',') continue;
    args.push(text.slice(from, at).trim());
    from = at + 1;
  }
  args.push(text.slice(from, at).trim());
  return args.filter((arg) => arg !== '');
}

/** The index behind the character, the quotation or the bracket that begins at `at`. */
function endOf(text: string, at: number): number {
  if (text.startsWith('//', at)) return text.indexOf('\n', at) + 1 || text.length;
  const opening = text[at] ?? '';
  const close = closing[opening];
  if (close === undefined) return at + 1;
  const isQuote = opening === close;
  let index = at + 1;
  while (index < text.length && text[index] !== close) {
    if (text[index] === '\\') index += 2;
    else if (opening === '`' && text.startsWith('${', index)) index = endOf(text, index + 1);
    else index = isQuote ? index + 1 : endOf(text, index);
  }
  return index + 1;
}

/** What an argument says: its text, with the names of what is filled in between ‹ and ›. */
export function sentenceOf(argument: string): string {
  const [quote = ''] = argument;
  const isText = (quote === "'" || quote === '`') && endOf(argument, 0) === argument.length;
  if (!isText) return `‹${nameOf(argument)}›`;
  return withoutHoles(argument.slice(1, -1)).replace(/\\(.)/g, '$1').replace(/\s+/g, ' ').trim();
}

function withoutHoles(text: string): string {
  const start = text.indexOf('${');
  if (start < 0) return text;
  const end = endOf(text, start + 1);
  return `${text.slice(0, start)}‹${nameOf(text.slice(start + 2, end - 1))}›${withoutHoles(text.slice(end))}`;
}

/** Says nothing about what is filled in. */
const empty = ['Math', 'round', 'JSON', 'stringify', 'String', 'Object', 'length', 'join', 'name', 'error'];

/** The name by which a reader understands an expression best: of what it is made of, else of what makes it. */
function nameOf(expression: string): string {
  const code = (expression.split('?')[0] ?? '').replace(/'[^']*'|`[^`]*`|"[^"]*"/g, '');
  const made = /^\w+(?=\()/.exec(code)?.[0];
  const names = (code.match(/\b[A-Za-z_]\w*\b(?!\()/g) ?? []).filter((name) => !empty.includes(name));
  const best = (made !== undefined && /^(describe|no)/.test(made) ? made : names.at(-1)) ?? made ?? 'value';
  return best.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}
