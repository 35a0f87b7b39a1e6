import { type Check, type Finding, finding } from '../finding.ts';
import { knownResource, type ScopeName, scopeBits } from '../known-resources.ts';
import { objectOf, typeAndVersion } from '../resource-shape.ts';
import type { Scope } from '../scope.ts';
import { declared, type Expression, type Resource } from '../syntax.ts';
import { walk } from '../walk.ts';
import { scopedTo, targetOf } from './services.ts';

/** Each resource has a type that its scope allows, and each iteration of a loop makes another one. */
export const instances: Check = ({ file, scope }) =>
  declared(file, 'resource').flatMap((resource) => [...sameName(resource, scope), ...wrongScope(resource, scope)]);

const entriesOf = ({ body }: Resource) => objectOf(body)?.entries ?? [];

/** https://learn.microsoft.com/azure/azure-resource-manager/bicep/bicep-core-diagnostics#BCP179 */
function sameName(resource: Resource, scope: Scope): Finding[] {
  const { body, name, line } = resource;
  if (body.kind !== 'loop') return [];
  const differs = entriesOf(resource).some(
    ({ key, value }) => ['name', 'parent', 'scope'].includes(key ?? '') && uses(value, body.names, scope),
  );
  return differs
    ? []
    : [finding(line, 'BCP179', `each ${name} has the same name: ${body.names.join(' or ')} is in none of them`)];
}

function uses(expression: Expression, names: readonly string[], scope: Scope): boolean {
  let found = false;
  walk(expression, scope, (part) => {
    found ||= part.kind === 'name' && names.includes(part.name);
  });
  return found;
}

/** https://learn.microsoft.com/azure/azure-resource-manager/bicep/diagnostics/bcp135 */
function wrongScope(resource: Resource, scope: Scope): Finding[] {
  const { line, name, existing, typeName } = resource;
  const { type } = typeAndVersion(typeName);
  const known = knownResource(type);
  const on = scopeOf(resource, scope);
  // What exists is only read, and a child is where its parent is.
  if (existing || known === null || on === null || type.split('/').length > 2) return [];
  const { scopes = ['resourceGroup'] } = known;
  if (scopes.includes(on)) return [];
  return [
    finding(line, 'BCP135', `${name} is deployed to a scope of kind ${on}, and ${type} only to ${scopes.join(' or ')}`),
  ];
}

function scopeOf(resource: Resource, scope: Scope): ScopeName | null {
  const given = entriesOf(resource).find(({ key }) => key === 'scope')?.value;
  if (given === undefined) return named(targetOf(scope.file));
  if (given.kind === 'call') return named(given.name);
  const type = scopedTo(resource, scope);
  if (type === 'microsoft.resources/resourcegroups') return 'resourceGroup';
  return type === null ? null : 'extension';
}

const named = (name: string): ScopeName | null => (name in scopeBits ? (name as ScopeName) : null);
