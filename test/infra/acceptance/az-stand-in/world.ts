import type { Project } from '../../../tools/bicep/project.ts';
import type { AzureResource } from './kinds.ts';

/** What exists in the stand-in for Azure. */
export interface World {
  readonly bicep: Project;
  /** By id in small letters: resource groups, resources and deployments. */
  readonly resources: Map<string, AzureResource>;
  /** Texts of blobs that were uploaded, by address. */
  readonly blobs: Map<string, string>;
  get(id: string): AzureResource | null;
  put(resource: AzureResource): AzureResource;
  /** With everything in or under it. */
  remove(id: string): void;
  /** Resources under this id, of this type where one is named; the case of letters does not matter. */
  under(id: string, type?: string): readonly AzureResource[];
  readonly services: Services;
  /** Errors of this code in operations. */
  readonly faults: string[];
  /** Begins a long-running operation and returns its number. Its effect comes when it ends, whether or not a client polls it. */
  begin(effect: () => Outcome | Promise<Outcome>): number;
  operation(number: number): Outcome | 'running';
}

/** What happens in VMs. */
export interface Machines {
  /** A VM, a scale set or an extension of one is created or changed; what is refused is not stored. */
  put(world: World, resource: AzureResource, before: AzureResource | null): AzureFault | null;
  /**
   * An operation of a user on a VM or an instance: `restart`, `redeploy`, `simulateEviction`, `deallocate`, `start`, `reimageall`, `delete`.
   * Resolves when it has ended.
   */
  act(world: World, id: string, action: string): void | Promise<void>;
  /** A script of Run Command; what it returns is the `value` of Azure's answer, or why the VM cannot run it. */
  run(world: World, id: string, script: string): Promise<readonly RunCommandStatus[] | AzureFault>;
}

/** https://learn.microsoft.com/rest/api/compute/virtual-machines/run-command#instanceviewstatus */
export interface RunCommandStatus {
  readonly code: string;
  readonly level: string;
  readonly displayStatus: string;
  readonly message: string;
}

/** What steps reach beside Azure Resource Manager: the simulated hub and rule, or nothing. */
export interface Services {
  readonly machines: Machines;
  readonly queries: Queries;
  /** A token of the account that is logged in, by its scope; null: one that no service verifies. */
  token(scope: string): Promise<string | null>;
  /** A role assignment was created or deleted. */
  rolesChanged(world: World): void;
}

/** What queries return; by default no rows. */
export interface Queries {
  /** In the workspace: a table, or the message of an error in the query. */
  logs(query: string): Promise<Table | { readonly message: string }>;
  /** In Azure Resource Graph. */
  graph(query: string): Promise<readonly object[]>;
}

/** https://learn.microsoft.com/azure/azure-monitor/logs/api/response-format */
export interface Table {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
}

/** What became of an operation: what it returns, or its error. */
export type Outcome = { readonly value: unknown } | { readonly error: AzureFault };

/** An error as services of Azure return it. */
export interface AzureFault {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly AzureFault[];
  readonly innererror?: AzureFault;
}

const operationMs = 30;

const isRole = ({ type }: AzureResource): boolean => type.toLowerCase() === 'microsoft.authorization/roleassignments';

export function createWorld(bicep: Project, services: Services): World {
  const resources = new Map<string, AzureResource>();
  const operations: {
    readonly ends: number;
    effect: (() => Outcome | Promise<Outcome>) | null;
    outcome: Outcome | null;
  }[] = [];
  const settle = (): void => {
    for (const operation of operations) {
      const { effect, ends } = operation;
      if (effect === null || ends > Date.now()) continue;
      operation.effect = null;
      void (async () => {
        operation.outcome = await Promise.try(effect).catch((error: Error) => {
          world.faults.push(`${error.stack}`);
          return { error: { code: 'FaultInStandIn', message: error.message } };
        });
      })();
    }
  };
  const world: World = {
    bicep,
    services,
    faults: [],
    resources,
    blobs: new Map(),
    get(id) {
      settle();
      return resources.get(id.toLowerCase()) ?? null;
    },
    put(resource) {
      resources.set(resource.id.toLowerCase(), resource);
      if (isRole(resource)) services.rolesChanged(world);
      return resource;
    },
    remove(id) {
      const own = id.toLowerCase();
      const removed = [...resources].filter(([key]) => key === own || key.startsWith(`${own}/`));
      for (const [key] of removed) resources.delete(key);
      if (removed.some(([, resource]) => isRole(resource))) services.rolesChanged(world);
    },
    under(id, type) {
      settle();
      return [...resources.values()].filter(
        (one) =>
          one.id.toLowerCase().startsWith(`${id.toLowerCase()}/`) &&
          (type === undefined || one.type.toLowerCase() === type.toLowerCase()),
      );
    },
    begin(effect) {
      operations.push({ ends: Date.now() + operationMs, effect, outcome: null });
      setTimeout(settle, operationMs + 1).unref();
      return operations.length - 1;
    },
    operation(number) {
      settle();
      const known = operations[number];
      if (known === undefined) throw new Error(`there is no operation ${number}`);
      return known.outcome ?? 'running';
    },
  };
  return world;
}
