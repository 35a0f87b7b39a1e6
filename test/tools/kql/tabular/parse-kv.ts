import { converted } from '../convert.ts';
import type { SyntaxNode } from '../language-service.ts';
import { frames, over, type Row, type Scope, type Table } from '../scope.ts';
import { elements, nameOf, part, partIfAny, tableColumns, typeOf } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { nothingOf } from '../values.ts';

/** `parse-kv s as (a:long) with (pair_delimiter=';', kv_delimiter='=')`, both delimiters given, nothing quoted. */
export function parseKv(node: SyntaxNode, input: Table, scope: Scope): Table {
  const columns = tableColumns(node);
  const expression = part(node, 'Expression');
  if (typeOf(expression) !== 'string') return unsupported('parse-kv of what is no string');
  const text = scope.engine.compile(expression, over(input, scope));
  const { pair, keyValue } = delimitersOf(node);
  const names = new Set(elements(part(part(node, 'Keys'), 'Columns')).map((each) => nameOf(part(each, 'Name'))));
  const rows = frames(input.rows).map((frame): Row => {
    const values = pairsOf(String(text(frame) ?? ''), pair, keyValue);
    return columns.map((column) => {
      const source = input.columns.findIndex((each) => each.name === column.name);
      if (!names.has(column.name)) return frame.row[source] ?? null;
      const value = values.get(column.name);
      return value === undefined ? nothingOf(column.type) : converted(value, 'string', column.type);
    });
  });
  return { columns, rows, serialized: input.serialized };
}

/** The first value of each key; an empty key, or a key not wanted, does no harm. */
function pairsOf(text: string, pair: string, keyValue: string): Map<string, string> {
  const pairs = new Map<string, string>();
  if (/^\s+$/.test(pair) && text.split(pair).includes(''))
    return unsupported('parse-kv of pairs apart by several spaces');
  for (const each of text.split(pair)) {
    const at = each.indexOf(keyValue);
    const key = each.slice(0, at).trim();
    if (at > 0 && !pairs.has(key)) pairs.set(key, each.slice(at + keyValue.length).trim());
  }
  return pairs;
}

function delimitersOf(node: SyntaxNode): { pair: string; keyValue: string } {
  const clause = partIfAny(node, 'WithClause');
  const properties = elements(clause && part(clause, 'Properties'));
  const values = new Map(properties.map((each) => [nameOf(part(each, 'Name')), part(each, 'Expression').LiteralValue]));
  const [pair, keyValue] = [values.get('pair_delimiter'), values.get('kv_delimiter')];
  const isPlain = typeof pair === 'string' && typeof keyValue === 'string' && values.size === 2;
  return isPlain ? { pair, keyValue } : unsupported('parse-kv with more or less than its two delimiters');
}
