import type { Phase } from '../../../lifecycle/record.ts';
import { plural } from '../figures.ts';
import type { Destination } from '../model.ts';
import { join, type Piece, piece, type Row, toWidth, widthOf } from '../picture/ink.ts';
import type { FleetEvent, FleetShow } from './model.ts';

const widest = 118;
const labelColumns = 12;
const statusColumns = 24;

/** The fleet at one moment: a cell for each VM, in the order of its update domains. */
export function fleetFrame(
  show: FleetShow,
  now: number,
  columns: number,
  { vms, domains }: { readonly vms: readonly string[]; readonly domains: number },
): readonly Row[] {
  const width = Math.min(columns, widest);
  const cellColumns = width - labelColumns - statusColumns - 3;
  const laned = (label: string, cells: Row, status: Row): Row => [
    piece(` ${label.padEnd(labelColumns)}`, 'strong'),
    ...toWidth(cells, cellColumns),
    piece('  '),
    ...status,
  ];
  const ofDomain = (domain: number): readonly Row[] => {
    const names = vms.filter((_, number) => number % domains === domain);
    const lines = Math.ceil(names.length / cellColumns);
    return Array.from({ length: lines }, (_, line) => {
      const cells = names
        .slice(line * cellColumns, (line + 1) * cellColumns)
        .map((name) => cellOf(show.phases.get(name)));
      return laned(
        line === 0 ? `domain ${domain}` : '',
        join(cells),
        line === 0 ? domainStatus(show, names, domain) : [],
      );
    });
  };
  const rows: Row[] = [
    heading(show, now, width, vms.length),
    [],
    ...Array.from({ length: domains }, (_, domain) => ofDomain(domain)).flat(),
    [],
    laned('event hub', rate(show.hub, now, cellColumns), countOf(show.hub)),
    laned('table', rate(show.table, now, cellColumns), countOf(show.table)),
    laned(
      'folded',
      [piece('what all VMs said, one for each step', 'quiet')],
      [piece(plural(show.transitionIds.size, 'transition'))],
    ),
    [],
    legend,
  ];
  return rows.map((row) => toWidth(row, width));
}

function heading({ looking, incarnation }: FleetShow, now: number, width: number, vms: number): Row {
  const left = [piece(' Scheduled Events Bridge', 'strong'), piece(`  a scale set of ${vms} VMs`, 'quiet')];
  const right = [
    piece(looking < vms ? `${looking} bridges look` : `incarnation ${incarnation}`),
    piece(`   ${now.toFixed(0).padStart(3)} s `, 'strong'),
  ];
  return [...left, piece(' '.repeat(Math.max(1, width - widthOf(left) - widthOf(right)))), ...right];
}

const cells = {
  idle: piece('·', 'quiet'),
  scheduled: piece('○', 'scheduled'),
  started: piece('●', 'started'),
  over: piece('■', 'ended'),
} as const satisfies Record<string, Piece>;

function cellOf(phase: Phase | undefined): Piece {
  if (phase === undefined) return cells.idle;
  if (phase === 'Started') return cells.started;
  return phase === 'Completed' || phase === 'Canceled' || phase === 'Ended' ? cells.over : cells.scheduled;
}

/** `Started 38 of 40, 3 neighbours`: how many VMs of the domain have said the phase that the furthest of them has. */
function domainStatus({ events, phases }: FleetShow, names: readonly string[], domain: number): Row {
  const event = events[domain];
  const said = names.map((name) => phases.get(name)).filter((phase) => phase !== undefined);
  const furthest = order.findLast((phase) => said.includes(phase));
  if (event === undefined || furthest === undefined) return [];
  const { ink } = cellOf(furthest);
  const count = said.filter((phase) => phase === furthest).length;
  return [piece(furthest, ink), piece(` ${count} of ${names.length}${neighbours(event)}`, 'quiet')];
}

const order: readonly Phase[] = ['Scheduled', 'Started', 'Ended', 'Canceled', 'Completed'];
const neighbours = ({ fromNeighbours }: FleetEvent): string => (fromNeighbours === 0 ? '' : ` +${fromNeighbours}`);

const bars = '▁▂▃▄▅▆▇█';

/** Records a column over the whole time so far, the fullest column as high as a line is. */
function rate({ arrivals }: Destination, now: number, columns: number): Row {
  const seconds = Math.max(40, now);
  const counts = Array.from({ length: columns }, () => 0);
  for (const at of arrivals) {
    const column = Math.min(columns - 1, Math.floor((at / seconds) * columns));
    counts[column] = (counts[column] ?? 0) + 1;
  }
  const most = Math.max(1, ...counts);
  const bar = (count: number): Piece =>
    count === 0 ? piece(' ') : piece(bars[Math.ceil((count / most) * bars.length) - 1] ?? ' ', 'ended');
  return join(counts.map(bar));
}

const countOf = ({ recordIds, copies }: Destination): Row => [
  piece(plural(recordIds.length, 'record')),
  piece(copies === 0 ? '' : `, ${plural(copies, 'copy', 'copies')}`),
];

const legendOf: readonly (readonly [Piece, string])[] = [
  [cells.idle, 'nothing'],
  [cells.scheduled, 'scheduled'],
  [cells.started, 'started'],
  [cells.over, 'over'],
];
const legend: Row = [
  piece(' '),
  ...legendOf.flatMap(([cell, meaning]): Row => [cell, piece(` ${meaning}   `, 'quiet')]),
  piece('+3: told by 3 neighbours', 'quiet'),
];
