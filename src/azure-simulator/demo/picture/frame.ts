import { plural, seconds, wasFelt } from '../figures.ts';
import { type Destination, type EventLane, nameOf, type Show } from '../model.ts';
import { piece, type Row, toWidth, widthOf } from './ink.ts';
import { arrivalLane, axis, bridgeLane, eventLane, inkOf, type Scale } from './lane.ts';

const widest = 118;
const labelColumns = 11;
const statusColumns = 25;
/** The show is about so long; the time line grows when it takes longer. */
const usualSeconds = 30;
const recordRows = 6;
/** Lanes to keep room for: the events of the show. */
const eventRows = 4;

/** The show at one moment; the picture keeps its height. */
export function frame(show: Show, now: number, columns: number): readonly Row[] {
  const width = Math.min(columns, widest);
  const scale: Scale = {
    columns: width - labelColumns - statusColumns - 3,
    seconds: Math.max(usualSeconds, Math.ceil(now) + 1),
  };
  const laned = (label: Row, lane: Row, status: Row): Row =>
    toWidth(
      [piece(' '), ...toWidth(label, labelColumns), ...lane, piece('  '), ...toWidth(status, statusColumns)],
      width,
    );
  const events = show.events.map((event) =>
    laned([piece(event.name, 'strong')], eventLane(event, now, scale), statusOf(event, now)),
  );
  const rows: Row[] = [
    heading(show, now, width),
    [],
    laned([], axis(scale), []),
    ...events,
    ...Array.from({ length: Math.max(0, eventRows - events.length) }, (): Row => []),
    [],
    laned([piece('bridge', 'strong')], bridgeLane(show.bridge, now, scale), bridgeStatus(show)),
    laned([piece('event hub', 'strong')], arrivalLane(show.hub, show.outages, now, scale), hubStatus(show)),
    laned([piece('table', 'strong')], arrivalLane(show.table, [], now, scale), countOf(show.table)),
    [],
    [piece(' Read back from the event hub', 'quiet')],
    ...lastRecords(show),
    [],
    legend,
  ];
  return rows.map((row) => toWidth(row, width));
}

function heading({ incarnation, events }: Show, now: number, width: number): Row {
  const listed = events.filter(({ removedAt }) => removedAt === null).length;
  const left: Row = [piece(' Scheduled Events Bridge', 'strong'), piece('  demo', 'quiet')];
  const right: Row = [
    piece('Azure: ', 'quiet'),
    piece(`incarnation ${incarnation}, ${plural(listed, 'event')}`),
    piece(`   ${now.toFixed(0).padStart(3)} s `, 'strong'),
  ];
  return [...left, piece(' '.repeat(Math.max(1, width - widthOf(left) - widthOf(right)))), ...right];
}

/** `Scheduled, in 4 s`, and what was measured once it is known. */
function statusOf(event: EventLane, now: number): Row {
  const { phase, notBefore, observedPauseMs, noticeSeconds, eventType, removedAt, startedAt } = event;
  if (phase === null) return [piece('announced', 'quiet')];
  const row: Row = [piece(phase, inkOf(phase))];
  if (removedAt === null && startedAt === null && notBefore !== null) {
    return [...row, piece(` in ${inWords(Math.max(0, notBefore - now))}`, 'quiet')];
  }
  if (wasFelt(observedPauseMs)) return [...row, piece(` paused ${seconds(observedPauseMs / 1000)}`, 'frozen')];
  if (phase !== 'Scheduled' && noticeSeconds !== null && eventType !== 'Freeze') {
    return [...row, piece(` notice ${seconds(noticeSeconds)}`, 'quiet')];
  }
  return row;
}

const inWords = (value: number): string => (value < 100 ? `${value.toFixed(0)} s` : `${(value / 60).toFixed(0)} min`);

function bridgeStatus({ bridge, waiting }: Show): Row {
  const state = bridge.at(-1)?.state ?? 'starting';
  const wasKilled = bridge.some((one) => one.state === 'killed');
  const words = {
    starting: piece(wasKilled ? 'starts again' : 'starts', 'quiet'),
    running: piece(wasKilled ? 'back' : 'running', 'ended'),
    frozen: piece('frozen by SIGSTOP', 'frozen'),
    killed: piece('kill -9', 'broken'),
  } as const;
  return [words[state], ...kept(waiting)];
}

const kept = (waiting: number): Row =>
  waiting === 0 ? [] : [piece(', keeps '), piece(plural(waiting, 'record'), 'scheduled')];

function hubStatus({ hub, outages }: Show): Row {
  const isDown = outages.some(({ until }) => until === null);
  return isDown ? [...countOf(hub), piece(', '), piece('down', 'broken')] : countOf(hub);
}

function countOf({ recordIds, copies }: Destination): Row {
  const records = plural(recordIds.length, 'record');
  return [piece(copies === 0 ? records : `${records}, ${plural(copies, 'copy', 'copies')}`)];
}

function lastRecords({ records, events }: Show): readonly Row[] {
  const rows = records
    .slice(-recordRows)
    .map(
      ({ at, record: { eventId, eventType, phase, evidence } }): Row => [
        piece(`${at.toFixed(1).padStart(6)} s  `, 'quiet'),
        piece(nameOf(events, eventId, eventType).padEnd(10)),
        piece(phase.padEnd(11), inkOf(phase)),
        piece(evidence.join(', '), 'quiet'),
      ],
    );
  return [...rows, ...Array.from({ length: recordRows - rows.length }, (): Row => [])];
}

const legend: Row = [
  piece(' ──', 'scheduled'),
  piece(' scheduled  ', 'quiet'),
  piece('━━', 'started'),
  piece(' started  ', 'quiet'),
  piece('┊', 'scheduled'),
  piece(' not before  ', 'quiet'),
  piece('▒▒', 'frozen'),
  piece(' frozen  ', 'quiet'),
  piece('✕', 'broken'),
  piece(' kill -9  ', 'quiet'),
  piece('×', 'broken'),
  piece(' hub down', 'quiet'),
];
