import type { AzError } from './az.ts';

/** Codes that only say that something inside them failed. */
const wrappers = [
  'DeploymentFailed',
  'InvalidTemplateDeployment',
  'ResourceDeploymentFailure',
  'BadRequest',
  'Conflict',
  'Forbidden',
  'NotFound',
  'Failed',
];

/** What a call of `az` printed on standard error, in the words of Azure. */
export interface Refusal {
  readonly code: string | null;
  /** One line. */
  readonly message: string;
}

/** Azure's code and message in the standard error of `az`: of the innermost error, which is the one that says what is wrong. */
export function refusalIn(stderr: string): Refusal {
  const text = stderr.replace(/^(WARNING|INFO):.*$/gm, '').trim();
  const inJson = innermost(jsonIn(text));
  const code = inJson?.code ?? /^(?:ERROR: )?\((\w+)\)/m.exec(text)?.[1] ?? /^Code: (\w+)/m.exec(text)?.[1] ?? null;
  // An error that the CLI did not expect is in the line after this one, before a traceback.
  const plain =
    /^ERROR: (?!The command failed with an unexpected error)(?:\(\w+\) )?(.*)$/m.exec(text)?.[1] ??
    text.split('\n').at(-1) ??
    '';
  const message = (inJson?.message ?? plain).replace(/\s+/g, ' ').trim();
  return { code, message: message.length > 500 ? `${message.slice(0, 500)}…` : message };
}

/** The JSON that begins somewhere in a text, if there is one. */
function jsonIn(text: string): unknown {
  const start = text.indexOf('{');
  for (let end = text.lastIndexOf('}'); start >= 0 && end > start; end = text.lastIndexOf('}', end - 1)) {
    try {
      return JSON.parse(text.slice(start, end + 1));
    } catch {
      // A bracket of the text around it.
    }
  }
  return undefined;
}

/** The deepest error with a code of its own; the first one of several. */
function innermost(value: unknown): { readonly code: string; readonly message: string } | undefined {
  if (Array.isArray(value)) {
    for (const one of value) {
      const found = innermost(one);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (typeof value === 'string' && value.includes('{')) return innermost(jsonIn(value));
  if (typeof value !== 'object' || value === null) return undefined;
  const { code, message, error, details, innererror } = value as Record<string, unknown>;
  const inside = [details, error, message, innererror].map(innermost).find((one) => one !== undefined);
  const own = typeof code === 'string' && typeof message === 'string' ? { code, message } : undefined;
  if (inside !== undefined && (own === undefined || wrappers.includes(own.code))) return inside;
  return own ?? inside;
}

/**
 * Refusals that pass by themselves: the request had no effect. The last two come from a call that reads the file of tokens while another one
 * writes it; without a login, calls before them fail with another message.
 */
const passing =
  /\b(TooManyRequests|OperationNotAllowedDueToConcurrency|AnotherOperationInProgress|RetryableError|ServerBusy|SubscriptionRequestsThrottled|OperationPreempted|ConcurrentUpdateError|ServerTimeout)\b|\b429\b|too many requests|does not exist in MSAL token cache|Can't find token from MSAL cache/i;
/** The connection broke: whether the request had an effect is not known. */
const broken =
  /ETIMEDOUT|ECONNRESET|Connection (aborted|reset|broken)|ConnectionError|Read timed out|ConnectTimeout|Max retries exceeded|Temporary failure in name resolution|RemoteDisconnected|\b(502|503|504)\b|ServiceUnavailable|GatewayTimeout/i;

/** Whether to make the call again: `refused` without effect, or `unknown` whether it had one; null for an error that will stay. */
export function transience(stderr: string): 'refused' | 'unknown' | null {
  if (passing.test(stderr)) return 'refused';
  return broken.test(stderr) ? 'unknown' : null;
}

/** Whether a failed call has an answer of Azure: it neither took too long nor lost its connection. */
export const isAnswer = ({ exitCode, message }: Pick<AzError, 'exitCode' | 'message'>): boolean =>
  exitCode !== null && transience(message) === null;
