import { notProven } from '../../check/finding.ts';
import { messageOf } from '../../log.ts';
import type { SinkDescriptor } from '../../sinks/descriptor.ts';
import { configuredSinks, type SinkKey, sinks } from '../../sinks/registry.ts';
import { checkApprove } from './approve.ts';
import { checkClock } from './clock.ts';
import type { CheckContext } from './context.ts';
import { checkDelivery } from './delivery.ts';
import { checkDisk } from './disk.ts';
import { type CheckId, type Class, checkIds, type Finding } from './finding.ts';
import { checkIdentity } from './identity.ts';
import { checkImds } from './imds.ts';
import { checkInstallation } from './installation.ts';
import { checkState } from './state.ts';

/** One row of the table: runs all checks of a class. */
export interface Check {
  readonly class: Class;
  /** Left out by `--offline`. */
  readonly needsNetwork: boolean;
  run(context: CheckContext): Promise<readonly Finding[]> | readonly Finding[];
}

/** In the order in which they are printed. The configuration comes before them: without one there is nothing to check. */
export const checks: readonly Check[] = [
  { class: 'disk', needsNetwork: false, run: checkDisk },
  { class: 'state', needsNetwork: false, run: checkState },
  { class: 'imds', needsNetwork: true, run: checkImds },
  { class: 'clock', needsNetwork: true, run: checkClock },
  { class: 'identity', needsNetwork: true, run: checkIdentity },
  ...sinks.map(checkOf),
  { class: 'delivery', needsNetwork: false, run: checkDelivery },
  { class: 'approve', needsNetwork: false, run: checkApprove },
  { class: 'installation', needsNetwork: false, run: checkInstallation },
];

/** Starts the selected checks together, and returns their findings in the order of the table, each as soon as those before it are done. */
export async function* prove(context: CheckContext, { offline }: { readonly offline: boolean }) {
  const begun = checks
    .filter(({ needsNetwork }) => !(offline && needsNetwork))
    .map((check) => ({ ...check, findings: run(check, context) }));
  for (const { class: name, findings } of begun) yield { class: name, findings: await findings };
}

/** What goes wrong in a check itself must not take the others with it. */
async function run(check: Check, context: CheckContext): Promise<readonly Finding[]> {
  try {
    return await check.run(context);
  } catch (error) {
    const what =
      (Object.keys(checkIds) as CheckId[]).find((one) => one.startsWith(`${check.class}.`)) ?? 'configuration.read';
    return [notProven(what, `This check did not finish: ${messageOf(error)}.`)];
  }
}

/** The check that a sink brings. */
function checkOf({ key, check }: SinkDescriptor): Check {
  return {
    class: key as SinkKey,
    needsNetwork: check.needsNetwork,
    async run(context) {
      const found = configuredSinks(context.config.sinks).find(({ sink }) => sink.key === key);
      return found ? ((await check.run(found.section, context)) as readonly Finding[]) : [];
    },
  };
}
