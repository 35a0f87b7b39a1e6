import type { SwimlaneEvent, SwimlaneRow, Swimlanes } from '../answers.ts';
import { type BarKind, laneAt, layOut, type MarkKind, type SwimlaneLayout } from '../swimlane-layout.ts';
import { clockOf, durationOf, momentOf } from '../time.ts';
import { byId, html, replace, svg } from './elements.ts';

const kinds: readonly (readonly [BarKind | MarkKind, string])[] = [
  ['planned', 'announced, still to come'],
  ['announced', 'announced'],
  ['progress', 'in progress (Azure at work)'],
  ['down', 'down, measured by the VM'],
  ['paused', 'paused, measured (its moment within the event is unknown)'],
  ['canceled', 'canceled'],
  ['presumed', 'presumed to have ended'],
];
const hint =
  'Point at a lane, or move through the lanes with the arrow keys; a click or Enter opens the trace of the event.';
const legendBar = { x: 0, y: 3, width: 22 } as const;
const legendHeight: Readonly<Record<string, number>> = { announced: 5, planned: 5, progress: 8, down: 12 };

interface Drawn {
  readonly data: Swimlanes;
  readonly now: number;
  readonly layout: SwimlaneLayout;
}

/** The swimlanes: a picture of paths whose number does not grow with the fleet, and one lane that is chosen by mouse or keys. */
export class SwimlaneChart {
  readonly #root = byId('swimlanes');
  readonly #info = byId('lane-info');
  readonly #open: (eventId: string) => void;
  #drawn: Drawn | null = null;
  /** Chosen by keys. */
  #chosen = { row: 0, lane: 0 };

  constructor(open: (eventId: string) => void) {
    this.#open = open;
    byId('legend').append(...kinds.map(([kind, text]) => html('li', {}, legendMark(kind), text)));
    this.#root.addEventListener('mousemove', (event) => this.#point(event));
    this.#root.addEventListener('mouseleave', () => this.#describe(null));
    this.#root.addEventListener('click', (event) => {
      const found = this.#at(event);
      if (found !== null) this.#open(found.lane.eventId);
    });
    this.#root.addEventListener('keydown', (event) => this.#key(event));
    new ResizeObserver(() => this.#drawn && this.draw(this.#drawn.data, this.#drawn.now)).observe(this.#root);
  }

  draw(data: Swimlanes, now: number): void {
    const { rows, totalVms } = data;
    byId('swimlanes-note').textContent =
      rows.length < totalVms
        ? `${rows.length} of ${totalVms} VMs with an event in this time: use the filters to see others`
        : `${totalVms} ${totalVms === 1 ? 'VM' : 'VMs'} with an event in this time, by scale set and fault domain`;
    const layout = layOut(data, { width: Math.max(280, Math.floor(this.#root.clientWidth)), now });
    this.#drawn = { data, now, layout };
    replace(
      this.#root,
      rows.length === 0 ? html('p', { class: 'none' }, 'No event in this time.') : picture(layout, summaryOf(data)),
    );
    if (this.#info.textContent === '') this.#describe(null);
    this.#choose();
  }

  #at(event: MouseEvent): ReturnType<typeof laneAt> {
    const box = this.#root.querySelector('svg')?.getBoundingClientRect();
    if (this.#drawn === null || box === undefined) return null;
    const { data, layout, now } = this.#drawn;
    return laneAt(layout, data, { x: event.clientX - box.left, y: event.clientY - box.top, now });
  }

  #point(event: MouseEvent): void {
    const found = this.#at(event);
    this.#describe(found);
    this.#mark(found?.index ?? null);
  }

  #describe(found: { readonly row: SwimlaneRow; readonly lane: SwimlaneEvent } | null): void {
    const text = found === null || this.#drawn === null ? hint : sentenceOf(found.row, found.lane, this.#drawn.now);
    if (this.#info.textContent !== text) this.#info.textContent = text;
    this.#info.classList.toggle('hint', text === hint);
  }

  #mark(index: number | null): void {
    const mark = this.#root.querySelector('.chosen');
    const layout = this.#drawn?.layout;
    if (mark === null || layout === undefined) return;
    const height = index === null ? 0 : Math.max(3, layout.rowHeight);
    mark.setAttribute('y', String((layout.tops[index ?? 0] ?? 0) + layout.rowHeight / 2 - height / 2));
    mark.setAttribute('height', String(height));
  }

  #key(event: KeyboardEvent): void {
    const rows = this.#drawn?.data.rows ?? [];
    const lanes = rows[this.#chosen.row]?.lanes ?? [];
    const { row, lane } = this.#chosen;
    const moves: Readonly<Record<string, () => { row: number; lane: number }>> = {
      ArrowDown: () => ({ row: Math.min(rows.length - 1, row + 1), lane: 0 }),
      ArrowUp: () => ({ row: Math.max(0, row - 1), lane: 0 }),
      PageDown: () => ({ row: Math.min(rows.length - 1, row + 20), lane: 0 }),
      PageUp: () => ({ row: Math.max(0, row - 20), lane: 0 }),
      ArrowRight: () => ({ row, lane: Math.min(lanes.length - 1, lane + 1) }),
      ArrowLeft: () => ({ row, lane: Math.max(0, lane - 1) }),
      Home: () => ({ row: 0, lane: 0 }),
      End: () => ({ row: rows.length - 1, lane: 0 }),
    };
    const chosen = lanes[lane];
    if (event.key === 'Enter' && chosen !== undefined) this.#open(chosen.eventId);
    else if (moves[event.key] !== undefined) this.#chosen = moves[event.key]?.() ?? this.#chosen;
    else return;
    event.preventDefault();
    this.#choose();
  }

  /** Shows the lane that the keys have chosen, while the picture has the focus. */
  #choose(): void {
    if (this.#root.querySelector('svg') !== document.activeElement) return;
    const row = this.#drawn?.data.rows[this.#chosen.row];
    const lane = row?.lanes[this.#chosen.lane];
    this.#describe(row === undefined || lane === undefined ? null : { row, lane });
    this.#mark(row === undefined ? null : this.#chosen.row);
  }
}

function picture(
  { width, height, left, sets, labels, ticks, nowX, paths }: SwimlaneLayout,
  summary: string,
): SVGElement {
  return svg(
    'svg',
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      tabindex: 0,
      role: 'application',
      'aria-roledescription': 'swimlanes',
      'aria-label': summary,
      'data-key': 'swimlanes',
    },
    hatch(),
    ...ticks.map(({ x, isDay }) => svg('path', { class: isDay ? 'grid day' : 'grid', d: `M${x} 18V${height - 20}` })),
    ...ticks.flatMap(({ x, text, isDay }) => {
      const anchor = x > width - 20 ? 'end' : 'middle';
      // The word `now` is at the bottom.
      const isCovered = nowX !== null && Math.abs(nowX - x) < 32;
      return (isCovered ? [12] : [12, height - 6]).map((y) =>
        svg('text', { x, y, class: isDay ? 'tick day' : 'tick', 'text-anchor': anchor }, text),
      );
    }),
    ...sets.map(({ y, text }) => svg('text', { x: 0, y, class: 'set' }, text)),
    ...labels.map(({ y, text }) => svg('text', { x: left - 8, y: y + 3.5, class: 'vm', 'text-anchor': 'end' }, text)),
    svg('rect', { class: 'chosen', x: left, width: width - left, y: 0, height: 0 }),
    ...kinds.map(([kind]) => svg('path', { class: kind, d: paths[kind], fill: fillOf(kind) })),
    nowX === null ? null : svg('path', { class: 'now', d: `M${nowX} 16V${height - 18}` }),
    nowX === null ? null : svg('text', { class: 'now-label', x: nowX, y: height - 6, 'text-anchor': 'middle' }, 'now'),
  );
}

const fillOf = (kind: BarKind | MarkKind): string | null => (kind === 'progress' ? 'url(#hatch)' : null);

function hatch(): SVGElement {
  return svg(
    'defs',
    {},
    svg(
      'pattern',
      { id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
      svg('rect', { width: 6, height: 6, class: 'hatch-ground' }),
      svg('rect', { width: 2, height: 6, class: 'hatch-line' }),
    ),
  );
}

function legendMark(kind: BarKind | MarkKind): SVGElement {
  const height = legendHeight[kind];
  const marks: Readonly<Record<string, string>> = {
    paused: 'M11 3l5 5l-5 5l-5 -5z',
    canceled: 'M7 4l8 8m0 -8l-8 8',
    presumed: 'M9 3v10m4 -10v10',
  };
  const d =
    height === undefined
      ? (marks[kind] ?? '')
      : `M${legendBar.x} ${8 - height / 2}h${legendBar.width}v${height}h${-legendBar.width}z`;
  return svg(
    'svg',
    { width: 22, height: 16, 'aria-hidden': true },
    svg('path', { class: kind, d, fill: fillOf(kind) }),
  );
}

function summaryOf({ rows, from, to }: Swimlanes): string {
  const down = rows.filter(({ lanes }) => lanes.some((lane) => lane.down !== null)).length;
  const span = `${new Date(from).toISOString().slice(0, 16)} to ${new Date(to).toISOString().slice(0, 16)} UTC`;
  return `Swimlanes of ${rows.length} VMs, ${span}; ${down} measured that they were down. Arrow keys choose a VM and an event, Enter opens its trace.`;
}

/** Only what is known, and how it is known. */
function sentenceOf({ name, set, place }: SwimlaneRow, lane: SwimlaneEvent, now: number): string {
  const {
    eventType,
    announcedAt,
    notBefore,
    startedAt,
    isStartSeen,
    overAt,
    outcome,
    down,
    pausedMs,
    isAmbiguous,
    isOwn,
  } = lane;
  const open = lane.silentSince === null ? 'open' : `nothing reported since ${momentOf(lane.silentSince, now)}`;
  const measured = isAmbiguous ? 'measured, perhaps of another event' : 'measured';
  const where = [set, place && `zone/fault domain ${place}`].filter(Boolean).join(', ');
  const parts = [
    announcedAt === null ? null : `announced ${momentOf(announcedAt, now)}`,
    notBefore === null ? null : `not before ${momentOf(notBefore, now)}`,
    startedAt === null ? null : `started ${isStartSeen ? '' : 'at the latest '}${momentOf(startedAt, now)}`,
    down === null ? null : `down ${durationOf((down[1] - down[0]) / 1000)}, ${measured}`,
    pausedMs === null ? null : `paused ${durationOf(pausedMs / 1000)}, ${measured}`,
    overAt === null ? open : `${outcome ?? 'presumed to have ended'} ${clockOf(overAt)}`,
    isOwn ? null : 'no report of its own, so nothing is measured',
  ];
  return `${name}${where === '' ? '' : ` (${where})`}: ${eventType}, ${parts.filter((part) => part !== null).join(', ')}`;
}
