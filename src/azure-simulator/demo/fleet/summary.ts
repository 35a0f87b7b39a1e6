import { plural } from '../figures.ts';
import { type Piece, piece, type Row } from '../picture/ink.ts';
import type { FleetShow } from './model.ts';
import type { FleetEventVerdict, FleetVerdict } from './verdict.ts';

/** What is printed when the show of a fleet is over. */
export function summarizeFleet({ events, onHub, inTable, complaints }: FleetVerdict, show: FleetShow): readonly Row[] {
  const issued = events.reduce((sum, { said }) => sum + said.length, 0);
  const copies = show.hub.copies + show.table.copies;
  const alike = Map.groupBy(events, ({ eventId: _, ...event }) => JSON.stringify(event));
  const rows = [...alike.values()].flatMap(([event, ...others]) => (event ? [eventRow(event, 1 + others.length)] : []));
  const agreement: readonly Row[] = [
    [
      piece('   They agree: ', 'ended'),
      piece(`${plural(onHub, 'record')} on the event hub, the same in the table, ${plural(copies, 'copy', 'copies')};`),
    ],
    [piece(`   folded to ${plural(issued, 'transition')}, which is what Azure issued.`)],
  ];
  return [
    [],
    [piece('   What Azure said                                    Folded     VMs complete', 'quiet')],
    ...rows,
    [],
    ...(complaints.length === 0
      ? agreement
      : [
          [piece(`   ${plural(onHub, 'record')} on the event hub, ${inTable} in the table.`)],
          ...complaints.map((complaint): Row => [piece(`   ${complaint}`, 'broken')]),
        ]),
    [],
  ];
}

/** Events of which everything is the same share a row: `5 x Reboot of 8 VMs`. */
function eventRow({ eventType, affected, said, folded, toldAll }: FleetEventVerdict, events: number): Row {
  const count = events === 1 ? '' : `${events} x `;
  return [
    piece(`   ${`${count}${eventType} of ${plural(affected, 'VM')}`.padEnd(22)}${said.join(', ').padEnd(29)}`),
    of(folded.length, said.length),
    of(toldAll, affected),
  ];
}

const of = (count: number, all: number): Piece =>
  piece(`${count} of ${all}`.padEnd(11), count === all ? 'ended' : 'broken');
