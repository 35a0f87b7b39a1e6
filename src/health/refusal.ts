import { sinks } from '../sinks/registry.ts';

/** Codes of failures that last until an operator acts: those with the cause `configuration`. */
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

/** Of the statuses 3xx and 4xx, those that pass without action. */
const temporary: ReadonlySet<string> = new Set(['http-408', 'http-413', 'http-429']);

/** For these `check` prints an `az` command. */
const commanded = /^(unauthorized|not-found|disabled|network-refused|http-40[034]|token-no-identity|token-refused)$/;

export const hasCommand = (code: string): boolean => commanded.test(code);

/** Whether a failure with this code lasts until an operator acts. */
export const isRefusal = (code: string | null): boolean =>
  code !== null && (refusals.has(code) || (/^http-[34]\d\d$/.test(code) && !temporary.has(code)));
