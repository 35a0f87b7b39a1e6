import { type Evaluation, evaluateFile } from './evaluate.ts';
import { type Project, resolvePath } from './project.ts';
import { objectOf, typeAndVersion } from './resource-shape.ts';
import { type BicepFile, declared, type Expression, type Resource } from './syntax.ts';

/** A resource as it would be sent to Azure. Values that only Azure knows are in «». */
export interface Deployed {
  /** Where it is declared: `file:line`. */
  readonly at: string;
  readonly type: string;
  readonly version: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The body of the resource that it is nested in; null for others. */
  readonly parentBody: Readonly<Record<string, unknown>> | null;
  /** What `id` of it comes to where other resources name it. */
  readonly id: string;
  readonly resource: Resource;
}

/** What a parameter file would deploy: every resource of every module, existing ones left out. */
export function deployedBy(project: Project, parameterFile: string): Deployed[] {
  const file = project.file(parameterFile);
  const using = file === null ? undefined : declared(file, 'using')[0];
  if (file === null || using === undefined) throw new Error(`${parameterFile} is no parameter file`);
  const own = evaluateFile(project, parameterFile, {});
  const given = Object.fromEntries(declared(file, 'assignment').map(({ name }) => [name, own.value(name)]));
  return deployedFrom(project, resolvePath(file, using.path), given);
}

function deployedFrom(project: Project, path: string, given: Readonly<Record<string, unknown>>): Deployed[] {
  const file = project.file(path);
  if (file === null) throw new Error(`there is no file ${path}`);
  const evaluation = evaluateFile(project, path, given);
  return [
    ...declaredIn(file, evaluation),
    ...declared(file, 'module').flatMap((module) =>
      evaluation.bodies(module.name).flatMap((body) => {
        const params = (body.params ?? {}) as Readonly<Record<string, unknown>>;
        return deployedFrom(project, resolvePath(file, module.path), withoutNulls(params));
      }),
    ),
  ];
}

/** The resources that a file declares itself, those nested in others included. */
export const declaredIn = (file: BicepFile, evaluation: Evaluation): Deployed[] =>
  declared(file, 'resource').flatMap((resource) => bodiesOf(resource, file, evaluation, null));

/** A parameter that is given null has its default. */
const withoutNulls = (params: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null));

function bodiesOf(
  resource: Resource,
  file: BicepFile,
  evaluation: Evaluation,
  above: { readonly name: string; readonly body: Deployed['body'] | null } | null,
): Deployed[] {
  const { type, version } = typeAndVersion(resource.typeName);
  const bodies = evaluation.bodiesOf(resource.body);
  // A nested resource exists when its parent does.
  const nested = bodies.length === 0 ? [] : (objectOf(resource.body)?.nested ?? []);
  const inside = nested.flatMap((inner) => {
    const own = typeAndVersion(inner.typeName);
    const typeName = `${type}/${own.type}@${own.version || version}`;
    return bodiesOf({ ...inner, typeName }, file, evaluation, { name: resource.name, body: bodies[0] ?? null });
  });
  if (resource.existing) return inside;
  const parent = above === null ? {} : { parent: `«${above.name}»` };
  return [
    ...bodies.map((body, n) => ({
      at: `${file.path}:${resource.line}`,
      type,
      version,
      body: { ...body, ...parent },
      parentBody: above?.body ?? null,
      id: `«${resource.name}.${resource.body.kind === 'loop' ? `${n}.` : ''}id»`,
      resource,
    })),
    ...inside,
  ];
}

/** A value as it would be written in Bicep; what only Azure knows is a name, which may be any value. */
export function expressionOf(value: unknown, line = 1): Expression {
  if (value === null || value === undefined) return { line, kind: 'null' };
  if (typeof value === 'boolean') return { line, kind: 'boolean', value };
  if (typeof value === 'number') return { line, kind: 'number', value };
  if (typeof value === 'string') {
    return value.includes('«') ? { line, kind: 'name', name: value } : { line, kind: 'text', parts: [value] };
  }
  if (Array.isArray(value)) return { line, kind: 'list', items: value.map((item) => expressionOf(item, line)) };
  const entries = Object.entries(value as object).map(([key, item]) => ({
    line,
    key,
    computed: null,
    value: expressionOf(item, line),
  }));
  return { line, kind: 'object', entries, nested: [] };
}
