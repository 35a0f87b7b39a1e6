import type {
  CapacityGroup,
  EventSummary,
  Measured,
  OpenEvent,
  PageView,
  PastEvent,
  StepSeries,
  Tile,
} from '../answers.ts';
import { clockOf, durationOf, momentOf } from '../time.ts';
import { type Child, type Column, html, svg, table } from './elements.ts';

/** What a section needs beside its data. */
export interface SectionContext {
  readonly now: number;
  /** Why there is nothing to show. */
  why(sentence: string): string;
  open(eventId: string): void;
}

const none = (text: string): HTMLElement => html('p', { class: 'none' }, text);
const rest = (shown: number, total: number, what: string): HTMLElement | null =>
  total > shown
    ? html('p', { class: 'note' }, `The first ${shown} of ${total} ${what}. Use the filters to see others.`)
    : null;

/** A figure that counts: updated every second by what `tick` finds. */
const countdown = (at: number): HTMLElement => html('span', { class: 'countdown', 'data-at': at });

const typed = (eventType: string): HTMLElement =>
  html('span', { class: `type type-${eventType.toLowerCase().replaceAll(/[^a-z]/g, '')}` }, eventType);

function eventButton({ eventId, eventType, isTest }: EventSummary, { open }: SectionContext): HTMLElement {
  return html(
    'button',
    { type: 'button', class: 'link', 'data-key': eventId, click: () => open(eventId), title: `Trace of ${eventId}` },
    typed(eventType),
    isTest ? ' (test)' : null,
  );
}

function vmsOf({ vms, vmCount, unnamedVms }: EventSummary): HTMLElement {
  const more = vmCount - vms.length;
  return html(
    'span',
    { class: 'vms' },
    vms.join(', '),
    more > 0 ? html('span', { class: 'more' }, ` and ${more} more`) : null,
    unnamedVms > 0 ? html('span', { class: 'more' }, ` and ${unnamedVms} that no record names`) : null,
  );
}

const lines = (first: HTMLElement | string, second: HTMLElement | string): HTMLElement =>
  html('div', {}, first, html('div', { class: 'second' }, second));

const expectationOf = ({ eventSource, expectedSeconds }: OpenEvent): string =>
  `by ${eventSource}${expectedSeconds === null ? '' : `, expected\u00a0${durationOf(expectedSeconds).replaceAll(' ', '\u00a0')}`}`;

const shownPlaces = 3;

function whereOf({ sets, places }: EventSummary): string {
  const more = places.length > shownPlaces ? ' …' : '';
  const domains = places.length === 0 ? '' : `${places.slice(0, shownPlaces).join(', ')}${more}`;
  return [sets.join(', '), domains].filter((part) => part !== '').join(' · ') || 'place unknown';
}

const moment = (at: number | null, now: number): HTMLElement | string =>
  at === null
    ? '–'
    : html('time', { datetime: new Date(at).toISOString(), title: new Date(at).toLocaleString() }, momentOf(at, now));

const start = (at: number | null, isSeen: boolean, now: number): HTMLElement | string =>
  isSeen || at === null ? moment(at, now) : html('span', {}, moment(at, now), ' or earlier');

const measured = (measurement: Measured | null, unitSeconds: number): string =>
  measurement === null
    ? 'not measured'
    : `${durationOf(measurement.value * unitSeconds)}${measurement.isAmbiguous ? ', perhaps of another event' : ''}`;

export function tilesOf(tiles: readonly Tile[]): readonly Child[] {
  return tiles.map(({ name, meaning, vms, urgency }) =>
    html(
      'li',
      { class: `tile ${urgency}` },
      html('strong', {}, String(vms)),
      html('span', { class: 'name' }, name),
      html('span', { class: 'meaning' }, meaning),
    ),
  );
}

export function openOf({ rows, total }: PageView['open'], context: SectionContext): readonly Child[] {
  if (rows.length === 0) return [none(context.why('No event is announced or in progress'))];
  const columns: readonly Column<OpenEvent>[] = [
    { label: 'State', cell: ({ state }) => html('span', { class: `state ${state.replaceAll(' ', '-')}` }, state) },
    { label: 'Event', cell: (row) => lines(eventButton(row, context), expectationOf(row)) },
    {
      label: 'Time left · not before',
      cell: ({ startedAt, notBefore, isStartSeen, silentSince }) => {
        if (silentSince !== null)
          return lines(html('span', {}, 'last reported ', countdown(silentSince)), moment(silentSince, context.now));
        if (startedAt !== null)
          return lines(html('span', {}, 'started ', countdown(startedAt)), start(startedAt, isStartSeen, context.now));
        if (notBefore === null) return lines('unknown', 'at any moment');
        return lines(countdown(notBefore), moment(notBefore, context.now));
      },
    },
    { label: 'VM · scale set · zone/fault domain', cell: (row) => lines(vmsOf(row), whereOf(row)) },
  ];
  return [table('Upcoming and in progress', columns, rows), rest(rows.length, total, 'events')];
}

export function pastOf({ rows, total }: PageView['past'], context: SectionContext): readonly Child[] {
  if (rows.length === 0) return [none(context.why('No event ended in this time'))];
  const columns: readonly Column<PastEvent>[] = [
    { label: 'Ended', cell: ({ endedAt }) => moment(endedAt, context.now) },
    { label: 'Event', cell: (row) => eventButton(row, context) },
    { label: 'Outcome', cell: ({ outcome }) => outcome ?? html('em', {}, 'presumed') },
    { label: 'VM', cell: vmsOf },
    { label: 'Scale set', cell: ({ sets }) => sets.join(', ') || '–' },
    { label: 'Announced', cell: ({ announcedAt }) => moment(announcedAt, context.now) },
    { label: 'Started', cell: ({ startedAt, isStartSeen }) => start(startedAt, isStartSeen, context.now) },
    {
      label: 'Down, longest',
      isNumber: true,
      cell: ({ downSeconds }) => measured(downSeconds, 1),
    },
    {
      label: 'Paused, longest',
      isNumber: true,
      cell: ({ pausedMs }) => measured(pausedMs, 0.001),
    },
    { label: 'By', cell: ({ eventSource }) => eventSource },
  ];
  return [table('Events that ended', columns, rows), rest(rows.length, total, 'events')];
}

export function calendarOf({ columns, rows }: PageView['calendar'], context: SectionContext): readonly Child[] {
  if (rows.length === 0) return [none(context.why('No event is announced'))];
  const cells = (index: number): Column<(typeof rows)[number]> => ({
    label: columns[index] ?? '',
    cell: ({ name, cells: all }) =>
      html(
        'div',
        { class: 'entries' },
        ...(all[index] ?? []).map(({ time, label, eventType, eventId }) =>
          html(
            'button',
            {
              type: 'button',
              class: `entry type-${eventType.toLowerCase()}`,
              'data-key': `${name} ${index} ${time} ${eventType}`,
              click: () => context.open(eventId),
            },
            html('span', {}, time),
            ` ${label}`,
          ),
        ),
      ),
  });
  const used = columns
    .map((_, index) => index)
    .filter(
      (index) =>
        (index > 0 && index < columns.length - 1) || rows.some(({ cells: all }) => (all[index] ?? []).length > 0),
    );
  const name: Column<(typeof rows)[number]> = { label: 'Scale set or VM', cell: (row) => html('strong', {}, row.name) };
  return [table('Announced events by day', [name, ...used.map(cells)], rows)];
}

const chart = { width: 300, height: 44 } as const;

export function capacityOf({ capacity, now, swimlanes: { from, to } }: PageView): readonly Child[] {
  return capacity.map(({ by, groups, total, unplacedVms }) =>
    html(
      'div',
      { class: 'panel' },
      html('h3', {}, by),
      groups.length === 0 ? none('In this time, Azure was at work on no VM whose place is known.') : null,
      ...groups.map((group) => capacityRow(group, from, to)),
      groups.length === 0
        ? null
        : html('p', { class: 'axis' }, html('span', {}, momentOf(from, now)), html('span', {}, momentOf(to, now))),
      rest(groups.length, total, 'groups'),
      unplacedVms > 0
        ? html('p', { class: 'note' }, `Not counted here: ${unplacedVms} VMs in progress whose place is unknown.`)
        : null,
    ),
  );
}

function capacityRow({ name, knownVms, down, inProgress }: CapacityGroup, from: number, to: number): HTMLElement {
  const most = Math.max(1, down.most, inProgress.most);
  const text =
    down.mostAt === null
      ? `none measured down; ${inProgress.most} of ${knownVms} known in progress at once`
      : `${down.most} of ${knownVms} known down at once at ${clockOf(down.mostAt)}, if outages began with their event; ${inProgress.most} in progress`;
  const area = (series: StepSeries): string => stepArea(series, { from, to, most });
  return html(
    'div',
    { class: 'group' },
    html('h4', {}, name),
    html('p', {}, text),
    svg(
      'svg',
      {
        class: 'step-chart',
        viewBox: `0 0 ${chart.width} ${chart.height}`,
        preserveAspectRatio: 'none',
        'aria-hidden': true,
      },
      svg('path', { class: 'progress', fill: 'url(#hatch)', d: area(inProgress) }),
      svg('path', { class: 'down', d: area(down) }),
      svg('path', { class: 'base', d: `M0 ${chart.height - 0.5}h${chart.width}` }),
    ),
  );
}

function stepArea(
  { steps }: StepSeries,
  { from, to, most }: { readonly from: number; readonly to: number; readonly most: number },
): string {
  const x = (at: number): string => (Math.min(1, Math.max(0, (at - from) / (to - from))) * chart.width).toFixed(1);
  const y = (vms: number): string => (chart.height * (1 - vms / most)).toFixed(1);
  const parts = steps.map(([at, vms]) => `H${x(at)}V${y(vms)}`);
  return `M0 ${chart.height}${parts.join('')}H${chart.width}V${chart.height}z`;
}
