import { join } from 'node:path';
import { disablingFile, isApprovingDisabled } from '../../approver/disabled.ts';
import { ok, warning } from '../../check/finding.ts';
import type { Config } from '../../config.ts';
import type { OperatingSystem } from '../../operating-system.ts';
import type { CheckContext } from './context.ts';
import type { Finding } from './finding.ts';

export function checkApprove({ config, system }: CheckContext): readonly Finding[] {
  const switchOffFile = join(config.stateDirectory, disablingFile);
  const isSwitchedOff = isApprovingDisabled(config.stateDirectory);
  return [approveFinding(config.approve, { switchOffFile, isSwitchedOff, system })];
}

/** The approval policy in words. */
export function approveFinding(
  { userInitiated, freezeUpToSeconds, onBehalfOf, onBehalfAfterSeconds }: Config['approve'],
  {
    switchOffFile,
    isSwitchedOff,
    system,
  }: {
    readonly switchOffFile: string;
    readonly isSwitchedOff: boolean;
    readonly system: Pick<OperatingSystem, 'removeFile'>;
  },
): Finding {
  const what = 'approve.policy';
  const kinds = [
    ...(userInitiated ? ['every Reboot and Redeploy of this VM that a user requested'] : []),
    ...(freezeUpToSeconds === null ? [] : [`every Freeze of this VM of up to ${freezeUpToSeconds} s`]),
    ...(userInitiated && onBehalfOf.length > 0
      ? [`user-initiated events of ${onBehalfOf.join(', ')}, after ${onBehalfAfterSeconds} s`]
      : []),
  ];
  const manually = 'an operator may approve any event with the command approve';
  if (kinds.length === 0) return ok(what, `Nothing is approved automatically; ${manually}.`);
  const last = kinds.pop() ?? '';
  const list = kinds.length > 0 ? `${kinds.join(', ')} and ${last}` : last;
  if (isSwitchedOff) {
    return warning(
      what,
      `Nothing is approved while ${switchOffFile} exists. Without it: ${list}.`,
      system.removeFile(switchOffFile),
    );
  }
  return ok(
    what,
    `Approved automatically: ${list}; never Preempt, Terminate, or a Reboot or Redeploy by the platform. To stop that at once, create ${switchOffFile}.`,
  );
}
