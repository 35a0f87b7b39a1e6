import type { AzureSimulator } from '../../../azure-simulator/index.ts';
import { playScenario } from '../../../azure-simulator/player.ts';
import { rollingMaintenance } from '../../../azure-simulator/scenarios/index.ts';
import { systemClock } from '../../../clock.ts';
import type { LifecycleRecord } from '../../../lifecycle/record.ts';
import { readBack } from '../read-back.ts';
import { createWaits } from '../waits.ts';
import { type FleetShow, fleetBeginning, foldFleet } from './model.ts';
import type { FleetHappening, FleetMoment } from './moment.ts';
import { compareFleet, type FleetVerdict } from './verdict.ts';

export interface FleetShowOptions {
  readonly azure: AzureSimulator;
  readonly vms: readonly string[];
  readonly domains: number;
  /** No step is shorter: each VM has to look meanwhile. */
  readonly minimumStepSeconds: number;
  /** Ends the show, with a failure if that is its reason. */
  readonly stop: AbortSignal;
  /** Told of each moment as it happens, with the show as it was before. */
  readonly happened: (moment: FleetMoment, before: FleetShow) => void;
  /** Ten times a second; `now` as seconds since the show began. */
  readonly tick: (show: FleetShow, now: number) => void;
  /** How long the bridges may take to look for the first time, and what has not arrived at the end. Default 40 s. */
  readonly patienceMs?: number;
}

const tickMs = 100;
/** When nothing arrives for so long, a VM that has not told something never will. */
const quietMs = 5000;

/**
 * Maintenance goes through the scale set, until everything that its bridges tell has arrived or patience is over. Null: it was stopped.
 * @throws a `Failure` when it cannot go on.
 */
export async function runFleetShow(
  options: FleetShowOptions,
): Promise<{ verdict: FleetVerdict; show: FleetShow } | null> {
  const { azure, vms, domains, minimumStepSeconds, stop, happened, tick, patienceMs = 40_000 } = options;
  const { imds, logAnalytics } = azure;
  const waits = createWaits(stop, patienceMs);
  const began = Date.now();
  const read: LifecycleRecord[] = [];
  let show = fleetBeginning;
  let arrivedAt = began;

  const since = (time: number): number => (time - began) / 1000;
  const tell = (happening: FleetHappening, time = Date.now()): void => {
    const moment = { at: since(time), ...happening };
    happened(moment, show);
    show = foldFleet(show, moment);
    if (happening.kind === 'hub' || happening.kind === 'table') arrivedAt = time;
  };
  const rowIds = (): readonly string[] => logAnalytics.rows().map(({ RecordId }) => String(RecordId));
  const verdict = (): FleetVerdict => compareFleet(imds.issued, read, rowIds());
  const looking = (): number => Object.keys(imds.polls).length;

  /** What nobody tells is looked at. */
  const told = { issued: 0, rows: 0 };
  const look = (): void => {
    if (looking() > show.looking) tell({ kind: 'looking', vms: looking() });
    for (const { at, ...step } of imds.issued.slice(told.issued)) tell({ kind: 'azure', ...step }, at.getTime());
    const ids = rowIds();
    for (const recordId of ids.slice(told.rows)) tell({ kind: 'table', recordId });
    told.issued = imds.issued.length;
    told.rows = ids.length;
  };
  const watch = async (): Promise<void> => {
    for (;;) {
      look();
      tick(show, since(Date.now()));
      await waits.pause(tickMs);
    }
  };
  const play = async (): Promise<void> => {
    await waits.until('every bridge to look', () => looking() >= vms.length);
    const scenario = rollingMaintenance(vms.length, domains);
    const { signal } = waits;
    await playScenario(azure, scenario, { speed: scenario.demoSpeed, minimumStepSeconds, vms, signal });
    await waits.patiently(() => {
      const { complaints, events } = verdict();
      const isComplete = events.every(({ toldAll, affected }) => toldAll === affected);
      return complaints.length === 0 && (isComplete || Date.now() - arrivedAt > quietMs);
    });
  };

  const reader = await readBack(azure.eventHubs, (record) => {
    read.push(record);
    tell({ kind: 'hub', record });
  });
  try {
    await Promise.race([play(), watch(), waits.over()]);
    look();
    tick(show, since(Date.now()));
  } finally {
    waits.end();
    await Promise.race([reader.close(), systemClock.sleep(2000)]);
  }
  return stop.aborted ? null : { verdict: verdict(), show };
}
