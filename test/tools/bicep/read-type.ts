import type { Cursor } from './cursor.ts';
import { readText } from './read-expression.ts';
import { readDecorators } from './read-resource.ts';
import { type Member, plainText, type TypeSyntax } from './syntax.ts';

/** A type: `string`, `'a' | 'b'`, `{ … }`, `fooType[]?`. The members of a union may stand on lines of their own. */
export function readType(cursor: Cursor): TypeSyntax {
  const { line } = cursor;
  if (nextMember(cursor)) cursor.newlines();
  const of = [readPostfix(cursor)];
  while (nextMember(cursor)) of.push(readPostfix(cursor));
  return of.length === 1 && of[0] !== undefined ? of[0] : { line, kind: 'union', of };
}

function nextMember(cursor: Cursor): boolean {
  const ahead = cursor.peek().kind === 'newline' ? 1 : 0;
  if (!cursor.at('|', ahead)) return false;
  cursor.newlines();
  return cursor.skip('|');
}

function readPostfix(cursor: Cursor): TypeSyntax {
  let type = readPrimary(cursor);
  for (;;) {
    const { line } = cursor;
    if (cursor.skip('?')) type = { line, kind: 'nullable', of: type };
    else if (cursor.skip('.')) type = { line, kind: 'member', of: type, name: cursor.word('the name of a member') };
    else if (cursor.skip('[')) {
      if (cursor.skip('*')) type = { line, kind: 'member', of: type, name: '[]' };
      else type = { line, kind: 'array', of: type };
      cursor.expect(']');
    } else return type;
  }
}

function readPrimary(cursor: Cursor): TypeSyntax {
  const token = cursor.peek();
  const { line } = token;
  if (token.kind === 'text') {
    const value = plainText(readText(cursor)) ?? cursor.fail('a literal without interpolation');
    return { line, kind: 'literal', value };
  }
  const negative = cursor.skip('-');
  if (cursor.peek().kind === 'number') {
    return { line, kind: 'literal', value: Number(cursor.next().is) * (negative ? -1 : 1) };
  }
  if (cursor.skip('(')) {
    cursor.newlines();
    const type = readType(cursor);
    cursor.newlines();
    cursor.expect(')');
    return type;
  }
  if (cursor.at('{')) return readObjectType(cursor);
  if (cursor.at('[')) return readTuple(cursor);
  const name = cursor.word('a type');
  if (name === 'null') return { line, kind: 'literal', value: null };
  if (name === 'true' || name === 'false') return { line, kind: 'literal', value: name === 'true' };
  return { line, kind: 'name', name };
}

function readTuple(cursor: Cursor): TypeSyntax {
  const { line } = cursor;
  const of: TypeSyntax[] = [];
  cursor.expect('[');
  cursor.newlines();
  while (!cursor.at(']')) {
    of.push(readType(cursor));
    cursor.skip(',');
    cursor.newlines();
  }
  cursor.expect(']');
  return { line, kind: 'tuple', of };
}

function readObjectType(cursor: Cursor): TypeSyntax {
  const { line } = cursor;
  const members: Member[] = [];
  let rest: TypeSyntax | null = null;
  cursor.expect('{');
  cursor.newlines();
  while (!cursor.at('}')) {
    const decorators = readDecorators(cursor);
    const place = cursor.line;
    const name = cursor.skip('*') ? '*' : readMemberName(cursor);
    cursor.expect(':');
    const type = readType(cursor);
    if (name === '*') rest = type;
    else members.push({ line: place, name, type, decorators });
    const comma = cursor.skip(',');
    if (!cursor.newlines() && !comma && !cursor.at('}')) cursor.fail('a new line, a comma or }');
  }
  cursor.expect('}');
  return { line, kind: 'object', members, rest };
}

function readMemberName(cursor: Cursor): string {
  if (cursor.peek().kind !== 'text') return cursor.word('the name of a property');
  return plainText(readText(cursor)) ?? cursor.fail('a name without interpolation');
}
