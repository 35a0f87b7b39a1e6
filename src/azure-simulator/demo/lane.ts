import type { Phase } from '../../lifecycle/record.ts';
import { join, type Row, type Span, type Style, span } from '../../terminal/styled-text.ts';
import type { BridgeState, Destination, Show, ShownEvent } from './model.ts';

/** The time line: its columns, and the seconds that they represent. */
export interface Scale {
  readonly columns: number;
  readonly seconds: number;
}

/** Draws on the time line. What is outside of it is left out. */
interface Canvas {
  line(from: number, until: number, character: string, style: Style): void;
  mark(at: number, character: string, style: Style): void;
  columnOf(at: number): number;
}

function draw({ columns, seconds }: Scale, paint: (canvas: Canvas) => void): Row {
  const cells: Span[] = Array.from({ length: columns }, () => span(' '));
  const columnOf = (at: number): number => Math.floor((at / seconds) * columns);
  const put = (column: number, character: string, style: Style): void => {
    if (column >= 0 && column < columns) cells[column] = span(character, style);
  };
  paint({
    columnOf,
    line(from, until, character, style) {
      for (let column = columnOf(from); column <= columnOf(until); column += 1) put(column, character, style);
    },
    mark: (at, character, style) => put(columnOf(at), character, style),
  });
  return join(cells);
}

/** Seconds above the lanes, as many as fit. */
export function axis(scale: Scale): Row {
  const texts = Array.from({ length: scale.columns }, () => ' ');
  const step = [5, 10, 30].find((each) => (each / scale.seconds) * scale.columns >= 6) ?? 60;
  for (let second = 0; second < scale.seconds; second += step) {
    const column = Math.floor((second / scale.seconds) * scale.columns);
    const label = `${second} s`;
    if (column + label.length <= scale.columns) texts.splice(column, label.length, ...label);
  }
  return [span(texts.join(''), 'quiet')];
}

/** `●──┼──●━━━●`: announced, NotBefore, started, removed; dotted: the time until NotBefore. */
export function eventLane(event: ShownEvent, now: number, scale: Scale): Row {
  const { scheduledAt, startedAt, removedAt, notBefore } = event;
  return draw(scale, (canvas) => {
    canvas.line(scheduledAt, startedAt ?? removedAt ?? now, '─', 'scheduled');
    if (startedAt === null && removedAt === null && notBefore !== null) canvas.line(now, notBefore, '┄', 'quiet');
    if (startedAt !== null) canvas.line(startedAt, removedAt ?? now, '━', 'started');
    if (notBefore !== null && (removedAt === null || notBefore < removedAt)) canvas.mark(notBefore, '┊', 'scheduled');
    canvas.mark(scheduledAt, '●', startedAt === scheduledAt ? 'started' : 'scheduled');
    if (startedAt !== null) canvas.mark(startedAt, '●', 'started');
    const isCanceled = event.phase === 'Canceled';
    if (removedAt !== null) canvas.mark(removedAt, isCanceled ? '○' : '●', isCanceled ? 'canceled' : 'ended');
  });
}

/** How a phase is shown. */
export function styleOf(phase: Phase): Style {
  if (phase === 'Started') return 'started';
  if (phase === 'Canceled') return 'canceled';
  return phase === 'Completed' || phase === 'Ended' ? 'ended' : 'scheduled';
}

const strokes: Readonly<Record<BridgeState, { readonly character: string; readonly style: Style }>> = {
  starting: { character: '╌', style: 'quiet' },
  running: { character: '─', style: 'ended' },
  frozen: { character: '▒', style: 'frozen' },
  killed: { character: ' ', style: 'plain' },
};

export function bridgeLane(states: Show['bridge'], now: number, scale: Scale): Row {
  return draw(scale, (canvas) => {
    for (const [index, { state, from }] of states.entries()) {
      canvas.line(from, states[index + 1]?.from ?? now, strokes[state].character, strokes[state].style);
    }
    for (const { state, from } of states) if (state === 'killed') canvas.mark(from, '✕', 'broken');
  });
}

/** A dot per arrival, a number where several share a column, crosses during an outage. */
export function arrivalLane({ arrivals }: Destination, outages: Show['outages'], now: number, scale: Scale): Row {
  return draw(scale, (canvas) => {
    canvas.line(0, now, '·', 'quiet');
    for (const { from, until } of outages) canvas.line(from, until ?? now, '×', 'broken');
    for (const [column, ofColumn] of Map.groupBy(arrivals, canvas.columnOf)) {
      const many = ofColumn.length > 9 ? '+' : String(ofColumn.length);
      canvas.mark(((column + 0.5) / scale.columns) * scale.seconds, ofColumn.length === 1 ? '●' : many, 'ended');
    }
  });
}
