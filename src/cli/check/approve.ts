import { join } from 'node:path';
import { disablingFile, isApprovingDisabled } from '../../approver/disabled.ts';
import { ok, warning } from '../../check/finding.ts';
import type { Config } from '../../config.ts';
import { approvalInWords } from '../../lifecycle/approval.ts';
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
  policy: Config['approve'],
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
  const approved = approvalInWords(policy);
  const manually = 'an operator may approve any event with the command approve';
  if (approved === null) return ok(what, `Nothing is approved automatically; ${manually}.`);
  if (isSwitchedOff) {
    return warning(
      what,
      `Nothing is approved automatically while ${switchOffFile} exists; ${manually}. Without the file: ${approved}.`,
      system.removeFile(switchOffFile),
    );
  }
  return ok(
    what,
    `Approved automatically: ${approved}. Never Preempt, Terminate, or a Reboot or Redeploy by the platform. To stop that at once, create ${switchOffFile}.`,
  );
}
