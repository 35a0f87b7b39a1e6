import type { AzureFault, Outcome, World } from './world.ts';

export interface StandInRequest {
  readonly method: string;
  /** As the Azure CLI asked for it. */
  readonly url: URL;
  /** Id of the step of the run that calls the CLI; blank outside of steps. */
  readonly step: string;
  /** Parsed from JSON; undefined without a body, the text for another content. */
  readonly body: unknown;
}

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The parts of a path that a pattern names, decoded. */
export type Parts = Readonly<Record<string, string>>;

/** One kind of request and its reply. */
export interface Route {
  readonly method: string;
  /** `*` at its beginning stands for any name. */
  readonly host: string;
  /** `{name}` stands for one part of the path, `{name*}` for one or several. The case of letters does not matter. */
  readonly path: string;
  /** Null: another route may have a reply. */
  reply(world: World, parts: Parts, request: StandInRequest): Reply | null | Promise<Reply | null>;
}

export const management = 'management.azure.com';

export const found = (body: unknown): Reply => ({ status: 200, body });
export const refused = (status: number, error: AzureFault): Reply => ({ status, body: { error } });
export const notFound = (id: string): Reply =>
  refused(404, { code: 'ResourceNotFound', message: `The resource '${id}' was not found.` });

const operationUrl = (kind: 'operations' | 'results', number: number): string =>
  `https://${management}/stand-in/${kind}/${number}?api-version=2024-01-01`;

/**
 * The reply that begins a long-running operation: the CLI polls the address in `Azure-AsyncOperation` where there is one, and else that
 * in `Location`. https://learn.microsoft.com/azure/azure-resource-manager/management/async-operations
 */
export function accepted(
  world: World,
  effect: () => Outcome | Promise<Outcome>,
  options: { status?: number; body?: unknown } = {},
): Reply {
  const number = world.begin(effect);
  const { status = 202, body } = options;
  return {
    status,
    body,
    headers: {
      // The result of a request that is not a PUT is at the location.
      location: operationUrl('results', number),
      ...(status === 202 && body === undefined ? {} : { 'azure-asyncoperation': operationUrl('operations', number) }),
    },
  };
}

/** Of operations that were begun. */
export const operationRoutes: readonly Route[] = [
  {
    method: 'GET',
    host: management,
    path: '/stand-in/operations/{number}',
    reply(world, { number }) {
      const outcome = world.operation(Number(number));
      if (outcome === 'running') return found({ status: 'InProgress' });
      return found('error' in outcome ? { status: 'Failed', error: outcome.error } : { status: 'Succeeded' });
    },
  },
  {
    method: 'GET',
    host: management,
    path: '/stand-in/results/{number}',
    reply(world, { number }) {
      const outcome = world.operation(Number(number));
      if (outcome === 'running') return { status: 202, headers: { location: operationUrl('results', Number(number)) } };
      if ('error' in outcome) return refused(409, outcome.error);
      return outcome.value === undefined ? { status: 204 } : found(outcome.value);
    },
  },
];
