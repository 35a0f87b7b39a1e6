import { type Cursor, cursorOver } from './cursor.ts';
import { readResource } from './read-resource.ts';
import type { Entry, Expression, Resource } from './syntax.ts';
import type { Token } from './tokens.ts';

/** Operators that bind equally, loosest first. https://learn.microsoft.com/azure/azure-resource-manager/bicep/operators */
const levels: readonly (readonly string[])[] = [
  ['??'],
  ['||'],
  ['&&'],
  ['==', '!=', '=~', '!~'],
  ['<', '<=', '>', '>='],
  ['+', '-'],
  ['*', '/', '%'],
];

/** A whole expression. The two halves of a choice may stand on lines of their own; an operator may not. */
export function readExpression(cursor: Cursor): Expression {
  const { line } = cursor;
  const when = readOperation(cursor, 0);
  if (!continues(cursor, '?')) return when;
  cursor.newlines();
  const then = readExpression(cursor);
  if (!continues(cursor, ':')) cursor.fail(': of a choice');
  cursor.newlines();
  return { line, kind: 'choice', when, then, else: readExpression(cursor) };
}

function continues(cursor: Cursor, sign: string): boolean {
  let ahead = 0;
  while (cursor.peek(ahead).kind === 'newline') ahead += 1;
  if (!cursor.at(sign, ahead)) return false;
  cursor.newlines();
  return cursor.skip(sign);
}

function readOperation(cursor: Cursor, level: number): Expression {
  const operators = levels[level];
  if (operators === undefined) return readUnary(cursor);
  let left = readOperation(cursor, level + 1);
  for (;;) {
    const { line } = cursor;
    const operator = operators.find((sign) => cursor.at(sign));
    if (operator === undefined) return left;
    cursor.next();
    left = { line, kind: 'operation', operator, operands: [left, readOperation(cursor, level + 1)] };
  }
}

function readUnary(cursor: Cursor): Expression {
  const { line } = cursor;
  const operator = ['!', '-'].find((sign) => cursor.at(sign));
  if (operator === undefined) return readMembers(cursor, readPrimary(cursor));
  cursor.next();
  const operand = readUnary(cursor);
  if (operator === '-' && operand.kind === 'number') return { line, kind: 'number', value: -operand.value };
  return { line, kind: 'operation', operator, operands: [operand] };
}

function readMembers(cursor: Cursor, of: Expression): Expression {
  const { line } = cursor;
  for (const by of accesses) {
    if (!cursor.skip(by)) continue;
    const name = cursor.word('the name of a property');
    if (by === '.' && cursor.at('(')) {
      return readMembers(cursor, { line, kind: 'call', on: of, name, given: readGiven(cursor) });
    }
    return readMembers(cursor, { line, kind: 'member', of, name, by });
  }
  if (cursor.skip('[')) {
    const safe = cursor.skip('?');
    const at = readExpression(cursor);
    cursor.expect(']');
    return readMembers(cursor, { line, kind: 'index', of, at, safe });
  }
  if (cursor.skip('!')) return readMembers(cursor, { line, kind: 'sure', of });
  return of;
}
const accesses = ['.', '.?', '::'] as const;

function readPrimary(cursor: Cursor): Expression {
  const token = cursor.peek();
  const { line } = token;
  if (token.kind === 'text') return readText(cursor);
  if (token.kind === 'number') return { line, kind: 'number', value: Number(cursor.next().is) };
  if (cursor.at('{')) return readObject(cursor);
  if (cursor.at('[')) return isLoop(cursor) ? readLoop(cursor) : readList(cursor);
  if (cursor.at('(')) return isLambda(cursor) ? readLambda(cursor) : readParenthesized(cursor);
  if (token.kind !== 'word') return cursor.fail('an expression');
  if (cursor.at('=>', 1)) return readLambda(cursor);
  const name = cursor.next().is;
  if (name === 'true' || name === 'false') return { line, kind: 'boolean', value: name === 'true' };
  if (name === 'null') return { line, kind: 'null' };
  if (cursor.at('(')) return { line, kind: 'call', on: null, name, given: readGiven(cursor) };
  return { line, kind: 'name', name };
}

/** A text, each `${…}` of it read to its end. */
export function readText(cursor: Cursor): Expression {
  const token = cursor.next();
  if (token.kind !== 'text') return cursor.fail('a text');
  return {
    line: token.line,
    kind: 'text',
    parts: token.parts.map((part) => (typeof part === 'string' ? part : whole(part))),
  };
}

function whole(tokens: readonly Token[]): Expression {
  const cursor = cursorOver(tokens);
  const expression = readExpression(cursor);
  if (cursor.peek().kind !== 'end') cursor.fail('}');
  return expression;
}

function readParenthesized(cursor: Cursor): Expression {
  cursor.expect('(');
  cursor.newlines();
  const expression = readExpression(cursor);
  cursor.newlines();
  cursor.expect(')');
  return expression;
}

/** `(a, b) =>` looks like parentheses until its arrow. */
function isLambda(cursor: Cursor): boolean {
  let ahead = 1;
  while (cursor.peek(ahead).kind === 'word' || cursor.at(',', ahead)) ahead += 1;
  return cursor.at(')', ahead) && cursor.at('=>', ahead + 1);
}

function readLambda(cursor: Cursor): Expression {
  const { line } = cursor;
  const names = readNames(cursor);
  cursor.expect('=>');
  cursor.newlines();
  return { line, kind: 'lambda', names, body: readExpression(cursor) };
}

/** `x` or `(x, y)`. */
function readNames(cursor: Cursor): string[] {
  if (!cursor.skip('(')) return [cursor.word('a name')];
  const names: string[] = [];
  while (!cursor.at(')')) {
    names.push(cursor.word('a name'));
    if (!cursor.skip(',')) break;
  }
  cursor.expect(')');
  return names;
}

/** What a call is given: `(a, b)`. */
export function readGiven(cursor: Cursor): Expression[] {
  const given: Expression[] = [];
  cursor.expect('(');
  cursor.newlines();
  while (!cursor.at(')')) {
    given.push(readExpression(cursor));
    cursor.newlines();
    if (!cursor.skip(',')) break;
    cursor.newlines();
  }
  cursor.expect(')');
  return given;
}

/** Goes over what parts two items of an object or list: a comma, a line break, or both. */
function readBreak(cursor: Cursor, close: string): void {
  const comma = cursor.skip(',');
  if (!cursor.newlines() && !comma && !cursor.at(close)) cursor.fail(`a new line, a comma or ${close}`);
}

function readList(cursor: Cursor): Expression {
  const { line } = cursor;
  const items: Expression[] = [];
  cursor.expect('[');
  cursor.newlines();
  while (!cursor.at(']')) {
    items.push(readExpression(cursor));
    readBreak(cursor, ']');
  }
  cursor.expect(']');
  return { line, kind: 'list', items };
}

/** `{ key: value }`, with the resources nested in it. */
export function readObject(cursor: Cursor): Expression {
  const { line } = cursor;
  const entries: Entry[] = [];
  const nested: Resource[] = [];
  cursor.expect('{');
  cursor.newlines();
  while (!cursor.at('}')) {
    if (cursor.at('@') || (cursor.at('resource') && !cursor.at(':', 1))) nested.push(readResource(cursor));
    else entries.push(readEntry(cursor));
    readBreak(cursor, '}');
  }
  cursor.expect('}');
  return { line, kind: 'object', entries, nested };
}

function readEntry(cursor: Cursor): Entry {
  const { line } = cursor;
  const computed = cursor.peek().kind === 'text' ? readText(cursor) : null;
  const plain = computed?.kind === 'text' && computed.parts.length === 1 ? computed.parts[0] : null;
  const key = computed === null ? cursor.word('the name of a property') : typeof plain === 'string' ? plain : null;
  cursor.expect(':');
  cursor.newlines();
  return { line, key, computed: key === null ? computed : null, value: readExpression(cursor) };
}

function isLoop(cursor: Cursor): boolean {
  let ahead = 1;
  while (cursor.peek(ahead).kind === 'newline') ahead += 1;
  return cursor.at('for', ahead);
}

/** `[for name in over: body]`; the body of a resource's loop may have a condition. */
export function readLoop(cursor: Cursor): Expression {
  const { line } = cursor;
  cursor.expect('[');
  cursor.newlines();
  cursor.expect('for');
  const names = readNames(cursor);
  cursor.expect('in');
  const over = readExpression(cursor);
  cursor.expect(':');
  cursor.newlines();
  const body = cursor.at('if') ? readCondition(cursor) : readExpression(cursor);
  cursor.newlines();
  cursor.expect(']');
  return { line, kind: 'loop', names, over, body };
}

/** `if (when) { … }` */
export function readCondition(cursor: Cursor): Expression {
  const { line } = cursor;
  cursor.expect('if');
  const when = readParenthesized(cursor);
  return { line, kind: 'condition', when, body: readObject(cursor) };
}
