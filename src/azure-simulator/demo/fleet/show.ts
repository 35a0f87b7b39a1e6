import type { LifecycleRecord } from '../../../lifecycle/record.ts';
import type { AzureSimulator } from '../../index.ts';
import { playScenario } from '../../player.ts';
import { rollingMaintenance } from '../../scenarios/index.ts';
import { type Audience, perform } from '../perform.ts';
import { type FleetShow, fleetBeginning, foldFleet } from './model.ts';
import type { FleetHappening } from './moment.ts';
import { compareFleet, type FleetVerdict } from './verdict.ts';

export interface FleetShowOptions extends Audience<FleetShow, FleetHappening> {
  readonly azure: AzureSimulator;
  readonly vms: readonly string[];
  readonly domains: number;
  /** No step is shorter: each VM has to look meanwhile. */
  readonly minimumStepSeconds: number;
}

/** All bridges look for the first time, and what comes late comes, within this. */
const fleetPatienceMs = 40_000;
/** When nothing arrives for so long, a VM that has not told something never will. */
const quietMs = 5000;

/**
 * Maintenance goes through the scale set, until everything that its bridges tell has arrived or patience is over. Null: it was stopped.
 * @throws a `Failure` when it cannot go on.
 */
export async function runFleetShow(
  options: FleetShowOptions,
): Promise<{ verdict: FleetVerdict; show: FleetShow } | null> {
  const { azure, vms, domains, minimumStepSeconds } = options;
  const { imds, logAnalytics } = azure;
  const rowIds = (): readonly string[] => logAnalytics.rows().map(({ RecordId }) => String(RecordId));
  const verdictOn = (read: readonly LifecycleRecord[]): FleetVerdict => compareFleet(imds.issued, read, rowIds());
  const looking = (): number => Object.keys(imds.polls).length;
  const audience = { patienceMs: fleetPatienceMs, ...options };
  const story = { beginning: fleetBeginning, fold: foldFleet };
  const ended = await perform<FleetShow, FleetHappening>(azure, audience, story, ({ read, waits, show, tell }) => {
    const told = { issued: 0, rows: 0 };
    let arrivedAt = Date.now();
    return {
      look() {
        if (looking() > show().looking) tell({ kind: 'looking', vms: looking() });
        for (const { at, ...step } of imds.issued.slice(told.issued)) tell({ kind: 'azure', ...step }, at.getTime());
        const ids = rowIds();
        for (const recordId of ids.slice(told.rows)) tell({ kind: 'table', recordId });
        if (ids.length > told.rows) arrivedAt = Date.now();
        told.issued = imds.issued.length;
        told.rows = ids.length;
      },
      received(record) {
        arrivedAt = Date.now();
        return { kind: 'hub', record };
      },
      async play() {
        await waits.until('every bridge to look', () => looking() >= vms.length);
        const scenario = rollingMaintenance(vms.length, domains);
        const { signal } = waits;
        await playScenario(azure, scenario, { speed: scenario.demoSpeed, minimumStepSeconds, vms, signal });
        await waits.patiently(() => {
          const { complaints, events } = verdictOn(read);
          const isComplete = events.every(({ toldAll, affected }) => toldAll === affected);
          return complaints.length === 0 && (isComplete || Date.now() - arrivedAt > quietMs);
        });
      },
    };
  });
  return ended && { verdict: verdictOn(ended.read), show: ended.show };
}
