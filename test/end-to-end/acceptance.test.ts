import { describe, expect, type TestContext, test } from 'vitest';
import { problemsOf } from '../../infra/acceptance/events/checks.ts';
import { play } from '../../infra/acceptance/events/play.ts';
import { firstCopies, type Played } from '../../infra/acceptance/events/played.ts';
import { scenarios } from '../../infra/acceptance/events/scenarios.ts';
import type { SimulatedAzureOptions } from '../../infra/acceptance/events/simulated-azure.ts';
import { machinesFor } from '../../infra/acceptance/events/steps.ts';
import { createSimulatorTarget } from '../../infra/acceptance/simulator-target.ts';
import { mainFile } from '../support/program.ts';

/** Plays a scenario of an acceptance run on a simulator, and returns what was seen with all problems. */
async function playedOn(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  id: string,
  change?: SimulatedAzureOptions['change'],
) {
  const scenario = scenarios.find((one) => one.id === id) ?? expect.unreachable(id);
  const target = createSimulatorTarget({ program: mainFile, ...(change && { change }) });
  onTestFinished(target.close);
  const { signal } = new AbortController();
  const played = await play(scenario, {
    target,
    ...machinesFor(scenario, await target.machines()),
    signal,
    say: () => {},
  });
  return { played, problems: problemsOf(scenario, played) };
}

const phasesOf = ({ records }: Played): string[] => firstCopies(records).map(({ record }) => record.phase);

describe('a restart that the VM approves', { concurrent: true }, () => {
  test('is as expected, with a recording of the time before and after it', async (context) => {
    const { played, problems } = await playedOn(context, 'restart-approved');
    expect(problems).toEqual([]);
    const phases = phasesOf(played);
    // A poll may see that it starts before the answer to the approval arrives.
    expect(phases.filter((phase) => phase !== 'Approved')).toEqual(['Scheduled', 'Started', 'Completed']);
    expect(phases.slice(1, -1)).toContain('Approved');
    const bootIds = firstCopies(played.records).map(({ record }) => record.bootId);
    expect(bootIds[3]).not.toBe(bootIds[0]);
    const statuses = [...(played.recording ?? '').matchAll(/"EventStatus":"(\w+)"/g)].map(([, status]) => status);
    expect(statuses).toEqual(['Scheduled', 'Started']);
  });

  test('has problems where Azure starts it without an announcement', async (context) => {
    const { problems } = await playedOn(context, 'restart-approved', (scenario) => ({
      ...scenario,
      steps: scenario.steps.map((step) => (step.do === 'schedule' ? { ...step, noticeSeconds: null } : step)),
    }));
    expect(problems).toContain('Scheduled is missing.');
    expect(problems.join(' ')).toContain('The event could not be approved');
  });

  test('has a problem where Azure names another source', async (context) => {
    const { problems } = await playedOn(context, 'restart-approved', (scenario) => ({
      ...scenario,
      steps: scenario.steps.map((step) => (step.do === 'schedule' ? { ...step, eventSource: 'Platform' } : step)),
    }));
    expect(problems).toContain('Scheduled names the source Platform; expected User.');
  });
});
