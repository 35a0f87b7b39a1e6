import { type Cursor, cursorOver } from './cursor.ts';
import { readExpression } from './read-expression.ts';
import { readBody, readDecorators, readPlain, readResource } from './read-resource.ts';
import { readType } from './read-type.ts';
import type { BicepFile, Decorator, Import, Pragma, Statement } from './syntax.ts';
import { NotBicep, tokenize } from './tokens.ts';

/** Reads a `.bicep` or `.bicepparam` file. The first text that is not Bicep ends it and is reported in `errors`. */
export function readFile(path: string, source: string): BicepFile {
  const statements: Statement[] = [];
  let pragmas: readonly Pragma[] = [];
  try {
    const cut = tokenize(source);
    pragmas = cut.pragmas;
    const cursor = cursorOver(cut.tokens);
    cursor.newlines();
    while (cursor.peek().kind !== 'end') {
      statements.push(readStatement(cursor, path.endsWith('.bicepparam')));
      if (cursor.peek().kind !== 'end' && !cursor.newlines()) cursor.fail('the end of the line');
    }
    return { path, statements, pragmas, errors: [] };
  } catch (error) {
    if (!(error instanceof NotBicep)) throw error;
    return { path, statements, pragmas, errors: [{ line: error.line, what: error.message }] };
  }
}

function readStatement(cursor: Cursor, assigns: boolean): Statement {
  const decorators = readDecorators(cursor);
  const { line } = cursor;
  if (cursor.at('resource')) return { ...readResource(cursor), decorators };
  const keyword = cursor.word('a declaration');
  if (keyword === 'param' && assigns) {
    const name = cursor.word('the name of a parameter');
    cursor.expect('=');
    return { line, kind: 'assignment', name, decorators, value: readExpression(cursor) };
  }
  const read = declarations[keyword];
  if (read === undefined) throw new NotBicep(line, `a declaration expected, found ${keyword}`);
  return read(cursor, line, decorators);
}

const declarations: Readonly<Record<string, (cursor: Cursor, line: number, decorators: Decorator[]) => Statement>> = {
  targetScope(cursor, line) {
    cursor.expect('=');
    return { line, kind: 'targetScope', scope: readPlain(cursor, 'a scope') };
  },
  metadata: (cursor, line, decorators) => ({ line, kind: 'metadata', decorators, ...readAssigned(cursor) }),
  var: (cursor, line, decorators) => ({ line, kind: 'var', decorators, ...readAssigned(cursor) }),
  using: (cursor, line) => ({ line, kind: 'using', path: readPlain(cursor, 'the path of a file') }),
  import: (cursor, line) => readImport(cursor, line),
  param(cursor, line, decorators) {
    const name = cursor.word('the name of a parameter');
    const type = readType(cursor);
    const value = cursor.skip('=') ? readExpression(cursor) : null;
    return { line, kind: 'param', name, decorators, type, value };
  },
  type(cursor, line, decorators) {
    const name = cursor.word('the name of a type');
    cursor.expect('=');
    return { line, kind: 'type', name, decorators, type: readType(cursor) };
  },
  output(cursor, line, decorators) {
    const name = cursor.word('the name of an output');
    const type = readType(cursor);
    cursor.expect('=');
    return { line, kind: 'output', name, decorators, type, value: readExpression(cursor) };
  },
  module(cursor, line, decorators) {
    const name = cursor.word('the name of a module');
    const path = readPlain(cursor, 'the path of a module');
    cursor.expect('=');
    return { line, kind: 'module', name, decorators, path, body: readBody(cursor) };
  },
  func(cursor, line, decorators) {
    const name = cursor.word('the name of a function');
    const takes = [];
    cursor.expect('(');
    cursor.newlines();
    while (!cursor.at(')')) {
      takes.push({ name: cursor.word('the name of a parameter'), type: readType(cursor) });
      cursor.newlines();
      if (!cursor.skip(',')) break;
      cursor.newlines();
    }
    cursor.expect(')');
    const gives = readType(cursor);
    cursor.expect('=>');
    cursor.newlines();
    return { line, kind: 'func', name, decorators, takes, gives, body: readExpression(cursor) };
  },
};

function readAssigned(cursor: Cursor) {
  const name = cursor.word('a name');
  cursor.expect('=');
  return { name, value: readExpression(cursor) };
}

function readImport(cursor: Cursor, line: number): Import {
  const names: { name: string; alias: string }[] = [];
  if (cursor.skip('*')) {
    cursor.expect('as');
    names.push({ name: '*', alias: cursor.word('a name') });
  } else {
    cursor.expect('{');
    while (!cursor.at('}')) {
      const name = cursor.word('the name of a type, variable or function');
      names.push({ name, alias: cursor.skip('as') ? cursor.word('a name') : name });
      if (!cursor.skip(',')) break;
    }
    cursor.expect('}');
  }
  cursor.expect('from');
  return { line, kind: 'import', names, path: readPlain(cursor, 'the path of a file') };
}
