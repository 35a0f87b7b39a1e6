import { fileURLToPath } from 'node:url';
import { fleetRows } from '../../../test/support/fleet-rows/demo-fleet.ts';
import { type ExecuteOptions, type Kql, openKql } from '../../../test/support/kql/index.ts';
import { type Answer, answering } from './answer.ts';
import type { Answered } from './page.ts';
import type { Step } from './read-workbook.ts';
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

/** What every step shows of the demo fleet. Where a step lets choose an event, a reboot of several VMs is chosen. */
export function answerAll(steps: readonly Step[], { kql, tables, now }: DemoFleet): Answered[] {
  const choosing = steps.filter(({ content }) => content.exportParameterName === 'EventId');
  const before = answering(choosing, kql, { days, now, eventId: '' }, tables);
  const eventId = choosing.map(({ name, content }) => exported(content.exportFieldName ?? '', before(name)))[0] ?? '';
  const answerNamed = answering(steps, kql, { days, now, eventId }, tables);
  return steps.map((step) => ({ step, answer: answerNamed(step.name) }));
}

function exported(column: string, { rows }: Answer): string {
  const telling = rows.find(
    ({ EventType, Outcome, VMs }) => EventType === 'Reboot' && Outcome === 'Completed' && Number(VMs) > 1,
  );
  return String((telling ?? rows[0])?.[column] ?? '');
}
