import { plural } from '../figures.ts';
import type { FleetShow } from './model.ts';
import type { FleetMoment } from './moment.ts';

/** The show of a fleet as lines, for what is no terminal: what Azure does, and what has arrived by then. Null: not worth a line. */
export function fleetPlainLine(
  moment: FleetMoment,
  { hub, table, transitionIds }: FleetShow,
  vms: number,
): string | null {
  const at = `${moment.at.toFixed(1).padStart(6)} s  `;
  if (moment.kind === 'looking') return moment.vms === vms ? `${at}${plural(vms, 'bridge')} look` : null;
  if (moment.kind !== 'azure') return null;
  const arrived = `so far ${plural(hub.recordIds.length, 'record')} on the event hub, ${table.recordIds.length} in the table, ${plural(transitionIds.size, 'transition')}`;
  return `${at}Azure: ${moment.eventType} of ${plural(moment.resources.length, 'VM')} ${moment.step}; ${arrived}`;
}
