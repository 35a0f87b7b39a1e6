import { createGroupDocument } from '../../../src/azure-simulator/imds/document.ts';
import type { Recording } from '../../../src/azure-simulator/recording/read-recording.ts';
import type { Scenario, Step } from '../../../src/azure-simulator/scenarios/scenario.ts';
import type { Change } from '../../../src/recording/format.ts';

export interface SimulatedOptions {
  /** The VM on which the scenario is played. */
  readonly vm: string;
  /** How long after its announcement the event is approved; null if it is not. */
  readonly approvedAfterSeconds: number | null;
}

/**
 * The recording that a scenario of the simulator gives at the speed of Azure, calculated and not played: its times are those to which the times
 * of Azure are compared. Only a play shows what the bridge does, and what faults do.
 */
export function simulatedRecording(
  { steps }: Pick<Scenario, 'steps'>,
  { vm, approvedAfterSeconds }: SimulatedOptions,
): Recording {
  const begunAt = new Date('2026-01-01T00:00:00.000Z');
  const group = createGroupDocument();
  const ids = new Map<string, string>();
  const idOf = (event: string): string => ids.get(event) ?? '';
  const changes: Change[] = [{ atSeconds: 0, seen: { document: group.current } }];
  let atSeconds = 10;
  group.watch(() => changes.push({ atSeconds, seen: { document: group.current } }));
  const after = (seconds: number): Date => new Date(begunAt.getTime() + 1000 * (atSeconds + seconds));

  const act = (step: Step): void => {
    if (step.do === 'schedule') {
      const { event, noticeSeconds, do: _, afterSeconds: __, on: ___, ...fields } = step;
      const when = noticeSeconds === null ? ({ status: 'Started' } as const) : { notBefore: after(noticeSeconds) };
      ids.set(event, group.schedule({ ...fields, ...when, resources: [vm] }));
    } else if (step.do === 'change') {
      const { event, noticeSeconds, do: _, afterSeconds: __, on: ___, ...fields } = step;
      group.update(idOf(event), {
        ...fields,
        ...(noticeSeconds === undefined ? {} : { notBefore: after(noticeSeconds) }),
      });
    } else if (step.do === 'start' || step.do === 'approve') group.start(idOf(step.event));
    else if (step.do === 'remove') group.remove(idOf(step.event));
  };
  for (const step of steps) {
    const isApproved = step.do === 'start' && approvedAfterSeconds !== null;
    atSeconds += isApproved ? Math.min(approvedAfterSeconds, step.afterSeconds) : step.afterSeconds;
    act(step);
  }
  return { header: { begunAt, endpoint: '', apiVersion: '2020-07-01', vm: { name: vm } }, changes };
}
