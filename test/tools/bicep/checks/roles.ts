import { type Check, type Finding, finding } from '../finding.ts';
import { resolvePath } from '../project.ts';
import { objectOf, typeAndVersion } from '../resource-shape.ts';
import { roles as known, type Role } from '../roles.ts';
import type { Scope } from '../scope.ts';
import { declared, type Expression, plainText, type Resource } from '../syntax.ts';
import { walk, walkFile } from '../walk.ts';

const definitions = 'Microsoft.Authorization/roleDefinitions';
const assignments = 'Microsoft.Authorization/roleAssignments';

/** Only known roles, under their own names; assignments with a stable name, a kind of principal and a narrow scope. */
export const roles: Check = ({ file, scope }) => {
  const found: Finding[] = [];
  walkFile(file, scope, (expression) => found.push(...idsIn(expression, scope)));
  for (const resource of declared(file, 'resource')) {
    const { type } = typeAndVersion(resource.typeName);
    if (type === definitions && resource.existing) found.push(...named(entry(resource, 'name'), resource.name));
    if (type === assignments) found.push(...assignment(resource), ...tooWide(resource, scope));
  }
  return [...found, ...declared(file, 'var').flatMap(({ name, value }) => named(value, name))];
};

const roleOf = (id: string): Role | null => known.find((role) => role.id === id.toLowerCase()) ?? null;
const isGuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
const squeezed = (name: string): string => name.toLowerCase().replaceAll(' ', '');

function entry(resource: Resource, key: string): Expression | null {
  return objectOf(resource.body)?.entries.find((one) => one.key === key)?.value ?? null;
}

/** What is called after a role, or holds the id of one, is that role: `eventHubsDataSender`, `readerRoleId`. */
function named(value: Expression | null, name: string): Finding[] {
  if (value?.kind === 'object') return value.entries.flatMap((one) => named(one.value, one.key ?? ''));
  const id = plainText(value);
  if (value === null || id === null || !isGuid(id)) return [];
  const role = roleOf(id);
  const word = squeezed(name).replace(/(role)?(definition)?(id)?$/, '');
  const isCalledRole = /role/i.test(name) || known.some((one) => squeezed(one.name).endsWith(word));
  if (role === null) return isCalledRole ? [stranger(id, value.line)] : [];
  if (squeezed(role.name).endsWith(word)) return [];
  return [finding(value.line, 'role', `${name} is the id of the role ${role.name}`)];
}

const stranger = (id: string, line: number): Finding =>
  finding(line, 'role', `${id} is not in the table of roles (test/tools/bicep/roles.ts)`);

/** Ids that are written as those of roles: in a path, as a value for `subscriptionResourceId()`, in a file that is loaded. */
function idsIn(expression: Expression, { file, project }: Scope): Finding[] {
  const inPaths = (text: string | null): string[] =>
    [...(text ?? '').matchAll(/roleDefinitions\/([0-9a-f-]{36})/gi)].map(([, id = '']) => id);
  const unknownRoles = (ids: readonly string[]): Finding[] =>
    ids.filter((id) => isGuid(id) && roleOf(id) === null).map((id) => stranger(id, expression.line));
  if (expression.kind === 'text') return unknownRoles(inPaths(plainText(expression)));
  if (expression.kind !== 'call') return [];
  const given = expression.given.map((value) => plainText(value) ?? '');
  if (given.some((text) => text.toLowerCase() === definitions.toLowerCase())) return unknownRoles(given);
  if (!expression.name.startsWith('load')) return [];
  return unknownRoles(inPaths(project.text(resolvePath(file, given[0] ?? ''))));
}

function assignment(resource: Resource): Finding[] {
  const { line, name } = resource;
  const properties = entry(resource, 'properties');
  const stable = entry(resource, 'name');
  const isStable = stable?.kind === 'call' && stable.name === 'guid' && stable.given.length >= 3;
  const isKnown = properties?.kind === 'object' && properties.entries.some(({ key }) => key === 'principalType');
  const unstable = `${name}: its name is guid(scope, principal, role)`;
  const unknown = `${name}: principalType is missing: a new principal would not be found`;
  return [
    ...(isStable ? [] : [finding(line, 'use-stable-resource-identifiers', unstable)]),
    ...(isKnown ? [] : [finding(line, 'BCP035', unknown)]),
  ];
}

/** The role is given on a type of resource that the table allows for it. */
function tooWide(resource: Resource, scope: Scope): Finding[] {
  const properties = entry(resource, 'properties');
  const id = properties?.kind === 'object' ? properties.entries.find(({ key }) => key === 'roleDefinitionId') : null;
  const role = id === null || id === undefined ? null : roleIn(id.value, scope);
  const on = entry(resource, 'scope');
  const type = on === null ? 'wider' : scopeType(on, scope);
  if (role === null || type === null || role.on.includes(type)) return [];
  const place = on === null ? `a ${declared(scope.file, 'targetScope')[0]?.scope ?? 'resourceGroup'}` : type;
  const what = `${resource.name}: ${role.name} is given on ${place}, and may be on ${role.on.join(' or ')}`;
  return [finding(resource.line, 'least-privilege', what)];
}

/** The role that an id comes from: a constant, or an existing definition, also through variables. */
function roleIn(id: Expression, scope: Scope): Role | null {
  let role: Role | null = null;
  walk(id, scope, (part) => {
    const statement = part.kind === 'name' ? scope.declaration(part.name) : null;
    if (statement?.kind === 'var') role ??= roleIn(statement.value, scope);
    const text = statement?.kind === 'resource' ? plainText(entry(statement, 'name')) : plainText(part);
    if (text !== null) role ??= roleOf(text);
  });
  return role;
}

/** The type of the resource that a scope names, in lower case; null where that is not to be seen. */
function scopeType(on: Expression, scope: Scope): string | null {
  if (on.kind === 'index') return scopeType(on.of, scope);
  if (on.kind === 'call') return 'wider';
  const isNested = on.kind === 'member' && on.by === '::';
  const outer = isNested ? on.of : on;
  const statement = outer.kind === 'name' ? scope.declaration(outer.name) : null;
  if (statement?.kind !== 'resource') return null;
  const { type } = typeAndVersion(statement.typeName);
  if (!isNested) return type.toLowerCase();
  const child = objectOf(statement.body)?.nested.find(({ name }) => name === on.name);
  return child === undefined ? null : `${type}/${typeAndVersion(child.typeName).type}`.toLowerCase();
}
