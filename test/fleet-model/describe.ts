import type { Verdict } from './judge.ts';
import { say, seconds } from './judge-steps.ts';
import type { Finding } from './kinds.ts';
import type { Entry, PlatformEvent, Vm, World } from './world.ts';

interface Line {
  readonly atMs: number;
  readonly text: string;
}

const time = (ms: number): string => {
  const whole = Math.floor(ms / 1000);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${parts.join(':')}.${String(Math.floor(ms) % 1000).padStart(3, '0')}`;
};

const inOrder = (lines: readonly Line[]): string[] =>
  [...lines].sort((a, b) => a.atMs - b.atMs).map(({ atMs, text }) => `  ${time(atMs)}  ${text}`);

function entryLine({ type, status, source, resources, notBeforeMs, durationSeconds }: Entry): string {
  const when = notBeforeMs === null ? 'no notBefore' : `notBefore ${time(notBeforeMs)}`;
  return `${status} ${type} of ${resources.join(', ')} (${source}, ${when}, ${durationSeconds} s)`;
}

function linesOfEvent({ id, listings, impacts, approved, outcome }: PlatformEvent): Line[] {
  return [
    ...listings.map(({ atMs, entry }) => ({
      atMs,
      text: `${id}  ${entry === null ? `off the list (${outcome})` : entryLine(entry)}`,
    })),
    ...impacts.map(({ fromMs, toMs, kind, vm }) => ({
      atMs: fromMs,
      text: `${id}  ${kind} of ${vm}${toMs === Number.POSITIVE_INFINITY ? '' : `, ${seconds(toMs - fromMs)}`}`,
    })),
    ...(approved ? [{ atMs: approved.atMs, text: `${id}  approved by the bridge of ${approved.vm}` }] : []),
  ];
}

function linesOfVm(vm: Vm): Line[] {
  const { name, endpoint } = vm;
  const line = (atMs: number, text: string): Line => ({ atMs, text: `${name}  ${text}` });
  const lasts = ({ fromMs, toMs }: { fromMs: number; toMs: number }): string => `for ${seconds(toMs - fromMs)}`;
  return [
    ...(vm.joinsMs >= 1000 ? [line(vm.joinsMs, 'joins')] : []),
    ...(vm.identityMs > 0 ? [line(vm.identityMs, 'learns who it is')] : []),
    ...vm.outages
      .filter(({ cause }) => cause === null)
      .map((span) => line(span.fromMs, `guest restarts by itself ${lasts(span)}`)),
    ...vm.pauses.filter(({ cause }) => cause === null).map((span) => line(span.fromMs, `CPU stall ${lasts(span)}`)),
    ...vm.pauses
      .filter(({ clocks }) => clocks !== 'run')
      .map(({ fromMs, clocks }) => line(fromMs, `clocks in the pause: ${clocks}`)),
    ...vm.movesMs.map((atMs) => line(atMs, 'runs on another host')),
    ...vm.clock.map(({ atMs, errorMs, isStep }) =>
      line(atMs, `clock ${seconds(errorMs)} ahead${isStep ? ', set' : ''}`),
    ),
    ...vm.processOutages.map((span) =>
      line(
        span.fromMs,
        `process ${span.isClean ? 'stopped' : 'killed'} ${lasts(span)}${span.losesState ? ', state lost' : ''}`,
      ),
    ),
    ...endpoint.resets.map(({ atMs, emptyMs, incarnation }) =>
      line(atMs, `endpoint restarts at incarnation ${incarnation}, empty for ${seconds(emptyMs)}`),
    ),
    ...endpoint.mistakes.map((span) => line(span.fromMs, `${span.eventId} missing by mistake ${lasts(span)}`)),
    ...endpoint.unreadable.map((span) => line(span.fromMs, `unreadable entry ${lasts(span)}`)),
    ...endpoint.failures.map((span) => line(span.fromMs, `answers ${span.code} ${lasts(span)}`)),
    ...endpoint.slow.map((span) => line(span.fromMs, `answers take ${seconds(span.answerMs)} ${lasts(span)}`)),
    ...endpoint.withoutDate.map((span) => line(span.fromMs, `answers without Date ${lasts(span)}`)),
  ];
}

const vmLine = (vm: Vm): string =>
  `  ${vm.name}: api-version ${vm.endpoint.apiVersion}, incarnation from ${vm.endpoint.firstIncarnation} by ${vm.endpoint.stride}` +
  `${vm.endpoint.hasEtag ? '' : ', no ETag'}${vm.showsHost ? '' : ', host unknown'}${vm.driftPpm === 0 ? '' : `, drift ${vm.driftPpm} ppm`}`;

/** The world as a timeline: all of it, or what concerns one finding. */
export function describeWorld(world: World, about?: Pick<Finding, 'event' | 'vm'>): string {
  const isReported = (name: string): boolean => !about?.vm || about.vm === name;
  const ours = world.vms.filter(({ name }) => isReported(name));
  return [
    `${world.title}: ${world.view}, witnessRate ${world.witnessRate}, ${time(world.lengthMs)} long`,
    ...ours.map(vmLine),
    ...inOrder([...world.events.flatMap(linesOfEvent), ...ours.flatMap(linesOfVm)]),
  ].join('\n');
}

/** What each VM recorded, in the order of true time. */
export function describeRecords({ accounts }: Verdict, about?: Pick<Finding, 'event' | 'vm'>): string {
  const lines = accounts.flatMap(({ vm, records }) =>
    records
      .filter(({ record }) => !about?.event || record.eventId === about.event)
      .filter(() => !about?.vm || about.vm === vm.name)
      .map((recorded) => {
        const { record, atMs } = recorded;
        const figures = [
          record.noticeSeconds === null ? '' : `notice ${record.noticeSeconds}`,
          record.startedSeconds === null ? '' : `started ${record.startedSeconds}`,
          record.observedPauseTotalMs === null ? '' : `pause ${record.observedPauseTotalMs} ms`,
          record.observedOutageSeconds === null ? '' : `outage ${record.observedOutageSeconds}`,
        ].filter((figure) => figure !== '');
        return { atMs, text: `${vm.name}  ${record.eventId}  ${say(recorded)} ${figures.join(', ')}` };
      }),
  );
  return inOrder(lines).join('\n');
}

/** How much there is to read about a world: the smallest example is the best one. */
export const sizeOf = (world: World): number =>
  world.events.flatMap(linesOfEvent).length + world.vms.flatMap(linesOfVm).length + 2 * world.vms.length;

export const describeFinding = ({ kind, event, vm, atMs, text }: Finding): string =>
  `${kind}: ${[vm, event].filter(Boolean).join(' ')} at ${time(atMs)}: ${text}`;
