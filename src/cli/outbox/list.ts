import type { DeliveryList, DeliveryRow } from '../../outbox/list-deliveries.ts';
import { version } from '../../process/version.ts';
import { aligned, plain } from './plain.ts';

/** Deliveries in a table, newest last, each with what it failed of; then how many there are beside them. */
export function listPage({ rows, total }: DeliveryList): string {
  if (total === 0) return 'No records.\n';
  const table = aligned([head, ...rows.map(cells)], [0, 6]);
  const left = total - rows.length;
  return left <= 0
    ? table
    : `${table}${left} older ${left === 1 ? 'one is' : 'ones are'} not shown: --limit shows more.\n`;
}

/** The version of the JSON; it grows when a field is removed. */
const listVersion = 1;

/** The same as one line of JSON; `total` counts those beside the limit too. */
export const listJson = ({ rows, total }: DeliveryList, at: Date): string =>
  `${JSON.stringify({ listVersion, bridgeVersion: version, at: at.toISOString(), total, entries: rows })}\n`;

const head = ['POSITION', 'SINK', 'STATE', 'PHASE', 'OBSERVED AT', 'EVENT', 'FAILED TRIES', 'WHY'];

const cells = ({
  position,
  sink,
  state,
  phase,
  observedAt,
  eventKey,
  attempts,
  code,
  reason,
}: DeliveryRow): string[] => [
  String(position),
  plain(sink),
  state,
  plain(phase),
  plain(observedAt),
  plain(eventKey),
  String(attempts),
  code === null ? '-' : plain(`${code}: ${reason ?? ''}`),
];
