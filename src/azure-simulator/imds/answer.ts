/** What a handler answers; who writes it to the socket, and how wrongly, is decided elsewhere. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request, read in full. */
export interface Request {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(value),
  };
}

/** Before the header was enforced: the preview of scheduled events. */
const headerless = '2017-03-01';

/** What every path of the metadata service refuses. Null when the request passes. */
export function refuseForeign({ headers, query }: Request): Answer | null {
  if (String(headers.metadata).toLowerCase() !== 'true' && query.get('api-version') !== headerless) {
    return json(400, { error: 'Bad request. Required metadata header not specified' });
  }
  if (headers['x-forwarded-for'] !== undefined) {
    return json(400, { error: 'Bad request. Request has come through a proxy: X-Forwarded-For is not allowed' });
  }
  return null;
}

/** The answer to an unsupported api-version lists the newest supported ones. */
export function unknownVersion(known: readonly string[]): Answer {
  return json(400, {
    error:
      'Bad request. api-version is invalid or was not specified in the request. For more information refer to aka.ms/azureimds',
    'newest-versions': [...known].sort().reverse().slice(0, 3),
  });
}
