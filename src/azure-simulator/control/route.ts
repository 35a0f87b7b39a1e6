import { decodePart } from '../decode-part.ts';

/** A request, read in full. */
export interface Call {
  /** A part of the path by its name in braces, decoded. */
  readonly part: (name: string) => string;
  readonly query: URLSearchParams;
  /** The parsed body; undefined when there was none. */
  readonly body: unknown;
}

/** One row of the API. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Parts in braces match anything: `/events/{id}`. */
  readonly path: string;
  /** One line for the list of calls. */
  readonly description: string;
  /** What is answered as JSON with 200. @throws {Refusal} and {InvalidInput} */
  readonly answer: (call: Call) => unknown;
}

/** A call is refused; the message is one sentence that says what to do instead. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The row for a request, and the parts of its path. @throws {Refusal} 400, 404 or 405 */
export function findRoute(
  routes: readonly Route[],
  method: string,
  pathname: string,
): { readonly route: Route; readonly parts: ReadonlyMap<string, string> } {
  const matching = routes.flatMap((route) => {
    const parts = match(route.path, pathname);
    return parts === null ? [] : [{ route, parts }];
  });
  if (matching.length === 0) throw new Refusal(404, `Nothing is at ${pathname}; GET / lists all calls`);
  const found = matching.find(({ route }) => route.method === method);
  if (found) return found;
  const allowed = matching.map(({ route }) => route.method).join(', ');
  throw new Refusal(405, `${pathname} does not answer ${method}; use ${allowed}`, { allow: allowed });
}

function match(path: string, pathname: string): ReadonlyMap<string, string> | null {
  const wanted = path.split('/');
  const given = pathname.split('/');
  if (wanted.length !== given.length) return null;
  const parts = new Map<string, string>();
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    if (name === undefined ? part !== value : value === '') return null;
    if (name !== undefined) parts.set(name, decoded(value));
  }
  return parts;
}

function decoded(part: string): string {
  const text = decodePart(part);
  if (text === null) throw new Refusal(400, `${part} in the path is not well encoded; write a percent sign as %25`);
  return text;
}
