import type { Phase } from '../../lifecycle/record.ts';
import { join, plural, type Row, type Span, seconds, span, toWidth, widthOf } from '../../terminal/styled-text.ts';
import { arrivalLane, axis, bridgeLane, eventLane, type Scale, styleOf } from './lane.ts';
import { type Destination, isFleet, isPause, nameOf, type Show, type ShownEvent } from './model.ts';

const widest = 118;
const labelColumns = 11;
const statusColumns = 25;
/** Usual length of the show. The time line grows when it takes longer. */
const usualSeconds = 30;
const recordRows = 6;
/** Lanes that are kept free: the events of the show. */
const eventRows = 4;

/** The show at one moment. The picture keeps its height. */
export function frame(show: Show, now: number, columns: number): readonly Row[] {
  const width = Math.min(columns, widest);
  const body = isFleet(show) ? fleetRows : vmRows;
  const rows: readonly Row[] = [
    heading(show, now, width),
    [],
    ...body(show, now, width - labelColumns - statusColumns - 3),
  ];
  return rows.map((row) => toWidth(row, width));
}

function heading({ vms, polling, incarnation, events }: Show, now: number, width: number): Row {
  const listed = events.filter(({ removedAt }) => removedAt === null).length;
  const subject = vms.length > 1 ? `${vms.length} VMs` : 'demo';
  const left: Row = [span(' Scheduled Events Bridge', 'strong'), span(`  ${subject}`, 'quiet')];
  const right: Row = [
    ...(vms.length > 1 && polling < vms.length
      ? [span(`${polling} of ${vms.length} bridges polling`)]
      : [span('Azure: ', 'quiet'), span(`incarnation ${incarnation}, ${plural(listed, 'event')}`)]),
    span(`   ${now.toFixed(0).padStart(3)} s `, 'strong'),
  ];
  return [...left, span(' '.repeat(Math.max(1, width - widthOf(left) - widthOf(right)))), ...right];
}

const row = (label: string, lane: Row, status: Row): Row => [
  span(` ${label.padEnd(labelColumns)}`, 'strong'),
  ...lane,
  span('  '),
  ...toWidth(status, statusColumns),
];

const countOf = ({ recordIds, copies }: Destination): Row => {
  const records = plural(recordIds.length, 'record');
  return [span(copies === 0 ? records : `${records}, ${plural(copies, 'copy', 'copies')}`)];
};

/** One VM: a lane for each event, for the bridge and for what arrives, and the last records. */
function vmRows(show: Show, now: number, columns: number): readonly Row[] {
  const { events, bridge, hub, table, outages } = show;
  const scale: Scale = { columns, seconds: Math.max(usualSeconds, Math.ceil(now) + 1) };
  return [
    row('', axis(scale), []),
    ...events.map((event) => row(event.name, eventLane(event, now, scale), statusOf(event, now))),
    ...Array.from({ length: Math.max(0, eventRows - events.length) }, (): Row => []),
    [],
    row('bridge', bridgeLane(bridge, now, scale), bridgeStatus(show)),
    row('event hub', arrivalLane(hub, outages, now, scale), hubStatus(show)),
    row('table', arrivalLane(table, [], now, scale), countOf(table)),
    [],
    [span(' Read back from the event hub', 'quiet')],
    ...lastRecords(show),
    [],
    legendOf([
      [span('──', 'scheduled'), 'scheduled'],
      [span('━━', 'started'), 'started'],
      [span('┊', 'scheduled'), 'not before'],
      [span('▒▒', 'frozen'), 'frozen'],
      [span('✕', 'broken'), 'kill -9'],
      [span('×', 'broken'), 'hub down'],
    ]),
  ];
}

/** `Scheduled in 4 s`, and what was measured once it is known. */
function statusOf(event: ShownEvent, now: number): Row {
  const { phase, notBefore, observedPauseMs, noticeSeconds, eventType, removedAt, startedAt } = event;
  if (phase === null) return [span('announced', 'quiet')];
  const status = span(phase, styleOf(phase));
  if (removedAt === null && startedAt === null && notBefore !== null) {
    const left = Math.max(0, notBefore - now);
    return [status, span(` in ${left < 100 ? `${left.toFixed(0)} s` : `${(left / 60).toFixed(0)} min`}`, 'quiet')];
  }
  if (isPause(observedPauseMs)) return [status, span(` paused ${seconds(observedPauseMs / 1000)}`, 'frozen')];
  if (phase !== 'Scheduled' && noticeSeconds !== null && eventType !== 'Freeze') {
    return [status, span(` notice ${seconds(noticeSeconds)}`, 'quiet')];
  }
  return [status];
}

function bridgeStatus({ bridge, pending }: Show): Row {
  const state = bridge.at(-1)?.state ?? 'starting';
  const wasKilled = bridge.some((one) => one.state === 'killed');
  const words = {
    starting: span(wasKilled ? 'restarting' : 'starting', 'quiet'),
    running: span(wasKilled ? 'running again' : 'running', 'ended'),
    frozen: span('frozen by SIGSTOP', 'frozen'),
    killed: span('kill -9', 'broken'),
  } as const;
  return pending === 0 ? [words[state]] : [words[state], span(', '), span(`${pending} pending`, 'scheduled')];
}

function hubStatus({ hub, outages }: Show): Row {
  const isDown = outages.some(({ until }) => until === null);
  return isDown ? [...countOf(hub), span(', '), span('down', 'broken')] : countOf(hub);
}

function lastRecords({ records, events }: Show): readonly Row[] {
  const rows = records
    .slice(-recordRows)
    .map(
      ({ at, record: { eventId, eventType, phase, evidence } }): Row => [
        span(`${at.toFixed(1).padStart(6)} s  `, 'quiet'),
        span(nameOf(events, eventId, eventType).padEnd(10)),
        span(phase.padEnd(11), styleOf(phase)),
        span(evidence.join(', '), 'quiet'),
      ],
    );
  return [...rows, ...Array.from({ length: recordRows - rows.length }, (): Row => [])];
}

/** A fleet: a cell for each VM, in the order of its update domains, and how many records arrive over time. */
function fleetRows(show: Show, now: number, columns: number): readonly Row[] {
  const { domains, hub, table, transitionIds } = show;
  return [
    ...Array.from({ length: domains }, (_, domain) => domainRows(show, domain, columns)).flat(),
    [],
    row('event hub', rate(hub, now, columns), countOf(hub)),
    row('table', rate(table, now, columns), countOf(table)),
    row('folded', toWidth([span('one per step, whichever VM reported it', 'quiet')], columns), [
      span(plural(transitionIds.size, 'transition')),
    ]),
    [],
    legendOf([
      [cells.none, 'no event'],
      [cells.scheduled, 'scheduled'],
      [cells.started, 'started'],
      [cells.ended, 'ended'],
      [span('+3'), 'records of other VMs'],
    ]),
  ];
}

const cells = {
  none: span('·', 'quiet'),
  scheduled: span('○', 'scheduled'),
  started: span('●', 'started'),
  ended: span('■', 'ended'),
} as const satisfies Record<string, Span>;

function cellOf(phase: Phase | undefined): Span {
  if (phase === undefined) return cells.none;
  if (phase === 'Started') return cells.started;
  return phase === 'Completed' || phase === 'Canceled' || phase === 'Ended' ? cells.ended : cells.scheduled;
}

function domainRows(show: Show, domain: number, columns: number): readonly Row[] {
  const names = show.vms.filter((_, number) => number % show.domains === domain);
  return Array.from({ length: Math.ceil(names.length / columns) }, (_, line) => {
    const shown = names.slice(line * columns, (line + 1) * columns).map((name) => cellOf(show.phases.get(name)));
    const isFirst = line === 0;
    return row(
      isFirst ? `domain ${domain}` : '',
      toWidth(join(shown), columns),
      isFirst ? domainStatus(show, names, domain) : [],
    );
  });
}

const order: readonly Phase[] = ['Scheduled', 'Started', 'Ended', 'Canceled', 'Completed'];

/** `Started 38 of 40 +3`: how many VMs of the domain have reported the phase that the furthest of them has. */
function domainStatus({ events, phases }: Show, names: readonly string[], domain: number): Row {
  const event = events[domain];
  const reported = names.map((name) => phases.get(name)).filter((phase) => phase !== undefined);
  const furthest = order.findLast((phase) => reported.includes(phase));
  if (event === undefined || furthest === undefined) return [];
  const count = reported.filter((phase) => phase === furthest).length;
  const others = event.fromOthers === 0 ? '' : ` +${event.fromOthers}`;
  return [span(furthest, cellOf(furthest).style), span(` ${count} of ${names.length}${others}`, 'quiet')];
}

const bars = '▁▂▃▄▅▆▇█';

/** Records per column over the whole time so far; the fullest column is as high as a line. */
function rate({ arrivals }: Destination, now: number, columns: number): Row {
  const length = Math.max(40, now);
  const counts = Array.from({ length: columns }, () => 0);
  for (const at of arrivals) {
    const column = Math.min(columns - 1, Math.floor((at / length) * columns));
    counts[column] = (counts[column] ?? 0) + 1;
  }
  const most = Math.max(1, ...counts);
  const bar = (count: number): Span =>
    count === 0 ? span(' ') : span(bars[Math.ceil((count / most) * bars.length) - 1] ?? ' ', 'ended');
  return join(counts.map(bar));
}

const legendOf = (entries: readonly (readonly [Span, string])[]): Row => [
  span(' '),
  ...entries.flatMap(([mark, meaning]): Row => [mark, span(` ${meaning}  `, 'quiet')]),
];
