import { knownBody } from './known-resources.ts';
import type { Scope } from './scope.ts';
import type { Shape } from './shape.ts';
import type { Expression, Resource } from './syntax.ts';

/** `Type@version` in its two parts; the version is empty where none is written. */
export function typeAndVersion(typeName: string): { type: string; version: string } {
  const [type = '', version = ''] = typeName.split('@');
  return { type, version };
}

/** The body of a resource: by Azure's description, else by the project's own table; null when neither knows it. */
export function shapeOfResource({ typeName }: Resource, { project }: Scope): Shape | null {
  const { type, version } = typeAndVersion(typeName);
  return project.azure?.body(type, version) ?? knownBody(type, version);
}

/** The object that a body comes down to, past its loop and condition. */
export function objectOf(body: Expression): Extract<Expression, { kind: 'object' }> | null {
  if (body.kind === 'loop' || body.kind === 'condition') return objectOf(body.body);
  return body.kind === 'object' ? body : null;
}
