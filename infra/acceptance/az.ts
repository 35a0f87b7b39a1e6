/** Calls the Azure CLI with the account that the user has logged in; the acceptance run has no credentials of its own. */
export interface Az {
  /**
   * Runs `az` with these arguments and `--output json`, and returns what it prints, parsed; undefined if it prints nothing, and the text if
   * it is not JSON (`az bicep version`). Refusals that pass by themselves, such as status 429 or `AnotherOperationInProgress`, are retried.
   * Rejects with an `AzError`. Secrets are passed by a file (`@file`), never as an argument: arguments are written into the journal.
   */
  call(args: readonly string[], options?: CallOptions): Promise<unknown>;
}

export interface CallOptions {
  /** After that `az` is killed, and the call rejects. Default 30 minutes. */
  readonly timeoutMinutes?: number;
  /** Default: the signal of the step that is running. The clean-up passes one of its own, which Ctrl-C does not abort. */
  readonly signal?: AbortSignal;
  /** Default true. False for a request that must not be made twice, such as a restart: it is not repeated after a broken connection. */
  readonly isRepeatable?: boolean;
}

/** A call that failed. */
export class AzError extends Error {
  override readonly name = 'AzError';
  readonly args: readonly string[];
  /** Azure's code, such as `AuthorizationFailed` or `QuotaExceeded`; null where the output names none. */
  readonly code: string | null;
  readonly exitCode: number | null;

  constructor(message: string, fields: { args: readonly string[]; code: string | null; exitCode: number | null }) {
    super(message);
    this.args = fields.args;
    this.code = fields.code;
    this.exitCode = fields.exitCode;
  }
}
