import { resolvePath } from './project.ts';
import { objectOf } from './resource-shape.ts';
import type { Scope } from './scope.ts';
import type { BicepFile, Expression, Module, Resource } from './syntax.ts';
import { walk, walkFile } from './walk.ts';

/** Where a value has to be known before the deployment begins, and what Bicep calls it when it is not. */
export interface StartPosition {
  readonly value: Expression;
  readonly scope: Scope;
  readonly code: 'BCP120' | 'BCP177' | 'BCP178';
  /** In words: `the name of hub`. */
  readonly of: string;
}

/** What is known of a resource or module before it is deployed. */
const knownBefore: ReadonlySet<string> = new Set(['id', 'name', 'type', 'apiVersion']);

/** What says which resource it is, and where. */
const identifiers: ReadonlySet<string> = new Set(['name', 'scope', 'parent']);

/** Names, scopes, conditions and loops of a file. */
export function startPositions(file: BicepFile, scope: Scope): StartPosition[] {
  const found: StartPosition[] = [];
  const visitDeclaration = ({ name, body }: Resource | Module, inner: Scope): void => {
    if (body.kind === 'condition')
      found.push({ value: body.when, scope: inner, code: 'BCP177', of: `the condition of ${name}` });
    for (const { key, value } of objectOf(body)?.entries ?? []) {
      if (key !== null && identifiers.has(key))
        found.push({ value, scope: inner, code: 'BCP120', of: `the ${key} of ${name}` });
    }
    for (const nested of objectOf(body)?.nested ?? []) visitDeclaration(nested, inner);
  };
  for (const statement of file.statements) {
    if (statement.kind === 'resource' || statement.kind === 'module') visitDeclaration(statement, scope);
  }
  walkFile(file, scope, (expression, inner) => {
    if (expression.kind === 'loop')
      found.push({ value: expression.over, scope: inner, code: 'BCP178', of: 'what is looped over' });
    if (expression.kind === 'loop' && expression.body.kind === 'condition') {
      found.push({ value: expression.body.when, scope: inner, code: 'BCP177', of: 'the condition of a loop' });
    }
  });
  return found;
}

/** The symbol that `a`, `a[0]`, `a!` and `a::b` come down to. */
function symbolOf(expression: Expression): string | null {
  if (expression.kind === 'name') return expression.name;
  if (expression.kind === 'index' || expression.kind === 'sure') return symbolOf(expression.of);
  return expression.kind === 'member' && expression.by === '::' ? symbolOf(expression.of) : null;
}

/** The part of an expression that only the deployment knows, as text; null without one. */
export function onlyDeploymentKnows(
  expression: Expression,
  scope: Scope,
  above: readonly string[] = [],
): string | null {
  let found: string | null = null;
  walk(expression, scope, (part, inner) => {
    found ??= runtimePart(part, inner, above);
  });
  return found;
}

function runtimePart(part: Expression, scope: Scope, above: readonly string[]): string | null {
  if (part.kind === 'name') {
    const statement = scope.declaration(part.name);
    if (statement?.kind !== 'var' || above.includes(part.name)) return null;
    return onlyDeploymentKnows(statement.value, scope, [...above, part.name]);
  }
  if (part.kind === 'call')
    return part.on === null && /^(reference|list[A-Z]\w*)$/.test(part.name) ? `${part.name}()` : null;
  if (part.kind !== 'member' || part.by === '::') return null;
  const symbol = symbolOf(part.of);
  const statement = symbol === null ? null : scope.declaration(symbol);
  if (statement?.kind !== 'resource' && statement?.kind !== 'module') return null;
  return knownBefore.has(part.name) ? null : `${symbol}.${part.name}`;
}

/** The parameters of a file that say which resources there are: they name them, or decide whether and how often. */
export function identifyingParameters(scope: Scope, above: readonly string[] = []): ReadonlySet<string> {
  const { file, project } = scope;
  const names = new Set<string>();
  const collect = (expression: Expression, inner: Scope, seen: readonly string[]): void =>
    walk(expression, inner, (part, local) => {
      const statement = part.kind === 'name' ? local.declaration(part.name) : null;
      if (statement?.kind === 'param') names.add(statement.name);
      if (statement?.kind === 'var' && !seen.includes(statement.name)) {
        collect(statement.value, scope, [...seen, statement.name]);
      }
    });
  for (const { value, scope: inner } of startPositions(file, scope)) collect(value, inner, []);
  if (above.includes(file.path)) return names;
  for (const module of file.statements) {
    if (module.kind !== 'module') continue;
    const of = project.scope(resolvePath(file, module.path));
    if (of === null) continue;
    const theirs = identifyingParameters(of, [...above, file.path]);
    for (const { key, value } of parametersGiven(module)) {
      if (key !== null && theirs.has(key)) collect(value, scope, []);
    }
  }
  return names;
}

export function parametersGiven({ body }: Module) {
  const params = objectOf(body)?.entries.find(({ key }) => key === 'params')?.value;
  return params?.kind === 'object' ? params.entries : [];
}
