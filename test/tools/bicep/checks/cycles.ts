import { type Check, finding } from '../finding.ts';
import { objectOf } from '../resource-shape.ts';
import type { Scope } from '../scope.ts';
import type { BicepFile, Expression, Resource } from '../syntax.ts';
import { expressionsOf, walk } from '../walk.ts';

/** A declaration, and the names that it uses. */
interface Uses {
  readonly name: string;
  readonly line: number;
  readonly names: readonly string[];
}

/** Nothing depends on itself, not even indirectly: https://learn.microsoft.com/azure/azure-resource-manager/bicep/bicep-core-diagnostics#BCP080 */
export const cycles: Check = ({ file, scope }) => {
  const uses = usesIn(file, scope);
  const byName = new Map(uses.map((one) => [one.name, one]));
  /** The way from a name back to `goal`; null when there is none. */
  const pathTo = (from: string, goal: string, seen: Set<string>): readonly string[] | null => {
    for (const next of byName.get(from)?.names ?? []) {
      if (next === goal) return [from, goal];
      if (seen.has(next)) continue;
      const path = pathTo(next, goal, seen.add(next));
      if (path !== null) return [from, ...path];
    }
    return null;
  };
  const reported = new Set<string>();
  return uses.flatMap(({ name, line }) => {
    const path = reported.has(name) ? null : pathTo(name, name, new Set());
    for (const one of path ?? []) reported.add(one);
    return path === null ? [] : [finding(line, 'BCP080', `a cycle: ${path.join(' needs ')}`)];
  });
};

function usesIn(file: BicepFile, scope: Scope): readonly Uses[] {
  return file.statements.flatMap((statement): readonly Uses[] => {
    if (statement.kind === 'resource') return ofResource(statement, null, scope);
    if (statement.kind !== 'module' && statement.kind !== 'var' && statement.kind !== 'param') return [];
    return [{ ...statement, names: expressionsOf(statement).flatMap((one) => namesIn(one, scope)) }];
  });
}

/** A nested resource needs the one around it, which does not need what is nested. */
function ofResource(resource: Resource, around: string | null, scope: Scope): readonly Uses[] {
  const name = around === null ? resource.name : `${around}::${resource.name}`;
  const nested = objectOf(resource.body)?.nested ?? [];
  const names = namesIn(withoutNested(resource.body), scope);
  return [
    { name, line: resource.line, names: around === null ? names : [...names, around] },
    ...nested.flatMap((inner) => ofResource(inner, name, scope)),
  ];
}

function withoutNested(body: Expression): Expression {
  if (body.kind === 'loop' || body.kind === 'condition') return { ...body, body: withoutNested(body.body) };
  return body.kind === 'object' ? { ...body, nested: [] } : body;
}

function namesIn(expression: Expression, scope: Scope): readonly string[] {
  const names: string[] = [];
  walk(expression, scope, (part, inner) => {
    if (part.kind === 'name' && inner.declaration(part.name) !== null) names.push(part.name);
    if (part.kind === 'member' && part.by === '::' && part.of.kind === 'name')
      names.push(`${part.of.name}::${part.name}`);
  });
  return names;
}
