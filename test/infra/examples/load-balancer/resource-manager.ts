import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { decodeJwt } from 'jose';

export interface Address {
  readonly name: string;
  readonly properties: { readonly adminState?: string; readonly [field: string]: unknown };
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The part of Azure Resource Manager that serves one backend address pool, written from
 * https://learn.microsoft.com/rest/api/load-balancer/load-balancer-backend-address-pools (get, create-or-update),
 * https://learn.microsoft.com/azure/azure-resource-manager/management/async-operations and, for what a wrong ETag and a change in progress
 * are answered with, https://github.com/kubernetes-sigs/cloud-provider-azure/issues/9729 and
 * https://github.com/Azure/azure-cli/issues/28615.
 */
export class ResourceManagerSimulator {
  /** Of the pool. */
  readonly id =
    '/subscriptions/5a/resourceGroups/Web/providers/Microsoft.Network/loadBalancers/lb/backendAddressPools/web';
  /** `PUT 200` and so on, without the queries of operations. */
  readonly requests: string[] = [];
  /** Called before a change is checked: what others do at that moment. */
  beforeChange: () => void = () => {};
  /** How changes end. */
  outcome: 'Succeeded' | 'Failed' = 'Succeeded';
  /** As `Azure-AsyncOperation`, or as 202 with `Location`. */
  pollBy: 'operation' | 'location' = 'operation';
  /** Where clients are sent to ask about an operation; default: here. */
  pollAt: string | null = null;
  #addresses: readonly Address[];
  #etag = newEtag();
  readonly #operations = new Map<string, { polls: number; readonly addresses: readonly Address[] }>();
  readonly #server = createServer((request, response) => {
    void this.#answer(request).then(({ status, body, headers }) => {
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(body === '' ? '' : JSON.stringify(body));
    });
  });

  constructor(names: readonly string[]) {
    this.#addresses = names.map((name, index) => ({
      name,
      properties: {
        ipAddress: `10.0.0.${4 + index}`,
        virtualNetwork: { id: '/subscriptions/5a/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/v' },
      },
    }));
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get addresses(): readonly Address[] {
    return this.#addresses;
  }

  /** By name; addresses without a state are left out. */
  get states(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.#addresses.flatMap(({ name, properties: { adminState } }) => (adminState ? [[name, adminState]] : [])),
    );
  }

  /** As another program or a person does it. */
  set(name: string, adminState: string): void {
    this.#store(
      this.#addresses.map((one) =>
        one.name === name ? { ...one, properties: { ...one.properties, adminState } } : one,
      ),
    );
  }

  #store(addresses: readonly Address[]): void {
    this.#addresses = addresses;
    this.#etag = newEtag();
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const url = new URL(request.url ?? '', this.url);
    const isOperation = url.pathname.includes('/operations/');
    const answer = this.#refusal(request, url) ?? (isOperation ? this.#poll(url) : await this.#serve(request, url));
    if (!isOperation) this.requests.push(`${request.method} ${answer.status}`);
    return answer;
  }

  #refusal({ headers }: IncomingMessage, url: URL): Answer | null {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
    if (token === undefined) return refuse(401, 'AuthenticationFailed', "The 'Authorization' header is missing.");
    const { aud, exp = 0 } = decodeJwt(token);
    if (aud !== 'https://management.azure.com' || exp * 1000 < Date.now())
      return refuse(401, 'InvalidAuthenticationTokenAudience', `The audience ${aud} is invalid.`);
    const version = url.searchParams.get('api-version');
    if (version === null)
      return refuse(
        400,
        'MissingApiVersionParameter',
        'The api-version query parameter (?api-version=) is required for all requests.',
      );
    // The one that this was written from.
    return version === '2024-05-01'
      ? null
      : refuse(400, 'NoRegisteredProviderFound', `No registered resource provider found for API version '${version}'.`);
  }

  async #serve(request: IncomingMessage, url: URL): Promise<Answer> {
    if (url.pathname.toLowerCase() !== this.id.toLowerCase()) return refuse(404, 'ResourceNotFound', url.pathname);
    if (request.method === 'GET') return { status: 200, body: this.#pool() };
    if (request.method !== 'PUT') return refuse(405, 'MethodNotAllowed', `${request.method}`);
    const { properties } = JSON.parse(await text(request)) as {
      properties?: { loadBalancerBackendAddresses?: Address[] };
    };
    this.beforeChange();
    const condition = request.headers['if-match'];
    if (condition !== undefined && condition !== this.#etag)
      return refuse(
        412,
        'PreconditionFailed',
        `Etag provided in if-match header ${condition} does not match etag ${this.#etag} of resource ${this.id}`,
      );
    if (this.#operations.size > 0)
      return { ...refuse(429, 'RetryableError', 'A retryable error occurred.'), headers: { 'retry-after': '0' } };
    const addresses = properties?.loadBalancerBackendAddresses;
    const isValid = addresses?.every(
      ({ name, properties: { adminState = 'None' } }) => name !== '' && ['None', 'Up', 'Down'].includes(adminState),
    );
    if (addresses === undefined || !isValid) return refuse(400, 'InvalidRequestFormat', 'Cannot parse the request.');
    const id = randomUUID();
    this.#operations.set(id, { polls: 0, addresses });
    this.#etag = newEtag();
    const at = `${this.pollAt ?? this.url}/subscriptions/5a/providers/Microsoft.Network/locations/westeurope/operations/${id}?api-version=2024-05-01`;
    return this.pollBy === 'operation'
      ? { status: 200, body: this.#pool(), headers: { 'azure-asyncoperation': at, 'retry-after': '0' } }
      : { status: 202, body: '', headers: { location: at, 'retry-after': '0' } };
  }

  /** In progress when it is asked first, throttled when it is asked again, and then at its end. */
  #poll(url: URL): Answer {
    const id = url.pathname.split('/').at(-1) ?? '';
    const operation = this.#operations.get(id);
    if (operation === undefined) return refuse(404, 'NotFound', id);
    operation.polls += 1;
    const headers = { 'retry-after': '0' };
    if (operation.polls === 2) return { ...refuse(429, 'TooManyRequests', 'Too many requests.'), headers };
    const isByOperation = this.pollBy === 'operation';
    if (operation.polls < 3)
      return { status: isByOperation ? 200 : 202, body: isByOperation ? { status: 'InProgress' } : '', headers };
    this.#operations.delete(id);
    if (this.outcome === 'Succeeded') this.#store(operation.addresses);
    const error = { code: 'InternalServerError', message: 'An error occurred.' };
    if (isByOperation)
      return { status: 200, body: { status: this.outcome, ...(this.outcome === 'Failed' && { error }) } };
    return this.outcome === 'Succeeded' ? { status: 200, body: this.#pool() } : { status: 500, body: { error } };
  }

  #pool(): unknown {
    return {
      name: 'web',
      id: this.id,
      etag: this.#etag,
      type: 'Microsoft.Network/loadBalancers/backendAddressPools',
      properties: {
        provisioningState: this.#operations.size > 0 ? 'Updating' : 'Succeeded',
        loadBalancerBackendAddresses: this.#addresses,
        loadBalancingRules: [{ id: '/subscriptions/5a/rule' }],
      },
    };
  }
}

const newEtag = (): string => `W/"${randomUUID()}"`;

const refuse = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { code, message } },
});
