import { type Check, type Finding, finding } from '../finding.ts';
import { mismatches } from '../fits.ts';
import { localsOfLoop } from '../infer.ts';
import { knownResource } from '../known-resources.ts';
import { objectOf, shapeOfResource, typeAndVersion } from '../resource-shape.ts';
import type { Scope } from '../scope.ts';
import { any, hint, type Property, type Shape } from '../shape.ts';
import { declared, type Expression, type Resource } from '../syntax.ts';

/** Types and versions that exist and are ours; properties that exist, are given where required, and fit. */
export const resources: Check = ({ file, scope }) =>
  declared(file, 'resource').flatMap((resource) => checkResource(resource, scope, null));

/** @param parent `Type@version` of the resource that it is nested in */
function checkResource(resource: Resource, scope: Scope, parent: string | null): Finding[] {
  const { line, name, body } = resource;
  const typeName = parent === null ? resource.typeName : nestedIn(parent, resource.typeName);
  const { type, version } = typeAndVersion(typeName);
  const object = objectOf(body);
  if (object === null) return [finding(line, 'BCP018', `${name} has no body`)];

  const nested = object.nested.flatMap((child) => checkResource(child, scope, typeName));
  const shape = shapeOfResource({ ...resource, typeName }, scope);
  if (shape === null) return [finding(line, 'BCP081', unknown(type, version, scope)), ...nested];
  const own = { ...object, entries: object.entries.filter(({ key }) => key === null || !bicepOwn.has(key)) };
  const inner = body.kind === 'loop' ? scope.with(localsOfLoop(body, scope)) : scope;
  return [
    ...versionOf(type, version, line),
    ...mismatches(own, resource.existing ? ofExisting(shape) : shape, '', inner),
    ...(parent === null ? parentOf(type, line, object, scope) : []),
    ...nested,
  ];
}

/** What Bicep itself reads of a body; Azure never sees it. */
const bicepOwn: ReadonlySet<string> = new Set(['parent', 'scope', 'dependsOn']);

/** A nested resource has a type below its parent's, at the same version unless it names another. */
function nestedIn(parent: string, typeName: string): string {
  const [above, own] = [typeAndVersion(parent), typeAndVersion(typeName)];
  return `${above.type}/${own.type}@${own.version || above.version}`;
}

/** Of an existing resource only its name is given. */
function ofExisting(shape: Shape): Shape {
  const known = shape.kind === 'object' ? shape.properties.get('name') : undefined;
  const name: Property = known ?? { shape: any, required: true, readOnly: false };
  return { kind: 'object', name: 'an existing resource', properties: new Map([['name', name]]), rest: null };
}

function unknown(type: string, version: string, { project: { azure } }: Scope): string {
  if (azure === null) return `${type}@${version} is not in the table of known resources`;
  const versions = azure.versions(type);
  const ours = knownResource(type)?.versions.join(' or ');
  const instead = ours === undefined ? `add ${type} to known-resources.ts` : `${ours} is used here`;
  if (versions.length === 0) return `there is no type ${type}${hint(type, azure.typeNames)}`;
  if (versions.includes(version)) return `${type} at ${version} is not described; ${instead}`;
  return `${type} has no version ${version}; ${instead}`;
}

function versionOf(type: string, version: string, line: number): Finding[] {
  const ours = knownResource(type)?.versions;
  if (ours?.includes(version)) return [];
  const what =
    ours === undefined ? 'is not in known-resources.ts: add it' : `is used at ${ours.join(' or ')}, not at ${version}`;
  return [finding(line, 'use-recent-api-versions', `${type} ${what}`)];
}

/** A child names its parent; the parent has the type before the last part. */
function parentOf(
  type: string,
  line: number,
  { entries }: Extract<Expression, { kind: 'object' }>,
  scope: Scope,
): Finding[] {
  const above = type.split('/').slice(0, -1).join('/');
  const parent = entries.find(({ key }) => key === 'parent');
  if (!above.includes('/')) return parent === undefined ? [] : [finding(line, 'BCP036', `${type} has no parent`)];
  const wanted = `a resource of type ${above}`;
  if (parent === undefined) return [finding(line, 'use-parent-property', `${type} needs parent: ${wanted}`)];
  const name = nameOf(parent.value);
  const statement = name === null ? null : scope.declaration(name);
  if (statement === null) return [];
  const is = statement.kind === 'resource' ? typeAndVersion(statement.typeName).type : statement.kind;
  if (is.toLowerCase() === above.toLowerCase()) return [];
  return [finding(parent.line, 'BCP036', `parent: ${wanted} is wanted, ${name} is ${is}`)];
}

/** The name that stands before `[index]`. */
function nameOf(expression: Expression): string | null {
  if (expression.kind === 'name') return expression.name;
  return expression.kind === 'index' ? nameOf(expression.of) : null;
}
