import { fileURLToPath } from 'node:url';
import { fleetRows } from '../../../test/support/fleet-rows/demo-fleet.ts';
import { type ExecuteOptions, type Kql, openKql } from '../../../test/tools/kql/index.ts';
import { type Answer, answering } from './answer.ts';
import type { Answered } from './page.ts';
import { clickedIn, type Step } from './read-workbook.ts';
import { resourceGraph } from './resource-graph.ts';

/** The demo fleet as a workspace, with Azure Resource Graph beside it. */
export interface DemoFleet {
  readonly kql: Kql;
  readonly tables: ExecuteOptions['tables'];
  readonly now: Date;
}

export function openDemoFleet(): DemoFleet {
  const { now, ...tables } = fleetRows();
  const functionsFrom = [fileURLToPath(new URL('../../kql/functions', import.meta.url))];
  const functions = resourceGraph(tables.VmLifecycleBridge_CL, now);
  const kql = openKql({ functionsFrom, functions });
  return { kql, tables: kql.load(tables), now };
}

const days = 14;

/** What every step shows of the demo fleet, when the user clicks a row of each step with a selection. */
export function answerAll(steps: readonly Step[], { kql, tables, now }: DemoFleet): Answered[] {
  const chosen = { days, now, clicked: clickedIn(steps) };
  const before = answering(steps, kql, chosen, tables);
  const clicked = Object.fromEntries(
    steps.flatMap(({ name, content: { exportParameterName, exportFieldName = '' } }) =>
      exportParameterName === undefined ? [] : [[exportParameterName, exported(exportFieldName, before(name))]],
    ),
  );
  const answerNamed = answering(steps, kql, { ...chosen, clicked: { ...chosen.clicked, ...clicked } }, tables);
  return steps.map((step) => ({ step, answer: answerNamed(step.name) }));
}

/** A reboot of several VMs where there is one, a wave that has ended, a resource group in which a bridge is missing, otherwise the first row. */
function exported(column: string, { rows }: Answer): string {
  const hasContent = ({ EventType, Outcome, VMs, Bridges, DonePercent }: Answer['rows'][number]): boolean =>
    (EventType === 'Reboot' && Outcome === 'Completed' && Number(VMs) > 1) ||
    (Bridges !== undefined && Number(Bridges) < Number(VMs)) ||
    DonePercent === 100;
  return String((rows.find(hasContent) ?? rows[0])?.[column] ?? '');
}
