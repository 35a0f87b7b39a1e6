/**
 * What went wrong, by the exit codes that Azure's guest agents know: they are shown in the deployment, with the first line of
 * stderr. `unreachable`: everything is installed, but an operator has to act. `notDone` is our own.
 * https://learn.microsoft.com/azure/virtual-machines/extensions/features-linux
 */
export const refusals = {
  unsupported: {
    code: 51,
    meaning: 'this machine cannot run it: operating system, processor, C library, or no systemd',
  },
  missing: { code: 52, meaning: 'something is missing: disk space, a program, a file of the package or its signature' },
  badConfiguration: { code: 53, meaning: 'the configuration is missing or wrong; nothing was changed' },
  unreachable: {
    code: 55,
    meaning:
      'it is installed, runs and keeps polling, but gets no connection to the metadata service: perhaps a firewall',
  },
  busy: { code: 56, meaning: 'another installation or the package manager is running; try again' },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>;
export type RefusalReason = Exclude<keyof typeof refusals, 'unreachable'> | 'notDone';

/** Ends an installation. The message is for the operator: its first line has the problem, its place, and the remedy. */
export class Refusal extends Error {
  readonly reason: RefusalReason;
  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
