import { guidOf } from '../../../../../src/azure-simulator/guid-of.ts';
import type { Json, JsonObject } from '../../../../tools/policy/expression.ts';
import { written as writtenBy } from '../../../../tools/policy/template.ts';
import { type Deployment, deploymentOf, resourceId } from '../deployment.ts';
import { type AzureResource, createdFrom } from '../kinds.ts';
import { accepted, found, management, notFound, type Parts, type Route, type StandInRequest } from '../reply.ts';
import type { AzureFault, World } from '../world.ts';
import { adjustInstances } from './compute.ts';

const type = 'Microsoft.Resources/deployments';

interface DeploymentBody {
  readonly location?: string;
  readonly properties: {
    readonly template: string | Template;
    readonly parameters?: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

interface Template {
  readonly metadata?: { readonly standIn?: string };
  readonly parameters?: object;
  readonly resources: readonly { readonly type: string; readonly name: string }[];
  /** Each is a reference to a resource. */
  readonly outputs?: Readonly<Record<string, { readonly value: string }>>;
}

/** A template that does not come from Bicep: `az vm create` and `az vmss create` write their own, and a policy contains one. */
function plainTemplate(scope: string, template: Template, parameters: JsonObject): Deployment {
  const isOfPolicy = Object.keys(template.parameters ?? {}).length > 0 && template.outputs === undefined;
  const written = isOfPolicy
    ? (writtenBy(template as unknown as Json, parameters, {}) as Template['resources'])
    : template.resources;
  const resources = written.map(({ type, name, ...body }) =>
    createdFrom(resourceId(scope, type, name), type, body, 'westeurope'),
  );
  const outputs = Object.entries(template.outputs ?? {}).flatMap(([name, { value }]) => {
    const resource = resources.find((one) => value.includes(`'${one.type}', '${one.name}'`));
    return resource === undefined ? [] : [[name.toLowerCase(), resource.properties]];
  });
  return { resources, outputs: Object.fromEntries(outputs), nested: [] };
}

/** Subscription or resource group, as a resource id. */
const scopeOf = ({ subscription, group }: Parts): string =>
  `/subscriptions/${subscription}${group === undefined ? '' : `/resourceGroups/${group}`}`;

function planned(world: World, scope: string, { body }: StandInRequest): Deployment {
  const { location, properties } = body as DeploymentBody;
  const template = typeof properties.template === 'string' ? JSON.parse(properties.template) : properties.template;
  const given = Object.entries(properties.parameters ?? {}).filter(([, { value }]) => value !== null);
  const parameters = Object.fromEntries(given.map(([name, { value }]) => [name, value]));
  const file = template.metadata?.standIn;
  if (file === undefined) return plainTemplate(scope, template, parameters as JsonObject);
  return deploymentOf(
    world.bicep,
    {
      file,
      parameters,
      scope,
      location: location ?? world.get(scope)?.location ?? 'westeurope',
    },
    (id) => world.get(id),
  );
}

/** Why Azure cannot create a resource; tests plant such reasons. */
export type WhyNot = (resource: AzureResource) => AzureFault | null;
const reasons = new WeakMap<World, WhyNot>();
/** Deployments of this world fail at the first resource for which there is a reason; those before it stay. */
export const failDeployments = (world: World, why: WhyNot): void => void reasons.set(world, why);

const typed = (value: unknown): object => ({
  type: Array.isArray(value) ? 'Array' : `${typeof value}`.replace(/^./, (letter) => letter.toUpperCase()),
  value,
});

function begun(world: World, scope: string, name: string, request: StandInRequest) {
  const id = `${scope}/providers/${type}/${name}`;
  const { resources, outputs, nested } = planned(world, scope, request);
  const correlationId = guidOf(`${id} ${Date.now()}`);
  const { location } = request.body as DeploymentBody;
  const record = (state: string, more: object = {}): AzureResource =>
    world.put({
      ...{ id, name, type, ...(location && { location }) },
      properties: { provisioningState: state, correlationId, ...more },
    });
  const recordNested = (): void => {
    for (const module of nested) {
      const own = `${module}-${guidOf(id).slice(0, 13)}`;
      const properties = { provisioningState: 'Succeeded', correlationId };
      world.put({ id: `${scope}/providers/${type}/${own}`, name: own, type, properties });
    }
  };
  const known = world.get(id) === null;
  return accepted(
    world,
    () => {
      const operations: object[] = [];
      recordNested();
      for (const resource of resources) {
        const why =
          reasons.get(world)?.(resource) ?? world.services.machines.put(world, resource, world.get(resource.id));
        const target = { id: resource.id, resourceName: resource.name, resourceType: resource.type };
        if (why === null) {
          world.put(resource);
          if (resource.type === 'Microsoft.Compute/virtualMachineScaleSets') adjustInstances(world, resource);
        }
        operations.push({
          id: `${id}/operations/${operations.length}`,
          operationId: String(operations.length),
          properties: {
            provisioningOperation: 'Create',
            provisioningState: why === null ? 'Succeeded' : 'Failed',
            targetResource: target,
            ...(why === null ? {} : { statusCode: 'Conflict', statusMessage: { error: why } }),
          },
        });
        if (why !== null) {
          const error = {
            code: 'DeploymentFailed',
            message:
              'At least one resource deployment operation failed. Please list deployment operations for details.',
            details: [why],
          };
          record('Failed', { error, operations });
          return { error };
        }
      }
      const given = Object.entries(outputs).map(([output, value]) => [output, typed(value)]);
      return { value: record('Succeeded', { outputs: Object.fromEntries(given), operations }) };
    },
    { status: known ? 201 : 200, body: record('Accepted') },
  );
}

/** What a deployment would change, as Azure lists it. https://learn.microsoft.com/rest/api/resources/deployments/what-if */
function changes(world: World, scope: string, request: StandInRequest) {
  const { resources } = planned(world, scope, request);
  const listed = resources.map((resource) => {
    const known = world.get(resource.id);
    const changeType = known === null ? 'Create' : 'NoChange';
    return { resourceId: resource.id, changeType, ...(known && { before: known }), after: resource };
  });
  return accepted(world, () => ({ value: { status: 'Succeeded', properties: { changes: listed } } }));
}

/** Deployments to a subscription and to a resource group. */
export const deploymentRoutes: readonly Route[] = [
  '/subscriptions/{subscription}',
  '/subscriptions/{subscription}/resourcegroups/{group}',
].flatMap((scope): readonly Route[] => {
  const path = `${scope}/providers/Microsoft.Resources/deployments/{name}`;
  const idOf = (parts: Parts): string => `${scopeOf(parts)}/providers/${type}/${parts.name}`;
  const route = (method: string, at: string, reply: Route['reply']): Route => ({
    method,
    host: management,
    path: at,
    reply,
  });
  return [
    route('POST', `${path}/validate`, (world, parts, request) => {
      const { resources } = planned(world, scopeOf(parts), request);
      const ids = resources.map(({ id }) => ({ id }));
      return found({ id: idOf(parts), name: parts.name, properties: { validatedResources: ids } });
    }),
    route('POST', `${path}/whatIf`, (world, parts, request) => changes(world, scopeOf(parts), request)),
    route('PUT', path, (world, parts, request) => begun(world, scopeOf(parts), parts.name ?? '', request)),
    route('GET', path, (world, parts) => {
      const known = world.get(idOf(parts));
      return known === null ? notFound(idOf(parts)) : found(known);
    }),
    route('DELETE', path, (world, parts) => {
      world.remove(idOf(parts));
      return { status: 204 };
    }),
    route('GET', `${scope}/providers/Microsoft.Resources/deployments`, (world, parts) => {
      // Those of a resource group are under the subscription too.
      const own = `${scopeOf(parts)}/providers/${type}/`.toLowerCase();
      return found({ value: world.under(scopeOf(parts), type).filter(({ id }) => id.toLowerCase().startsWith(own)) });
    }),
    route('POST', `${path}/cancel`, (world, parts) => {
      const known = world.get(idOf(parts));
      if (known === null) return notFound(idOf(parts));
      world.put({ ...known, properties: { ...known.properties, provisioningState: 'Canceled' } });
      return { status: 204 };
    }),
    // The CLI uses an older path for those of a resource group.
    ...[`${path}/operations`, `${scope}/deployments/{name}/operations`].map((at) =>
      route('GET', at, (world, parts) => {
        const known = world.get(idOf(parts));
        return known === null ? notFound(idOf(parts)) : found({ value: known.properties.operations ?? [] });
      }),
    ),
  ];
});
