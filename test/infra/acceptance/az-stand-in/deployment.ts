import { guidOf } from '../../../../src/azure-simulator/guid-of.ts';
import { type AzureValues, type Evaluation, evaluateFile } from '../../../tools/bicep/evaluate.ts';
import { type Project, resolvePath } from '../../../tools/bicep/project.ts';
import { objectOf, typeAndVersion } from '../../../tools/bicep/resource-shape.ts';
import { type BicepFile, declared, type Expression, type Resource } from '../../../tools/bicep/syntax.ts';
import { type AzureResource, createdFrom, subscriptionId, subscriptionScope, tenantId } from './kinds.ts';

/** What a deployment of a Bicep file creates, in the order of the files, and its outputs. */
export interface Deployment {
  readonly resources: readonly AzureResource[];
  readonly outputs: Readonly<Record<string, unknown>>;
  /** Modules at the scope of the template: each is a deployment of its own there. */
  readonly nested: readonly string[];
}

export interface DeploymentRequest {
  /** Relative to the root of the repository. */
  readonly file: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Resource id of the subscription or resource group. */
  readonly scope: string;
  readonly location: string;
}

/** A resource group or subscription, as functions of Bicep return it. */
interface Scope {
  readonly id: string;
  readonly location: string;
}

/** @param existing a resource that exists already, by its id; null without one */
export function deploymentOf(
  project: Project,
  { file, parameters, scope, location }: DeploymentRequest,
  existing: (id: string) => AzureResource | null,
): Deployment {
  const top: Scope = { id: scope, location };
  const azure = valuesIn(top, existing);
  const evaluation = evaluateFile(project, file, parameters, 'strict', azure);
  const outputs = declared(fileOf(project, file), 'output').map(({ name }) => [name, evaluation.output(name)]);
  return {
    resources: resourcesOf(project, file, evaluation, top, existing),
    outputs: Object.fromEntries(outputs),
    nested: declared(fileOf(project, file), 'module').flatMap((module) =>
      evaluation.bodies(module.name).some(({ scope: given }) => scopeOf(given) === undefined) ? [module.name] : [],
    ),
  };
}

type Existing = (id: string) => AzureResource | null;

function resourcesOf(
  project: Project,
  path: string,
  evaluation: Evaluation,
  scope: Scope,
  existing: Existing,
): AzureResource[] {
  const file = fileOf(project, path);
  const own = declared(file, 'resource').flatMap((resource) => createdBy(resource, evaluation, scope, existing));
  const ofModules = declared(file, 'module').flatMap((module) =>
    evaluation.bodies(module.name).flatMap(({ params, scope: given }) => {
      const inside = scopeOf(given) ?? scope;
      const from = resolvePath(file, module.path);
      const values = Object.fromEntries(Object.entries(params ?? {}).filter(([, value]) => value !== null));
      const within = evaluateFile(project, from, values, 'strict', valuesIn(inside, existing));
      return resourcesOf(project, from, within, inside, existing);
    }),
  );
  return [...own, ...ofModules];
}

/** A resource of a file and those nested in it; `existing` ones are not created. */
function createdBy(
  resource: Resource,
  evaluation: Evaluation,
  scope: Scope,
  existing: Existing,
  parent: AzureResource | null = null,
): AzureResource[] {
  return instancesOf(resource, evaluation, scope, existing, parent).flatMap((instance) => [
    ...(resource.existing ? [] : [instance]),
    ...nestedIn(resource).flatMap((inner) => createdBy(inner, evaluation, scope, existing, instance)),
  ]);
}

const nestedIn = (resource: Resource): readonly Resource[] => {
  const outer = typeAndVersion(resource.typeName);
  return (objectOf(resource.body)?.nested ?? []).map((inner) => {
    const { type, version } = typeAndVersion(inner.typeName);
    return { ...inner, typeName: `${outer.type}/${type}@${version || outer.version}` };
  });
};

function instancesOf(
  resource: Resource,
  evaluation: Evaluation,
  scope: Scope,
  existing: Existing,
  parent: AzureResource | null,
): AzureResource[] {
  const { type } = typeAndVersion(resource.typeName);
  return evaluation.bodiesOf(resource.body).map((body) => {
    const id = idOf(type, String(body.name), (body.parent as AzureResource | undefined) ?? parent, body.scope, scope);
    return (resource.existing ? existing(id) : null) ?? createdFrom(id, type, body, scope.location);
  });
}

function idOf(type: string, name: string, parent: AzureResource | null, given: unknown, scope: Scope): string {
  if (parent !== null) return `${parent.id}/${type.slice(type.lastIndexOf('/') + 1)}/${name}`;
  const at = (given as Scope | undefined)?.id ?? scope.id;
  if (type === 'Microsoft.Resources/resourceGroups') return `${subscriptionScope}/resourceGroups/${name}`;
  return resourceId(at, type, name);
}

/** Type and name have the same number of parts: `Microsoft.Compute/virtualMachines/extensions` and `web/bridge`. */
export function resourceId(scope: string, type: string, name: string): string {
  const [provider, ...types] = type.split('/');
  const names = name.split('/');
  return `${scope}/providers/${provider}/${types.map((one, index) => `${one}/${names[index]}`).join('/')}`;
}

/** A scope that a module or resource names: a resource group, the subscription; undefined without one. */
const scopeOf = (given: unknown): Scope | undefined =>
  typeof given === 'object' && given !== null && 'id' in given ? (given as Scope) : undefined;

function valuesIn(scope: Scope, existing: Existing): AzureValues {
  const group = (subscription: string, name: string) => {
    const id = `/subscriptions/${subscription}/resourceGroups/${name}`;
    return { location: scope.location, ...existing(id), id, name };
  };
  const functions: Readonly<Record<string, (...given: never[]) => unknown>> = {
    subscription: (id = subscriptionId) => ({ id: `/subscriptions/${id}`, subscriptionId: id, tenantId }),
    resourceGroup: (...names: string[]) => {
      const [, subscription = subscriptionId, name = ''] =
        /^\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)/.exec(scope.id) ?? [];
      return names.length === 2 ? group(names[0] ?? '', names[1] ?? '') : group(subscription, names[0] ?? name);
    },
    deployment: () => ({ name: 'deployment', location: scope.location }),
    tenant: () => ({ tenantId }),
    // Azure's is a UUID of version 5 in a namespace of its own: https://learn.microsoft.com/azure/azure-resource-manager/bicep/bicep-functions-string#guid
    guid: (...given) => guidOf(JSON.stringify(given)),
  };
  return {
    call(name, given) {
      const answer = functions[name];
      if (answer === undefined) throw new Error(`the stand-in for Azure does not know the function ${name} of Bicep`);
      return answer(...(given as never[]));
    },
    resource(resource, evaluation) {
      // Nested resources name the one that they are in.
      const values = instancesOf(resource, evaluation, scope, existing, null).map((instance) =>
        Object.defineProperties(
          { ...instance },
          Object.fromEntries(
            nestedIn(resource).map((inner) => [
              inner.name,
              { get: () => instancesOf(inner, evaluation, scope, existing, instance)[0] ?? null },
            ]),
          ),
        ),
      );
      return isLoop(resource.body) ? values : (values[0] ?? null);
    },
    within: (given) => valuesIn(scopeOf(given) ?? scope, existing),
  };
}

const isLoop = (body: Expression): boolean => body.kind === 'loop';

function fileOf(project: Project, path: string): BicepFile {
  const file = project.file(path);
  if (file === null) throw new Error(`there is no file ${path}`);
  return file;
}
