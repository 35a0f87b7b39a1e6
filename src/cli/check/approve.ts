import { join } from 'node:path';
import { disablingFile, isApprovingDisabled } from '../../approver/disabled.ts';
import { ok, warning } from '../../check/finding.ts';
import type { Config } from '../../config.ts';
import type { CheckContext } from './context.ts';
import type { Finding } from './finding.ts';

export function checkApprove({ config }: CheckContext): readonly Finding[] {
  const switchOffFile = join(config.stateDirectory, disablingFile);
  const isSwitchedOff = isApprovingDisabled(config.stateDirectory);
  return [approveFinding(config.approve, { switchOffFile, isSwitchedOff })];
}

/** What would be approved, as a person would say it. */
export function approveFinding(
  { userInitiated, freezeUpToSeconds, onBehalfOf, onBehalfAfterSeconds }: Config['approve'],
  { switchOffFile, isSwitchedOff }: { readonly switchOffFile: string; readonly isSwitchedOff: boolean },
): Finding {
  const what = 'approve.policy';
  const kinds = [
    ...(userInitiated ? ['every Reboot and Redeploy of this VM that a user asked for'] : []),
    ...(freezeUpToSeconds === null ? [] : [`every Freeze of this VM of up to ${freezeUpToSeconds} s`]),
    ...(userInitiated && onBehalfOf.length > 0
      ? [`what a user asked for of ${onBehalfOf.join(', ')}, when it has waited for ${onBehalfAfterSeconds} s`]
      : []),
  ];
  const byHand = 'a person may approve any event with the command approve';
  if (kinds.length === 0) return ok(what, `Nothing is approved by itself; ${byHand}.`);
  const last = kinds.pop() ?? '';
  const list = kinds.length > 0 ? `${kinds.join(', ')} and ${last}` : last;
  if (isSwitchedOff) {
    return warning(
      what,
      `Nothing is approved while ${switchOffFile} is there. Without it: ${list}.`,
      `rm ${switchOffFile}`,
    );
  }
  return ok(
    what,
    `Approved by itself is ${list}; Preempt, Terminate and what the platform reboots or redeploys never is. ${switchOffFile}, when it is made, stops that at once.`,
  );
}
