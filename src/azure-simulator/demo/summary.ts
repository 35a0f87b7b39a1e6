import { plural, type Row, type Span, seconds, span } from '../../terminal/styled-text.ts';
import { commandFor, runsFromSources } from '../cli/programs.ts';
import { styleOf } from './lane.ts';
import { isFleet, isPause, type Show, type ShownEvent } from './model.ts';
import type { EventVerdict, Verdict } from './verdict.ts';

/** What is printed at the end of the show. */
export function summarize(verdict: Verdict, show: Show): readonly Row[] {
  return [
    [],
    ...(isFleet(show) ? fleetTable(verdict) : eventTable(verdict, show)),
    [],
    ...(verdict.differences.length === 0
      ? agreement(verdict, show)
      : verdict.differences.map((text): Row => [span(`   ${text}`, 'broken')])),
    [],
  ];
}

const share = (count: number, all: number): Span =>
  span(`${count} of ${all}`.padEnd(11), count === all ? 'ended' : 'broken');

function eventTable({ events }: Verdict, show: Show): readonly Row[] {
  const rows = events.flatMap(({ eventId, eventType, issued, onHub, inTable }): readonly Row[] => {
    const event = show.events.find((one) => one.eventId === eventId);
    const row: Row = [
      span(`   ${(event?.name ?? eventType).padEnd(10)}${issued.join(', ').padEnd(29)}`),
      share(onHub, issued.length),
      share(inTable, issued.length),
      event?.phase ? span(event.phase, styleOf(event.phase)) : span(''),
    ];
    const measured = event ? measurement(event, frozenSeconds(show)) : null;
    return measured === null ? [row] : [row, [span(`             ${measured}`, 'quiet')]];
  });
  return [[span('   Issued by Azure                        Event hub  Table', 'quiet')], ...rows];
}

function measurement({ eventType, startedAt, observedPauseMs, noticeSeconds }: ShownEvent, frozen: number | null) {
  if (startedAt === null) return null;
  if (eventType !== 'Freeze') return noticeSeconds === null ? null : `actual notice: ${seconds(noticeSeconds)}`;
  if (frozen === null) return 'not frozen: this system has no signal for it';
  const measured = isPause(observedPauseMs) ? seconds(observedPauseMs / 1000) : 'nothing';
  return `frozen for ${seconds(frozen)}; the bridge itself measured ${measured}`;
}

/** How long the bridge was frozen; null: it was not. */
function frozenSeconds({ bridge }: Show): number | null {
  const frozen = bridge.findIndex(({ state }) => state === 'frozen');
  const [from, until] = [bridge[frozen]?.from, bridge[frozen + 1]?.from];
  return frozen < 0 || from === undefined || until === undefined ? null : until - from;
}

/** Events that differ only in their id share a row: `5 x Reboot of 8 VMs`. */
function fleetTable({ events }: Verdict): readonly Row[] {
  const alike = Map.groupBy(events, ({ eventId: _, ...event }) => JSON.stringify(event));
  return [
    [span('   Issued by Azure                                    Folded     VMs complete', 'quiet')],
    ...[...alike.values()].flatMap(([event, ...others]) => (event ? [fleetRow(event, 1 + others.length)] : [])),
  ];
}

function fleetRow({ eventType, affected, issued, onHub, complete }: EventVerdict, events: number): Row {
  const title = `${events === 1 ? '' : `${events} x `}${eventType} of ${plural(affected, 'VM')}`;
  return [
    span(`   ${title.padEnd(22)}${issued.join(', ').padEnd(29)}`),
    share(onHub, issued.length),
    share(complete, affected),
  ];
}

function agreement({ events, hub, table }: Verdict, show: Show): readonly Row[] {
  const steps = events.reduce((sum, { issued }) => sum + issued.length, 0);
  const copies = hub.copies + table.copies;
  const result = isFleet(show)
    ? `folded to ${plural(steps, 'transition')}, which is what Azure issued.`
    : `none is missing${copies === 0 ? ', none arrived twice' : ''}.`;
  const wasKilled = show.bridge.some(({ state }) => state === 'killed');
  return [
    [
      span('   They agree: ', 'ended'),
      span(
        `${plural(steps, 'step')}, ${plural(hub.records, 'record')} on the event hub and ${table.records} in the table;`,
      ),
    ],
    [span(`   ${result}`)],
    ...(copies === 0 ? [] : duplicates(copies, wasKilled).map((line): Row => [span(line, 'quiet')])),
  ];
}

function duplicates(copies: number, wasKilled: boolean): readonly string[] {
  const again = `   ${copies} arrived again with the same recordId`;
  return wasKilled ? [`${again}: the bridge was killed before it`, '   received the acknowledgement.'] : [`${again}.`];
}

/** What to do next, within 80 columns. `entry`: the file that this program was started with. */
export function whatNext(entry: string, workingDirectory?: string): string {
  const name = 'scheduled-events-simulator';
  const command = commandFor(name, entry, workingDirectory);
  const program = command.includes('..') ? name : command;
  const demo = runsFromSources(entry) ? 'npm run demo --' : `${program} demo`;
  return `   Next   a local Azure for your own subscriber:
            ${program} simulate freeze
          the same with a scale set of 200 VMs:
            ${demo} --fleet 200
          maintenance of 200 VMs on a page in your browser:
            ${demo} --web
          the README shows how to point it at your own Azure
`;
}
