/** A file of Bicep as it was written: nothing is looked up, nothing is judged. Lines count from 1. */
export interface Placed {
  readonly line: number;
}

export type Expression = Placed &
  (
    | { readonly kind: 'text'; readonly parts: readonly (string | Expression)[] }
    | { readonly kind: 'number'; readonly value: number }
    | { readonly kind: 'boolean'; readonly value: boolean }
    | { readonly kind: 'null' }
    | { readonly kind: 'object'; readonly entries: readonly Entry[]; readonly nested: readonly Resource[] }
    | { readonly kind: 'list'; readonly items: readonly Expression[] }
    | { readonly kind: 'name'; readonly name: string }
    /** `of.name`, `of.?name`, and `of::name` for a nested resource. */
    | { readonly kind: 'member'; readonly of: Expression; readonly name: string; readonly by: '.' | '.?' | '::' }
    | { readonly kind: 'index'; readonly of: Expression; readonly at: Expression; readonly safe: boolean }
    /** `name(…)`, or `on.name(…)` where `on` is a namespace or a resource. */
    | {
        readonly kind: 'call';
        readonly on: Expression | null;
        readonly name: string;
        readonly given: readonly Expression[];
      }
    | { readonly kind: 'lambda'; readonly names: readonly string[]; readonly body: Expression }
    | { readonly kind: 'choice'; readonly when: Expression; readonly then: Expression; readonly else: Expression }
    | { readonly kind: 'operation'; readonly operator: string; readonly operands: readonly Expression[] }
    /** `[for name in over: body]`; the second name counts. */
    | {
        readonly kind: 'loop';
        readonly names: readonly string[];
        readonly over: Expression;
        readonly body: Expression;
      }
    /** `if (when) body`: the body of a resource or module that may not be there. */
    | { readonly kind: 'condition'; readonly when: Expression; readonly body: Expression }
    /** `of!`: surely not null. */
    | { readonly kind: 'sure'; readonly of: Expression }
  );

/** One line of an object. `key` is null where the name is computed: then `computed` says how. */
export interface Entry extends Placed {
  readonly key: string | null;
  readonly computed: Expression | null;
  readonly value: Expression;
}

export type TypeSyntax = Placed &
  (
    | { readonly kind: 'name'; readonly name: string }
    | { readonly kind: 'member'; readonly of: TypeSyntax; readonly name: string }
    | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
    | { readonly kind: 'array'; readonly of: TypeSyntax }
    | { readonly kind: 'tuple'; readonly of: readonly TypeSyntax[] }
    | { readonly kind: 'nullable'; readonly of: TypeSyntax }
    | { readonly kind: 'union'; readonly of: readonly TypeSyntax[] }
    | { readonly kind: 'object'; readonly members: readonly Member[]; readonly rest: TypeSyntax | null }
  );

/** A property of an object type. */
export interface Member extends Placed {
  readonly name: string;
  readonly type: TypeSyntax;
  readonly decorators: readonly Decorator[];
}

export interface Decorator extends Placed {
  readonly name: string;
  readonly given: readonly Expression[];
}

interface Declared extends Placed {
  readonly name: string;
  readonly decorators: readonly Decorator[];
}

export interface Parameter extends Declared {
  readonly kind: 'param';
  readonly type: TypeSyntax;
  readonly value: Expression | null;
}
export interface Variable extends Declared {
  readonly kind: 'var';
  readonly value: Expression;
}
export interface Metadata extends Declared {
  readonly kind: 'metadata';
  readonly value: Expression;
}
export interface TypeDeclaration extends Declared {
  readonly kind: 'type';
  readonly type: TypeSyntax;
}
export interface FunctionDeclaration extends Declared {
  readonly kind: 'func';
  readonly takes: readonly { readonly name: string; readonly type: TypeSyntax }[];
  readonly gives: TypeSyntax;
  readonly body: Expression;
}
/** `typeName` is `Type@version`; of a nested resource only its last part. */
export interface Resource extends Declared {
  readonly kind: 'resource';
  readonly typeName: string;
  readonly existing: boolean;
  readonly body: Expression;
}
export interface Module extends Declared {
  readonly kind: 'module';
  readonly path: string;
  readonly body: Expression;
}
export interface Output extends Declared {
  readonly kind: 'output';
  readonly type: TypeSyntax;
  readonly value: Expression;
}
/** `import { name as alias } from 'path'`; `import * as alias` has the name `*`. */
export interface Import extends Placed {
  readonly kind: 'import';
  readonly path: string;
  readonly names: readonly { readonly name: string; readonly alias: string }[];
}
export interface TargetScope extends Placed {
  readonly kind: 'targetScope';
  readonly scope: string;
}
export interface Using extends Placed {
  readonly kind: 'using';
  readonly path: string;
}
/** `param name = value` of a parameter file. */
export interface Assignment extends Declared {
  readonly kind: 'assignment';
  readonly value: Expression;
}

export type Statement =
  | Parameter
  | Variable
  | Metadata
  | TypeDeclaration
  | FunctionDeclaration
  | Resource
  | Module
  | Output
  | Import
  | TargetScope
  | Using
  | Assignment;

/** `#disable-next-line CODE …`, with what its comment says why. */
export interface Pragma extends Placed {
  readonly codes: readonly string[];
  readonly reason: string;
}

export interface BicepFile {
  /** Relative to the root of the repository, with `/`. */
  readonly path: string;
  readonly statements: readonly Statement[];
  readonly pragmas: readonly Pragma[];
  /** What could not be read; the statements before it stand. */
  readonly errors: readonly { readonly line: number; readonly what: string }[];
}

/** The statements of one kind, in the order of the file. */
export const declared = <K extends Statement['kind']>(file: BicepFile, kind: K): Extract<Statement, { kind: K }>[] =>
  file.statements.filter((statement): statement is Extract<Statement, { kind: K }> => statement.kind === kind);

/** The value of a decorator's first argument when it is plain: `@description('…')`, `@minLength(3)`. */
export function decorated(decorators: readonly Decorator[], name: string): string | number | boolean | null {
  const first = decorators.find((decorator) => decorator.name === name)?.given[0];
  if (first?.kind === 'number' || first?.kind === 'boolean') return first.value;
  return first === undefined ? null : plainText(first);
}

/** A text without interpolation; null for everything else. */
export function plainText(expression: Expression | null | undefined): string | null {
  if (expression?.kind !== 'text') return null;
  return expression.parts.every((part) => typeof part === 'string') ? expression.parts.join('') : null;
}

/** The types that a type is made of. */
export function typesIn(type: TypeSyntax): readonly TypeSyntax[] {
  switch (type.kind) {
    case 'member':
    case 'array':
    case 'nullable':
      return [type.of];
    case 'union':
    case 'tuple':
      return type.of;
    case 'object':
      return [...type.members.map((member) => member.type), ...(type.rest === null ? [] : [type.rest])];
    default:
      return [];
  }
}
