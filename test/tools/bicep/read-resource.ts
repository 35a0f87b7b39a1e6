import type { Cursor } from './cursor.ts';
import { readCondition, readGiven, readLoop, readObject, readText } from './read-expression.ts';
import { type Decorator, type Expression, plainText, type Resource } from './syntax.ts';

/** The lines `@name(…)` before a declaration. */
export function readDecorators(cursor: Cursor): Decorator[] {
  const decorators: Decorator[] = [];
  while (cursor.at('@')) {
    const { line } = cursor;
    cursor.expect('@');
    let name = cursor.word('the name of a decorator');
    if (name === 'sys' && cursor.skip('.')) name = cursor.word('the name of a decorator');
    decorators.push({ line, name, given: readGiven(cursor) });
    cursor.newlines();
  }
  return decorators;
}

/** A resource, on top of a file or nested in another. */
export function readResource(cursor: Cursor): Resource {
  const decorators = readDecorators(cursor);
  const { line } = cursor;
  cursor.expect('resource');
  const name = cursor.word('the name of a resource');
  const typeName = readPlain(cursor, 'the type of a resource');
  const existing = cursor.skip('existing');
  cursor.expect('=');
  return { line, kind: 'resource', name, decorators, typeName, existing, body: readBody(cursor) };
}

/** What stands after the `=` of a resource or module. */
export function readBody(cursor: Cursor): Expression {
  if (cursor.at('if')) return readCondition(cursor);
  return cursor.at('[') ? readLoop(cursor) : readObject(cursor);
}

/** A text that may hold no `${…}`. */
export function readPlain(cursor: Cursor, what: string): string {
  if (cursor.peek().kind !== 'text') cursor.fail(what);
  return plainText(readText(cursor)) ?? cursor.fail(`${what} without interpolation`);
}
