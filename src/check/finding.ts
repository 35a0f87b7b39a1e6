/**
 * `ok`: verified. `warning`: works now; should be reviewed. `problem`: does not work without an operator. `not-proven`: could not be
 * found out, and why.
 */
export type Verdict = 'ok' | 'warning' | 'problem' | 'not-proven';

/** The result of one verification of `check`. `Id`: the possible values of `what`. */
export interface Finding<Id extends string = string, Exit extends string = never> {
  readonly what: Id;
  readonly verdict: Verdict;
  /** One sentence, or two, for the operator. */
  readonly message: string;
  /** The exact command that fixes it, or that shows what has to be known next. One line. */
  readonly remedy?: string;
  /** How the command ends for it, where that is not what its class says. */
  readonly exit?: Exit;
}

export const ok = <Id extends string>(what: Id, message: string, remedy?: string): Finding<Id> =>
  finding(what, 'ok', message, remedy);
export const warning = <Id extends string>(what: Id, message: string, remedy?: string): Finding<Id> =>
  finding(what, 'warning', message, remedy);
export const problem = <Id extends string>(what: Id, message: string, remedy?: string): Finding<Id> =>
  finding(what, 'problem', message, remedy);
export const notProven = <Id extends string>(what: Id, message: string, remedy?: string): Finding<Id> =>
  finding(what, 'not-proven', message, remedy);

/** The command that a message names to correct access rights. */
export const commandIn = (message: string): string | undefined => /\((chmod [^()]+)\)/.exec(message)?.[1];

/** The service retries, a check does not. */
const retrying = /; retrying( later)?(?=\.)/g;

/** On one line, whatever was quoted in it. */
export function finding<Id extends string>(what: Id, verdict: Verdict, message: string, remedy?: string): Finding<Id> {
  return {
    what,
    verdict,
    message: message.replace(/\s+/g, ' ').replace(retrying, ''),
    ...(remedy !== undefined && { remedy }),
  };
}
