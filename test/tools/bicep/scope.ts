import { infer } from './infer.ts';
import { type Project, resolvePath } from './project.ts';
import { shapeOfResource } from './resource-shape.ts';
import { any, anyObject, arrayOf, type ObjectShape, type Property, type Shape, string } from './shape.ts';
import { type BicepFile, declared, type Module, type Statement } from './syntax.ts';
import { shapeOfType } from './type-shape.ts';

/** The names that an expression may use, and what each is. */
export interface Scope {
  readonly file: BicepFile;
  readonly project: Project;
  /** What a name refers to; null when it is not declared. */
  value(name: string): Shape | null;
  type(name: string): Shape | null;
  func(name: string): { readonly takes: readonly Shape[]; readonly gives: Shape } | null;
  /** The declaration of a name in this file; null for names of loops and undeclared ones. */
  declaration(name: string): Statement | null;
  /** Every name there is, for hints. */
  names(): readonly string[];
  /** The same with the names of a loop or lambda. */
  with(locals: ReadonlyMap<string, Shape>): Scope;
}

const named = (file: BicepFile) => file.statements.filter((statement) => 'name' in statement);

export function createScope(file: BicepFile, project: Project): Scope {
  const values = new Map<string, Shape>();
  const types = new Map<string, Shape>();
  const statements = new Map<string, Statement>();
  for (const statement of named(file)) {
    if (statement.kind !== 'output' && statement.kind !== 'metadata') statements.set(statement.name, statement);
  }
  for (const { name } of declared(file, 'assignment')) statements.delete(name);

  /** The file and name behind an imported name. */
  const imported = (name: string): { from: Scope; name: string } | null => {
    for (const { path, names } of declared(file, 'import')) {
      const found = names.find(({ alias }) => alias === name);
      const from = found === undefined ? null : project.scope(resolvePath(file, path));
      if (found !== undefined && from !== null) return { from, name: found.name };
    }
    return null;
  };

  const once = (made: Map<string, Shape>, name: string, make: () => Shape | null): Shape | null => {
    const known = made.get(name);
    if (known !== undefined) return known;
    // What is defined by itself is `any` while it is being resolved.
    made.set(name, any);
    const shape = make();
    if (shape === null) made.delete(name);
    else made.set(name, shape);
    return shape;
  };

  const scope: Scope = {
    file,
    project,
    declaration: (name) => statements.get(name) ?? null,
    names: () => [
      ...statements.keys(),
      ...declared(file, 'import').flatMap(({ names }) => names.map(({ alias }) => alias)),
    ],
    value: (name) =>
      once(values, name, () => {
        const statement = statements.get(name);
        if (statement === undefined) {
          const source = imported(name);
          if (source === null) return null;
          return source.name === '*' ? any : source.from.value(source.name);
        }
        switch (statement.kind) {
          case 'param':
            return shapeOfType(statement.type, scope, statement.decorators);
          case 'var':
            return infer(statement.value, scope);
          case 'resource':
            return repeated(statement.body.kind, shapeOfResource(statement, scope) ?? any);
          case 'module':
            return repeated(statement.body.kind, shapeOfModule(statement, scope));
          default:
            return null;
        }
      }),
    type: (name) =>
      once(types, name, () => {
        const statement = statements.get(name);
        if (statement?.kind === 'type') {
          const shape = shapeOfType(statement.type, scope, statement.decorators);
          return shape.kind === 'object' ? { ...shape, name } : shape;
        }
        const source = imported(name);
        if (source === null) return null;
        return source.name === '*' ? namespaceOf(source.from) : source.from.type(source.name);
      }),
    func(name) {
      const statement = statements.get(name);
      if (statement?.kind === 'func') {
        const takes = statement.takes.map(({ type }) => shapeOfType(type, scope));
        return { takes, gives: shapeOfType(statement.gives, scope) };
      }
      const source = imported(name);
      return source?.from.func(source.name) ?? null;
    },
    with: (locals) => inner(scope, locals),
  };
  return scope;
}

function inner(outer: Scope, locals: ReadonlyMap<string, Shape>): Scope {
  const scope: Scope = {
    ...outer,
    value: (name) => locals.get(name) ?? outer.value(name),
    declaration: (name) => (locals.has(name) ? null : outer.declaration(name)),
    names: () => [...locals.keys(), ...outer.names()],
    with: (more) => inner(scope, more),
  };
  return scope;
}

const repeated = (body: string, shape: Shape): Shape => (body === 'loop' ? arrayOf(shape) : shape);

const property = (get: () => Shape): Property => ({
  get shape() {
    return get();
  },
  required: true,
  readOnly: false,
});

/** What `import * as name` brings: its types, by name. */
function namespaceOf(from: Scope): ObjectShape {
  const types = declared(from.file, 'type').map(({ name }) => [name, property(() => from.type(name) ?? any)] as const);
  return { kind: 'object', name: from.file.path, properties: new Map(types), rest: null };
}

/** What can be read of a module: its outputs. */
function shapeOfModule({ path }: Module, { file, project }: Scope): Shape {
  const of = project.scope(resolvePath(file, path));
  if (of === null || of.file.errors.length > 0) return anyObject;
  const outputs: ObjectShape = {
    kind: 'object',
    name: `the outputs of ${of.file.path}`,
    properties: new Map(
      declared(of.file, 'output').map(({ name, type }) => [name, property(() => shapeOfType(type, of))]),
    ),
    rest: null,
  };
  const name = property(() => string);
  const properties = new Map([
    ['name', name],
    ['outputs', property(() => outputs)],
  ]);
  return { kind: 'object', name: 'a module', properties, rest: null };
}
