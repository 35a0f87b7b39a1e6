import type { Scope } from './scope.ts';
import { any, anyObject, arrayOf, bool, int, membersOf, type Property, type Shape, string, unionOf } from './shape.ts';
import { type Decorator, decorated, type Member, type TypeSyntax } from './syntax.ts';

const plain: Readonly<Record<string, Shape>> = {
  string,
  int,
  bool,
  object: anyObject,
  array: arrayOf(any),
  any,
  secureString: string,
  secureObject: anyObject,
};
export const plainTypes = Object.keys(plain);

/** The shape that a type of Bicep describes; a name that is not known is `any` here, and found by the check of names. */
export function shapeOfType(type: TypeSyntax, scope: Scope, decorators: readonly Decorator[] = []): Shape {
  switch (type.kind) {
    case 'name':
      return limited(plain[type.name] ?? scope.type(type.name) ?? any, decorators);
    case 'literal':
      return type.value === null ? { kind: 'null' } : { kind: 'literal', value: type.value };
    case 'array':
      return limited(
        {
          kind: 'array',
          get of() {
            return shapeOfType(type.of, scope);
          },
        },
        decorators,
      );
    case 'tuple':
      return arrayOf(unionOf(type.of.map((item) => shapeOfType(item, scope))));
    case 'nullable':
      return unionOf([shapeOfType(type.of, scope, decorators), { kind: 'null' }]);
    case 'union': {
      const of = unionOf(type.of.map((member) => shapeOfType(member, scope)));
      const by = decorated(decorators, 'discriminator');
      return typeof by === 'string' ? tagged(of, by) : of;
    }
    case 'member': {
      const of = shapeOfType(type.of, scope);
      if (type.name === '[]') return of.kind === 'array' ? of.of : any;
      return of.kind === 'object' ? (of.properties.get(type.name)?.shape ?? any) : any;
    }
    case 'object':
      return {
        kind: 'object',
        name: 'object',
        properties: new Map(type.members.map((member) => [member.name, propertyOf(member, scope)])),
        rest: type.rest === null ? null : shapeOfType(type.rest, scope),
      };
  }
}

function propertyOf({ type, decorators }: Member, scope: Scope): Property {
  return {
    get shape() {
      return shapeOfType(type, scope, decorators);
    },
    required: type.kind !== 'nullable',
    readOnly: false,
  };
}

function limited(shape: Shape, decorators: readonly Decorator[]): Shape {
  const limit = (name: string): number | undefined => {
    const value = decorated(decorators, name);
    return typeof value === 'number' ? value : undefined;
  };
  if (shape.kind === 'int') return { kind: 'int', min: limit('minValue'), max: limit('maxValue') };
  if (shape.kind === 'string') return { ...shape, minLength: limit('minLength'), maxLength: limit('maxLength') };
  if (shape.kind !== 'array') return shape;
  return {
    kind: 'array',
    get of() {
      return shape.of;
    },
    minLength: limit('minLength'),
    maxLength: limit('maxLength'),
  };
}

function tagged(of: Shape, by: string): Shape {
  const cases = membersOf(of).flatMap((member) => {
    if (member.kind !== 'object') return [];
    return membersOf(member.properties.get(by)?.shape ?? any).flatMap((tag) =>
      tag.kind === 'literal' ? [[String(tag.value), member] as const] : [],
    );
  });
  return { kind: 'tagged', by, cases: new Map(cases) };
}
