import { sinks } from '../sinks/registry.ts';

/** Codes of failures that last until a person acts: those that a sink answers as a matter of configuration. */
const refusals: ReadonlySet<string> = new Set([
  ...sinks.flatMap(({ refusals: own = [] }) => own),
  'token-no-identity',
  'token-refused',
  'token-not-found',
  'name-not-found',
  'tls-untrusted',
  'tls-expired',
  'tls-wrong-name',
  'tls-failed',
  'proxy-refused',
  'answer-too-long',
]);

/** These answers of HTTP are about the moment; any other of the client's kind is about what was configured. */
const passing: ReadonlySet<string> = new Set(['http-408', 'http-413', 'http-429']);

/** For these `check` has an `az` command: a grant, a look at what there is, an identity. */
const commanded = /^(unauthorized|not-found|disabled|network-refused|http-40[034]|token-no-identity|token-refused)$/;

export const hasCommand = (code: string): boolean => commanded.test(code);

/** Whether a sink that failed for this reason waits for a person, and not for time to pass. */
export const isRefusal = (code: string | null): boolean =>
  code !== null && (refusals.has(code) || (/^http-[34]\d\d$/.test(code) && !passing.has(code)));
