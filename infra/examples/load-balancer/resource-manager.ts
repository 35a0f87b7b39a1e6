import { setTimeout as pause } from 'node:timers/promises';

/** Anything that gets tokens, for example `DefaultAzureCredential`. */
interface TokenSource {
  getToken(scope: string): Promise<{ readonly token: string } | null>;
}

export class ResourceManagerError extends Error {
  override readonly name = 'ResourceManagerError';
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
  constructor(message: string, status: number, retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The two requests that are needed of Azure Resource Manager. */
export class ResourceManager {
  readonly #endpoint: string;
  readonly #tokens: TokenSource;

  /** @param endpoint `https://management.azure.com`, or that of another cloud. */
  constructor(endpoint: string, tokens: TokenSource) {
    this.#endpoint = endpoint.replace(/\/$/, '');
    this.#tokens = tokens;
  }

  async get<T>(resourceId: string, apiVersion: string): Promise<T> {
    return (await this.#request('GET', this.#url(resourceId, apiVersion))).body as T;
  }

  /**
   * Replaces a resource, and waits until Azure has done so.
   * @throws ResourceManagerError with status 412 if its ETag is another one meanwhile, and with 409 or 429 while another change is in
   *   progress: then read it again.
   */
  async replace(resourceId: string, apiVersion: string, etag: string, body: unknown): Promise<void> {
    const url = this.#url(resourceId, apiVersion);
    await this.#finished(await this.#request('PUT', url, { 'if-match': etag }, JSON.stringify(body)));
  }

  /** https://learn.microsoft.com/azure/azure-resource-manager/management/async-operations */
  async #finished(first: Answer): Promise<void> {
    const statusUrl = first.headers.get('azure-asyncoperation');
    const location = first.headers.get('location');
    const url = statusUrl ?? (first.status === 202 ? location : null);
    if (url === null) return;
    let waitSeconds = secondsIn(first.headers);
    for (;;) {
      await pause(1000 * (waitSeconds ?? 5));
      try {
        const { status: httpStatus, headers, body } = await this.#request('GET', url);
        const { status, error } = (body || {}) as { status?: string; error?: { code: string; message: string } };
        if (statusUrl === null ? httpStatus !== 202 : status === 'Succeeded') return;
        if (status === 'Failed' || status === 'Canceled')
          throw new ResourceManagerError(`The change ${status}: ${error?.code} ${error?.message}`, httpStatus);
        waitSeconds = secondsIn(headers);
      } catch (error) {
        // Only this query was refused: the change continues.
        if (!(error instanceof ResourceManagerError && (error.status === 429 || error.status >= 500))) throw error;
        waitSeconds = error.retryAfterSeconds;
      }
    }
  }

  #url(resourceId: string, apiVersion: string): string {
    return `${this.#endpoint}${resourceId}?api-version=${apiVersion}`;
  }

  async #request(method: string, url: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> {
    // Elsewhere the token would be given away.
    if (new URL(url).origin !== new URL(this.#endpoint).origin) throw new Error(`${url} is not at ${this.#endpoint}`);
    const token = await this.#tokens.getToken('https://management.azure.com/.default');
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token?.token}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    if (response.ok) return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
    const message = `${method} ${new URL(url).pathname}: ${response.status} ${text.slice(0, 500)}`;
    throw new ResourceManagerError(message, response.status, secondsIn(response.headers));
  }
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

function secondsIn(headers: Headers): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : undefined;
}
