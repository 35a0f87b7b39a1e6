import { type Check, type Finding, finding } from '../finding.ts';
import { mismatches } from '../fits.ts';
import { localsOfLoop } from '../infer.ts';
import { resolvePath } from '../project.ts';
import { objectOf } from '../resource-shape.ts';
import type { Scope } from '../scope.ts';
import { hint, type ObjectShape, unionOf } from '../shape.ts';
import { type BicepFile, declared, type Expression, type Module, type Parameter } from '../syntax.ts';
import { shapeOfType } from '../type-shape.ts';

/** Modules and parameter files give a file the parameters that it has, all that it requires, and values that fit. */
export const modules: Check = ({ file, scope }) => [
  ...declared(file, 'module').flatMap((module) => checkModule(module, scope)),
  ...(file.path.endsWith('.bicepparam') ? checkParameterFile(scope) : []),
];

const isOptional = ({ value, type }: Parameter): boolean => value !== null || type.kind === 'nullable';

/** The parameters of a file as the properties of one object. One with a default may be given null. */
function shapeOfParameters(of: Scope): ObjectShape {
  const properties = declared(of.file, 'param').map((parameter) => {
    const shape = shapeOfType(parameter.type, of, parameter.decorators);
    const taken = isOptional(parameter) ? unionOf([shape, { kind: 'null' }]) : shape;
    return [parameter.name, { shape: taken, required: !isOptional(parameter), readOnly: false }] as const;
  });
  return { kind: 'object', name: of.file.path, properties: new Map(properties), rest: null };
}

function checkModule(module: Module, scope: Scope): Finding[] {
  const { line, name, path, body } = module;
  const of = scope.project.scope(resolvePath(scope.file, path));
  const object = objectOf(body);
  if (of === null) return [finding(line, 'BCP091', `there is no module ${path}`)];
  if (object === null) return [finding(line, 'BCP018', `${name} has no body`)];
  if (leadsTo(of.file, scope.file.path, scope)) return [finding(line, 'BCP278', `${path} deploys itself`)];
  // What cannot be read is found there.
  if (of.file.errors.length > 0) return [];
  const inner = body.kind === 'loop' ? scope.with(localsOfLoop(body, scope)) : scope;
  const nothing: Expression = { line, kind: 'object', entries: [], nested: [] };
  const params = object.entries.find(({ key }) => key === 'params')?.value ?? nothing;
  return [
    ...object.entries.flatMap((entry) => unknownEntry(entry.key, entry.line)),
    ...mismatches(params, shapeOfParameters(of), '', inner).map((one) => ({
      ...one,
      what: `${name} (${path}): ${one.what}`,
    })),
    ...targets(module, scope.file, of.file),
  ];
}

/** Whether a file is the one at a path, or deploys it through modules. */
function leadsTo(from: BicepFile, path: string, scope: Scope, above: readonly string[] = []): boolean {
  if (from.path === path) return true;
  if (above.includes(from.path)) return false;
  return declared(from, 'module').some((module) => {
    const next = scope.project.file(resolvePath(from, module.path));
    return next !== null && leadsTo(next, path, scope, [...above, from.path]);
  });
}

function unknownEntry(key: string | null, line: number): Finding[] {
  if (key === null || ['params', 'scope', 'dependsOn'].includes(key)) return [];
  return [finding(line, 'BCP037', key === 'name' ? 'modules are called without name' : `a module has no ${key}`)];
}

/** A module for another scope than ours says which. */
function targets({ name, line, body }: Module, ours: BicepFile, theirs: BicepFile): Finding[] {
  const [own, other] = [ours, theirs].map((file) => declared(file, 'targetScope')[0]?.scope ?? 'resourceGroup');
  if (own === other || objectOf(body)?.entries.some(({ key }) => key === 'scope')) return [];
  return [finding(line, 'BCP134', `${name} is for a ${other}, this file for a ${own}: say its scope`)];
}

function checkParameterFile(scope: Scope): Finding[] {
  const { file, project } = scope;
  const [using, more] = declared(file, 'using');
  if (using === undefined) return [finding(1, 'BCP261', `using 'file.bicep' is missing`)];
  if (more !== undefined) return [finding(more.line, 'BCP258', 'using occurs twice')];
  const of = project.scope(resolvePath(file, using.path));
  if (of === null) return [finding(using.line, 'BCP091', `there is no file ${using.path}`)];
  const { properties } = shapeOfParameters(of);
  const assigned = declared(file, 'assignment');
  const lacking = [...properties].filter(
    ([name, { required }]) => required && assigned.every((assignment) => assignment.name !== name),
  );
  return [
    ...lacking.map(([name]) => finding(using.line, 'BCP258', `${name} is required by ${using.path} and missing`)),
    ...assigned.flatMap(({ line, name, value }) => {
      const property = properties.get(name);
      if (property !== undefined) return mismatches(value, property.shape, name, scope);
      return [finding(line, 'BCP259', `${using.path} has no parameter ${name}${hint(name, properties.keys())}`)];
    }),
  ];
}
