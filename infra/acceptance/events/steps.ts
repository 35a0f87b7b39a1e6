import { plural } from '../../../src/terminal/styled-text.ts';
import { describeDifference } from '../recordings/difference.ts';
import { saveRecording } from '../recordings/save-recording.ts';
import { createSimulatorTarget } from '../simulator-target.ts';
import type { Step, StepContext, StepOptions } from '../step.ts';
import type { Machine, Operation, Target } from '../target.ts';
import { copiesOf, problemsOf } from './checks.ts';
import { differencesOf, timeDifferencesOf } from './differences.ts';
import { measuresOf } from './measures.ts';
import { play } from './play.ts';
import type { Played } from './played.ts';
import { findingsOf, provedBy } from './proofs.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';

const machineStep: Readonly<Record<Machine['role'], string>> = {
  single: 'vm',
  spot: 'spot-vm',
  windows: 'windows-vm',
  uniform: 'scale-set-uniform',
  flexible: 'scale-set-flexible',
};

/** The scenarios as steps: those of different VMs are played at the same time. Against the simulator, a first step starts it. */
export function eventSteps(
  { against, windows }: StepOptions,
  documented: readonly Scenario[] = scenarios,
): readonly Step[] {
  const isThere = ({ role }: Scenario): boolean => role !== 'windows' || (windows && against === 'azure');
  const played = documented.filter(isThere).map((scenario) => scenarioStep(scenario, against));
  return against === 'azure' ? played : [simulatorStep, ...played];
}

const simulatorStep: Step = {
  id: 'simulator',
  title: 'start the simulator',
  phase: 'prepare',
  needs: [],
  creates: [],
  rights: [],
  cost: { usd: 0, basis: 'processes of this machine' },
  minutes: 1,
  proves: [],
  async run({ target, found }) {
    found.set('simulator', { machines: await target.machines() });
  },
};

const scenarioStep = (scenario: Scenario, against: StepOptions['against']): Step => ({
  id: `scenario-${scenario.id}`,
  title: scenario.title,
  phase: 'events',
  // The simulator has a second VM for redeploys.
  lane: against === 'simulator' && scenario.operation === 'redeploy' ? 'redeploy' : scenario.role,
  needs: [against === 'azure' ? machineStep[scenario.role] : 'simulator'],
  creates: [],
  rights: against === 'azure' ? ['Virtual Machine Contributor on the resource group of the VMs'] : [],
  cost: { usd: 0, basis: 'the time of the VM is counted where it is created' },
  minutes: against === 'azure' ? scenario.minutes : 1,
  proves: provedBy(scenario),
  run: (context) => playAndCompare(scenario, context),
});

/** Plays the scenario on the target and on a simulator, checks what happened, and compares both. Fails if it went otherwise than documented. */
async function playAndCompare(scenario: Scenario, context: StepContext): Promise<void> {
  const { target } = context;
  const isSimulator = target.kind === 'simulator';
  const [played, meanwhile] = await Promise.all([
    playOn(scenario, target, context),
    isSimulator ? playOnTwin(scenario, context) : null,
  ]);
  context.found.set(`scenario-${scenario.id}`, await foundOf(scenario, target, played));
  reportDurations(scenario, played, context);
  const file = saveEvidence(scenario, target.kind, played, context);
  if (!isSimulator) for (const finding of findingsOf(scenario, played)) context.report({ ...finding, file });
  const problems = [...problemsOf(scenario, played)];
  const anonymous = played.recording === null ? null : saveRecording(context, scenario.id, played.recording);
  const twin = meanwhile ?? (await playOnTwin(scenario, context).catch((error: Error) => error));
  if (twin instanceof Error) {
    context.say(`${scenario.id}: not compared, because the simulator could not play it: ${twin.message}`);
  } else {
    const differences = differencesOf(target.kind, played, twin);
    if (isSimulator) {
      problems.push(...differences.map((one) => `${describeDifference(one, ['the first play', 'the second play'])}.`));
      if (twin.approvalProblem !== null)
        problems.push(`In the second play, the event could not be approved: ${twin.approvalProblem}`);
    } else {
      saveEvidence(scenario, 'simulator', twin, context);
      for (const detail of [...differences, ...timeDifferencesOf(scenario, played)]) {
        const what = describeDifference(detail);
        context.differ({ situation: scenario.id, what, detail, ...(anonymous === null ? {} : { file: anonymous }) });
      }
    }
  }
  if (problems.length > 0) throw new Error(problems.join(' '));
}

async function playOn(scenario: Scenario, target: Target, { signal, say }: StepContext): Promise<Played> {
  const { machine, sibling } = machinesFor(scenario, await target.machines());
  return await play(scenario, { target, machine, sibling, signal, say });
}

/** What a step leaves in `found`. */
export interface PlayedOperation {
  readonly operation: Operation;
  /** Name of its VM. */
  readonly machine: string;
  /** By the clock of this machine. */
  readonly requestedAt: string;
}

const foundOf = async (scenario: Scenario, target: Target, { requestedAt }: Played): Promise<PlayedOperation> => ({
  operation: scenario.operation,
  machine: machinesFor(scenario, await target.machines()).machine.name,
  requestedAt: requestedAt.toISOString(),
});

/** On a simulator of its own, whose VMs have no history. It has none with Windows: what Azure announces does not depend on the guest. */
async function playOnTwin(scenario: Scenario, context: StepContext): Promise<Played> {
  const twin = createSimulatorTarget();
  const role = scenario.role === 'windows' ? 'single' : scenario.role;
  try {
    return await playOn({ ...scenario, role }, twin, { ...context, say: () => {} });
  } finally {
    await twin.close();
  }
}

/**
 * Each scenario that deletes a VM has one of its own; the one after it sees what happens to it. Where there is a second VM outside of scale sets, it
 * is for redeploys, which are then played beside restarts.
 */
export function machinesFor(
  scenario: Scenario,
  machines: readonly Machine[],
): { readonly machine: Machine; readonly sibling: Machine | null } {
  const own = machines.filter(({ role }) => role === scenario.role);
  const deletions = scenarios.filter((one) => one.role === scenario.role && one.afterwards === 'deleted');
  const at = Math.max(
    0,
    deletions.findIndex(({ id }) => id === scenario.id),
  );
  const isSecond = scenario.operation === 'redeploy' && own.length > 1;
  const machine = isSecond ? own[1] : own[at];
  if (machine === undefined)
    throw new Error(
      `The scenario needs ${plural(at + 1, 'VM')} of the kind ${scenario.role}; there are ${own.length}.`,
    );
  return { machine, sibling: machine.scaleSet === null ? null : (own[at + 1] ?? null) };
}

function reportDurations({ id }: Scenario, played: Played, { measure, say }: StepContext): void {
  for (const { what, seconds, detail } of measuresOf(played)) measure(what, seconds, `${id}: ${detail}`);
  const { hub, table } = copiesOf(played);
  if (hub + table > 0) say(`resent records: ${hub} in the event hub, ${table} in the table`);
}

/** @returns the path of the file with records and rows */
function saveEvidence({ id }: Scenario, kind: Target['kind'], played: Played, { save }: StepContext): string {
  const { recording, ...rest } = played;
  if (recording !== null) save(`scenarios/${id}.${kind}.jsonl`, recording);
  return save(`scenarios/${id}.${kind}.json`, `${JSON.stringify(rest, null, 2)}\n`);
}
