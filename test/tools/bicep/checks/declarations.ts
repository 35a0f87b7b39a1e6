import { type Check, type Finding, finding } from '../finding.ts';
import { objectOf } from '../resource-shape.ts';
import type { Scope } from '../scope.ts';
import { membersOf, type Shape, withoutNull } from '../shape.ts';
import { type Decorator, declared, type Parameter, type Resource, type Statement } from '../syntax.ts';
import { shapeOfType } from '../type-shape.ts';
import { walk } from '../walk.ts';
import { targetOf } from './services.ts';

/** Which decorators may stand on what, and on which types: https://learn.microsoft.com/azure/azure-resource-manager/bicep/bicep-core-diagnostics#BCP124 */
const onTypes: Readonly<Record<string, readonly Shape['kind'][]>> = {
  minLength: ['string', 'array'],
  maxLength: ['string', 'array'],
  minValue: ['int'],
  maxValue: ['int'],
  secure: ['string', 'object'],
  sealed: ['object'],
  discriminator: ['tagged', 'union'],
};
const onStatements: Readonly<Record<string, readonly Statement['kind'][]>> = {
  ...Object.fromEntries(Object.keys(onTypes).map((name) => [name, ['param', 'output', 'type'] as const])),
  allowed: ['param'],
  export: ['type', 'func', 'var'],
  batchSize: ['resource', 'module'],
  onlyIfNotExists: ['resource'],
};

/** Decorators where they belong, defaults of parameters, and the names and scopes of children. */
export const declarations: Check = ({ file, scope }) => [
  ...file.statements.flatMap((statement) => ('decorators' in statement ? decorators(statement, scope) : [])),
  ...declared(file, 'param').flatMap((parameter) => defaultOf(parameter, scope)),
  ...declared(file, 'resource').flatMap((resource) => [
    ...child(resource, false),
    ...foreign(resource, targetOf(file)),
  ]),
];

type Decorated = Extract<Statement, { decorators: readonly Decorator[] }>;

function decorators(statement: Decorated, scope: Scope): Finding[] {
  const used = statement.decorators;
  return used.flatMap(({ name, line }, n): Finding[] => {
    if (used.findIndex((other) => other.name === name) < n) return [finding(line, 'BCP166', `@${name}() occurs twice`)];
    const places = onStatements[name];
    if (places !== undefined && !places.includes(statement.kind)) {
      return [finding(line, 'BCP130', `@${name}() stands on ${places.join(' or ')}, this is a ${statement.kind}`)];
    }
    if (name === 'batchSize' && 'body' in statement && statement.body.kind !== 'loop') {
      return [finding(line, 'BCP155', `@batchSize() stands on a loop, ${statement.name} is none`)];
    }
    const types = onTypes[name];
    if (types === undefined || !('type' in statement)) return [];
    const kinds = membersOf(withoutNull(shapeOfType(statement.type, scope))).map(kindOf);
    if (kinds.every((kind) => kind === 'any' || types.includes(kind))) return [];
    return [
      finding(line, 'BCP124', `@${name}() is for ${types.join(' or ')}, ${statement.name} is ${kinds.join(' or ')}`),
    ];
  });
}

function kindOf(shape: Shape): Shape['kind'] {
  if (shape.kind !== 'literal') return shape.kind;
  return ({ string: 'string', number: 'int', boolean: 'bool' } as const)[
    typeof shape.value as 'string' | 'number' | 'boolean'
  ];
}

function defaultOf({ name, value }: Parameter, scope: Scope): Finding[] {
  const found: Finding[] = [];
  if (value === null) return found;
  walk(value, scope, (part, inner) => {
    const used = part.kind === 'name' ? inner.declaration(part.name) : null;
    if (part.kind !== 'name' || used === null || used.kind === 'param') return;
    found.push(
      finding(
        part.line,
        'BCP072',
        `the default of ${name} reads the ${used.kind} ${part.name}: only parameters can be read`,
      ),
    );
  });
  return found;
}

/** A child is where its parent is, and is called without it. */
function child(resource: Resource, isNested: boolean): Finding[] {
  const { typeName, name, body } = resource;
  const entries = objectOf(body)?.entries ?? [];
  const entry = (key: string) => entries.find((one) => one.key === key);
  const [own, parent, scope] = [entry('name'), entry('parent'), entry('scope')];
  const parts = own?.value.kind === 'text' ? own.value.parts : [];
  const slashes = parts.join('').split('/').length - 1;
  const inside = objectOf(body)?.nested.flatMap((nested) => child(nested, true)) ?? [];
  const hasParent = isNested || parent !== undefined;
  const wanted = hasParent ? 0 : (typeName.split('@')[0] ?? '').split('/').length - 2;
  const isText = own?.value.kind === 'text';
  return [
    ...(hasParent && scope !== undefined
      ? [finding(scope.line, 'BCP164', `${name} is where its parent is: it has no scope of its own`)]
      : []),
    ...(isText && own !== undefined && slashes > wanted
      ? [
          finding(
            own.line,
            hasParent ? 'BCP170' : 'BCP169',
            `the name of ${name} has ${slashes} slashes, not ${wanted}`,
          ),
        ]
      : []),
    ...inside,
  ];
}

/** A file deploys to one scope; into others by modules. https://learn.microsoft.com/azure/azure-resource-manager/bicep/diagnostics/bcp139 */
function foreign({ existing, name, body }: Resource, target: string): Finding[] {
  const scope = objectOf(body)?.entries.find(({ key }) => key === 'scope');
  if (existing || scope?.value.kind !== 'call') return [];
  const { name: kind, given } = scope.value;
  if (kind === 'tenant' || (kind === target && given.length === 0)) return [];
  return [finding(scope.line, 'BCP139', `${name} is not in the ${target} of this file: deploy it by a module`)];
}
