import { commandFor } from '../cli/programs.ts';
import { plural, seconds, wasFelt } from './figures.ts';
import type { EventLane, Show } from './model.ts';
import { type Piece, piece, type Row } from './picture/ink.ts';
import { inkOf } from './picture/lane.ts';
import type { Count, Verdict } from './verdict.ts';

/** What is printed when the show is over. */
export function summarize({ events, hub, table, complaints }: Verdict, show: Show): readonly Row[] {
  const steps = events.reduce((sum, { said }) => sum + said.length, 0);
  const rows = events.flatMap(({ eventId, eventType, said, onHub, inTable }): readonly Row[] => {
    const event = show.events.find((one) => one.eventId === eventId);
    const line: Row = [
      piece(`   ${(event?.name ?? eventType).padEnd(10)}${said.join(', ').padEnd(29)}`),
      held(onHub, said.length),
      held(inTable, said.length),
      event?.phase ? piece(event.phase, inkOf(event.phase)) : piece(''),
    ];
    const measured = event ? figure(event, stoodStillSeconds(show)) : null;
    return measured === null ? [line] : [line, [piece(`             ${measured}`, 'quiet')]];
  });
  return [
    [],
    [piece('   What Azure said                        Event hub  Table', 'quiet')],
    ...rows,
    [],
    ...(complaints.length === 0
      ? agreement(steps, hub, table)
      : complaints.map((complaint): Row => [piece(`   ${complaint}`, 'broken')])),
    [],
  ];
}

const held = (records: number, steps: number): Piece =>
  piece(`${records} of ${steps}`.padEnd(11), records === steps ? 'ended' : 'broken');

function figure(
  { eventType, startedAt, observedPauseMs, noticeSeconds }: EventLane,
  frozenSeconds: number | null,
): string | null {
  if (startedAt === null) return null;
  if (eventType !== 'Freeze') {
    return noticeSeconds === null ? null : `the notice really given: ${seconds(noticeSeconds)}`;
  }
  if (frozenSeconds === null) return 'nothing stood still: this system has no signal for it';
  const measured = wasFelt(observedPauseMs) ? seconds(observedPauseMs / 1000) : 'nothing';
  return `it stood still for ${seconds(frozenSeconds)} and measured that on itself: ${measured}`;
}

function agreement(steps: number, hub: Count, table: Count): readonly Row[] {
  const copies = hub.copies + table.copies;
  return [
    [
      piece('   They agree: ', 'ended'),
      piece(
        `${plural(steps, 'step')}, ${plural(hub.records, 'record')} on the event hub and ${table.records} in the table;`,
      ),
    ],
    [piece(copies === 0 ? '   none is missing, none came twice.' : '   none is missing.')],
    ...(copies === 0
      ? []
      : [[piece(`   ${copies} came again under the same recordId: kill -9 came before its answer.`, 'quiet')]]),
  ];
}

/** How long the bridge really stood still; null: it did not. */
function stoodStillSeconds({ bridge }: Show): number | null {
  const frozen = bridge.findIndex(({ state }) => state === 'frozen');
  const [from, until] = [bridge[frozen]?.from, bridge[frozen + 1]?.from];
  return frozen < 0 || from === undefined || until === undefined ? null : until - from;
}

/** What to do next. `entry`: the file that this program was started with. */
export function whatNext(entry: string): string {
  const program = commandFor('scheduled-events-simulator', entry);
  return `   Next   ${program} simulate freeze     a local Azure for your own subscriber
          ${program} demo --fleet 200    the same with a scale set of 200 VMs
          the README says how to point it at your own Azure
`;
}
