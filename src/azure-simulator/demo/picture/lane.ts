import type { Phase } from '../../../lifecycle/record.ts';
import type { Destination, EventLane, Show } from '../model.ts';
import type { BridgeState } from '../moment.ts';
import { type Ink, join, type Piece, piece, type Row } from './ink.ts';

/** The time line: its columns, and the seconds that they stand for. */
export interface Scale {
  readonly columns: number;
  readonly seconds: number;
}

/** Columns under the brush. What is outside of the time line is not drawn. */
interface Brush {
  line(from: number, until: number, character: string, ink: Ink): void;
  mark(at: number, character: string, ink: Ink): void;
  columnOf(at: number): number;
}

function draw({ columns, seconds }: Scale, paint: (brush: Brush) => void): Row {
  const cells: Piece[] = Array.from({ length: columns }, () => piece(' '));
  const columnOf = (at: number): number => Math.floor((at / seconds) * columns);
  const put = (column: number, character: string, ink: Ink): void => {
    if (column >= 0 && column < columns) cells[column] = piece(character, ink);
  };
  paint({
    columnOf,
    line(from, until, character, ink) {
      for (let column = columnOf(from); column <= columnOf(until); column += 1) put(column, character, ink);
    },
    mark: (at, character, ink) => put(columnOf(at), character, ink),
  });
  return join(cells);
}

/** Seconds above the lanes, as often as there is room for. */
export function axis(scale: Scale): Row {
  const texts = Array.from({ length: scale.columns }, () => ' ');
  const step = [5, 10, 30].find((each) => (each / scale.seconds) * scale.columns >= 6) ?? 60;
  for (let second = 0; second < scale.seconds; second += step) {
    const column = Math.floor((second / scale.seconds) * scale.columns);
    const label = `${second} s`;
    if (column + label.length <= scale.columns) texts.splice(column, label.length, ...label);
  }
  return [piece(texts.join(''), 'quiet')];
}

/** `●──┼──●━━━●`: announced, the time before which it does not start, started, gone; dotted: what is still to come. */
export function eventLane(event: EventLane, now: number, scale: Scale): Row {
  const { scheduledAt, startedAt, removedAt, notBefore } = event;
  return draw(scale, (brush) => {
    brush.line(scheduledAt, startedAt ?? removedAt ?? now, '─', 'scheduled');
    if (startedAt === null && removedAt === null && notBefore !== null) brush.line(now, notBefore, '┄', 'quiet');
    if (startedAt !== null) brush.line(startedAt, removedAt ?? now, '━', 'started');
    if (notBefore !== null && (removedAt === null || notBefore < removedAt)) brush.mark(notBefore, '┊', 'scheduled');
    brush.mark(scheduledAt, '●', startedAt === scheduledAt ? 'started' : 'scheduled');
    if (startedAt !== null) brush.mark(startedAt, '●', 'started');
    const isCanceled = event.phase === 'Canceled';
    if (removedAt !== null) brush.mark(removedAt, isCanceled ? '○' : '●', isCanceled ? 'canceled' : 'ended');
  });
}

/** How an event stands in this phase. */
export function inkOf(phase: Phase): Ink {
  if (phase === 'Started') return 'started';
  if (phase === 'Canceled') return 'canceled';
  return phase === 'Completed' || phase === 'Ended' ? 'ended' : 'scheduled';
}

const strokes: Readonly<Record<BridgeState, { readonly character: string; readonly ink: Ink }>> = {
  starting: { character: '╌', ink: 'quiet' },
  running: { character: '─', ink: 'ended' },
  frozen: { character: '▒', ink: 'frozen' },
  killed: { character: ' ', ink: 'plain' },
};

export function bridgeLane(states: Show['bridge'], now: number, scale: Scale): Row {
  return draw(scale, (brush) => {
    for (const [index, { state, from }] of states.entries()) {
      brush.line(from, states[index + 1]?.from ?? now, strokes[state].character, strokes[state].ink);
    }
    for (const { state, from } of states) if (state === 'killed') brush.mark(from, '✕', 'broken');
  });
}

/** A dot where something arrived, a number where several things did; what is struck out is an outage. */
export function arrivalLane({ arrivals }: Destination, outages: Show['outages'], now: number, scale: Scale): Row {
  return draw(scale, (brush) => {
    brush.line(0, now, '·', 'quiet');
    for (const { from, until } of outages) brush.line(from, until ?? now, '×', 'broken');
    for (const [column, ofColumn] of Map.groupBy(arrivals, brush.columnOf)) {
      const many = ofColumn.length > 9 ? '+' : String(ofColumn.length);
      brush.mark(((column + 0.5) / scale.columns) * scale.seconds, ofColumn.length === 1 ? '●' : many, 'ended');
    }
  });
}
