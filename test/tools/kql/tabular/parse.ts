import { converted } from '../convert.ts';
import type { KindNames, SyntaxNode } from '../language-service.ts';
import { regexOf } from '../regex.ts';
import { frames, over, type Row, type Scope, type Table } from '../scope.ts';
import { listOf, nameOf, parametersOf, part, partIfAny, tableColumns, tokensOf, typeOf } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { nothingOf, type TypeName, type Value } from '../values.ts';

type Target = { readonly name: string; readonly type: TypeName };

type Pattern = {
  readonly regex: RegExp;
  /** Finds the pattern anywhere: whether the service requires the whole text is not verified. */
  readonly loose: RegExp;
  readonly targets: readonly Target[];
  readonly mode: string;
};

/** `parse x with "a=" a:long *`: what does not match leaves its columns empty. */
export const parse = (node: SyntaxNode, input: Table, scope: Scope): Table => parsed(node, input, scope, false);

/** `parse-where`: what does not match is dropped. */
export const parseWhere = (node: SyntaxNode, input: Table, scope: Scope): Table => parsed(node, input, scope, true);

function parsed(node: SyntaxNode, input: Table, scope: Scope, isDropping: boolean): Table {
  const columns = tableColumns(node);
  const expression = part(node, 'Expression');
  if (typeOf(expression) !== 'string') return unsupported('parse of what is no string');
  const text = scope.engine.compile(expression, over(input, scope));
  const pattern = patternOf(node, scope.engine.kinds);
  const places = columns.map((column) => ({
    target: pattern.targets.findLastIndex((target) => target.name === column.name),
    source: input.columns.findIndex((each) => each.name === column.name),
  }));
  if (places.some(({ target, source }) => target < 0 === source < 0))
    return unsupported('parse into columns there are');
  const rows = frames(input.rows).flatMap((frame): Row[] => {
    const found = read(String(text(frame) ?? ''), pattern);
    if (!found && isDropping) return [];
    return [
      places.map(({ target, source }, index) =>
        target < 0 ? (frame.row[source] ?? null) : (found?.[target] ?? nothingOf(columns[index]?.type ?? 'unknown')),
      ),
    ];
  });
  return { columns, rows, serialized: input.serialized };
}

/** The values of the targets, or nothing where the text does not fit. Strictly, one bad value spoils all. */
function read(text: string, { regex, loose, targets, mode }: Pattern): Value[] | undefined {
  const match = regex.exec(text);
  if (mode !== 'regex' && loose.exec(text)?.[0] !== match?.[0]) {
    return unsupported('parse of a text with more before or after its pattern');
  }
  if (!match) return undefined;
  const values = targets.map(({ type }, index) => {
    const found = match[index + 1] ?? '';
    if (type !== 'string' && found.trim() !== found) return unsupported('parse of a value with white space around');
    return converted(found, 'string', type);
  });
  const isBad = values.some((value, index) => value === null && targets[index]?.type !== 'dynamic');
  return isBad && mode !== 'relaxed' ? undefined : values;
}

function patternOf(node: SyntaxNode, kinds: KindNames): Pattern {
  const parameters = parametersOf(node);
  const kind = parameters.get('kind');
  const mode = kind ? tokensOf(kind) : 'simple';
  if (parameters.has('flags')) return unsupported('parse with flags');
  const pieces = listOf(node, 'Patterns');
  const targets: Target[] = [];
  const isRegex = mode === 'regex';
  let source = '';
  pieces.forEach((piece, index) => {
    const form = kinds.syntax(piece);
    if (form === 'StarExpression') {
      source += isRegex ? '(?:.*)' : '(?:[^]*?)';
    } else if (form === 'StringLiteralExpression' || form === 'CompoundStringLiteralExpression') {
      const literal = String(piece.LiteralValue);
      source += isRegex ? regexOf(literal).source : quoted(literal);
    } else {
      const isTyped = partIfAny(piece, 'Type') !== undefined;
      const name = isTyped ? nameOf(part(piece, 'Name')) : nameOf(piece);
      targets.push({ name, type: isTyped ? typeOfTarget(part(piece, 'Type')) : 'string' });
      const type = targets.at(-1)?.type ?? 'string';
      const next = pieces[index + 1];
      const isNumber = mode !== 'relaxed' && /^(int|long)$/.test(type);
      if (isRegex && !isNumber && type !== 'string') unsupported(`parse kind=regex into a ${type}`);
      if (next && !/Literal/.test(kinds.syntax(next)) && !isNumber) unsupported('parse with two columns side by side');
      source += isNumber ? '([+-]?\\d+)' : isRegex ? '([^\\n]*)' : '([^]*?)';
    }
  });
  const end = /Name/.test(kinds.syntax(pieces.at(-1) ?? node)) ? '$' : '';
  return { regex: new RegExp(`^${source}$`, 'u'), loose: new RegExp(`${source}${end}`, 'u'), targets, mode };
}

const quoted = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

const typeOfTarget = (node: SyntaxNode): TypeName => {
  const name = tokensOf(node);
  return { double: 'real', date: 'datetime', time: 'timespan', boolean: 'bool' }[name] ?? name;
};
