/** Exit codes of the acceptance run, for scripts; `--help` prints them. */
export const exitCodes = {
  ok: {
    code: 0,
    meaning:
      'every step succeeded, nothing was refuted, and nothing is left except with --keep; --clean-up: nothing is left',
  },
  unexpected: { code: 1, meaning: 'unexpected error' },
  usage: { code: 2, meaning: 'the command line is wrong; nothing was created' },
  notReady: {
    code: 3,
    meaning: 'no Azure CLI, not logged in, or another subscription or location; nothing was created',
  },
  failed: { code: 4, meaning: 'a step failed, or a time limit was exceeded; the report says which' },
  refuted: { code: 5, meaning: 'an assumption was refuted; the report says which' },
  left: { code: 20, meaning: 'something is left in the subscription; the last lines say what, and how to remove it' },
} as const;
export type ExitReason = keyof typeof exitCodes;

/** Ends the run; the message says what is wrong and what to do. */
export class Failure extends Error {
  readonly reason: ExitReason;

  constructor(reason: ExitReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
