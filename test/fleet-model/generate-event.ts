import { DraftEvent, type DraftVm } from './draft.ts';
import type { Random } from './random.ts';

const second = 1000;
const minute = 60_000;

interface Setting {
  readonly vms: readonly DraftVm[];
  readonly random: Random;
}

type EventPlan = (id: string, fromMs: number, setting: Setting) => DraftEvent;

/** The course of one event of a random kind, with unusual details. */
export function generateEvent(id: string, fromMs: number, setting: Setting): DraftEvent {
  return setting.random.pick(plans)(id, fromMs, setting);
}

/** Whole seconds, as the wire has them. */
const noticeUntil = (fromMs: number, seconds: number): number => Math.ceil(fromMs / second) * second + seconds * second;

/** Between being announced and beginning: what changes meanwhile. The time until which it may not begin. */
function wait(event: DraftEvent, fromMs: number, { random, vms }: Setting): number {
  let notBeforeMs = event.entry.notBeforeMs ?? fromMs;
  if (random.chance(0.3)) {
    for (let count = random.int(1, 4), atMs = fromMs; count > 0; count -= 1) {
      atMs += random.int(1, 90) * second + random.int(0, 999);
      if (atMs > notBeforeMs - 20 * second) break;
      // Now and then it goes back to where it was.
      const earlier = event.listings.at(-2)?.entry?.notBeforeMs;
      notBeforeMs =
        earlier && random.chance(0.3) ? earlier : notBeforeMs + random.pick([-120, -60, 60, 300, 900]) * second;
      notBeforeMs = Math.max(notBeforeMs, noticeUntil(atMs, 25));
      event.list(atMs, { notBeforeMs });
    }
  }
  const lastMs = event.listings.at(-1)?.atMs ?? fromMs;
  if (random.chance(0.08))
    event.list(lastMs + random.int(1, 20) * second, { durationSeconds: random.pick([0, 7, 30]) });
  if (random.chance(0.05))
    event.list(lastMs + random.int(21, 24) * second, { type: random.pick(['Freeze', 'Reboot']) });
  if (random.chance(0.06)) {
    const others = vms.map(({ name }) => name).filter((name) => !event.entry.resources.includes(name));
    const joined = [...event.entry.resources, ...random.some(others, 0.7)];
    event.list((event.listings.at(-1)?.atMs ?? lastMs) + random.int(1, 20) * second, { resources: joined });
  }
  if (random.chance(0.05)) oddStatus(event, random);
  if (random.chance(0.04)) mistakenLeave(event, random);
  return Math.max(notBeforeMs, (event.listings.at(-1)?.atMs ?? fromMs) + 2 * second);
}

/** A status that no documentation knows; with or without a way back. */
function oddStatus(event: DraftEvent, random: Random): void {
  const lastMs = event.listings.at(-1)?.atMs ?? 0;
  event.list(lastMs + random.int(2, 30) * second, { status: random.pick(['InProgress', 'scheduled', 'Pending']) });
  if (random.chance(0.6)) event.list(lastMs + random.int(31, 60) * second, { status: 'Scheduled' });
}

/** Azure itself takes it off and lists it again. */
function mistakenLeave(event: DraftEvent, random: Random): void {
  const lastMs = event.listings.at(-1)?.atMs ?? 0;
  const offMs = lastMs + random.int(2, 30) * second;
  event.unlist(offMs).list(offMs + random.int(20, 900) * second);
}

const draft = (
  id: string,
  fromMs: number,
  entry: {
    type: string;
    source?: string;
    resources: readonly string[];
    noticeSeconds: number;
    durationSeconds?: number;
  },
): DraftEvent =>
  new DraftEvent(id, {
    status: 'Scheduled',
    type: entry.type,
    source: entry.source ?? 'Platform',
    resources: entry.resources,
    notBeforeMs: noticeUntil(fromMs, entry.noticeSeconds),
    durationSeconds: entry.durationSeconds ?? -1,
  }).list(fromMs);

function someVms({ vms, random }: Setting): DraftVm[] {
  const chosen = random.some(vms, 0.5);
  return chosen.length > 0 ? chosen : [random.pick(vms)];
}

const namesOf = (vms: readonly DraftVm[]): string[] => vms.map(({ name }) => name);

/** Approved or its notBefore passed: when Azure begins. */
function begin(event: DraftEvent, readyMs: number, { random }: Setting, mayBeApproved: number): number {
  const listedMs = event.listings.at(-1)?.atMs ?? 0;
  if (!random.chance(mayBeApproved)) return readyMs + random.int(0, 5000);
  const approvedMs = Math.min(readyMs, listedMs + random.int(2, 60) * second);
  const vm = event.entry.resources[0];
  if (vm !== undefined && random.chance(0.4)) event.approved = { vm, atMs: approvedMs };
  return approvedMs + random.int(200, 4000);
}

/** Lists it as Started: for its time, or too short for a poll a second. */
function start(event: DraftEvent, atMs: number, random: Random): { readonly isBrief: boolean } {
  const isBrief = random.chance(0.2);
  event.list(atMs, { status: random.chance(0.04) ? 'started' : 'Started' });
  return { isBrief };
}

function freeze(id: string, fromMs: number, setting: Setting): DraftEvent {
  const { random } = setting;
  const vms = someVms(setting);
  const resources = namesOf(vms);
  const durationSeconds = random.pick([-1, 0, 5, 9, 30]);
  const event = draft(id, fromMs, {
    type: 'Freeze',
    resources,
    noticeSeconds: random.pick([300, 900, 930]),
    durationSeconds,
  });
  const readyMs = wait(event, fromMs, setting);
  const startMs = begin(event, readyMs, setting, 0.3);
  const { isBrief } = start(event, startMs, random);
  const doneMs = startMs + (isBrief ? random.int(60, 900) : random.int(5, 500) * second);
  for (const vm of vms) if (durationSeconds !== 0) pause(event, vm, { startMs, doneMs, isBrief, random });
  if (!isBrief && random.chance(0.08)) backAndAgain(event, doneMs - startMs, random);
  return end(event, Math.max(doneMs, (event.listings.at(-1)?.atMs ?? 0) + second), random);
}

function pause(
  event: DraftEvent,
  vm: DraftVm,
  { startMs, doneMs, isBrief, random }: { startMs: number; doneMs: number; isBrief: boolean; random: Random },
): void {
  if (!random.chance(0.9)) return;
  const lengthMs = random.int(1200, 9000);
  const room = Math.max(0, Math.min(20_000, doneMs - startMs - lengthMs));
  const fromMs = isBrief ? startMs + random.int(0, 50) : startMs + random.int(100, 100 + room);
  event.pause(vm, fromMs, Math.min(lengthMs, Math.max(1100, doneMs - fromMs)), {
    pollInFlight: random.pick([null, null, 'answered', 'failed'] as const),
    clocks: random.pick(['run', 'run', 'run', 'run', 'wall-stops', 'stop'] as const),
  });
  if (random.chance(0.4)) vm.movesMs.push(fromMs + lengthMs);
}

/** Started, Scheduled once more, Started again. */
function backAndAgain(event: DraftEvent, lengthMs: number, random: Random): void {
  const startMs = event.startedMs ?? 0;
  const backMs = startMs + Math.floor(lengthMs / 2) + random.int(1, 3) * second;
  event.list(backMs, { status: 'Scheduled', ...(random.chance(0.5) ? { notBeforeMs: noticeUntil(backMs, 60) } : {}) });
  if (random.chance(0.5)) event.list(backMs + 4 * second, { notBeforeMs: noticeUntil(backMs, 90) });
  event.list(backMs + random.int(6, 20) * second, { status: 'Started' });
}

/** Off the list at last; now and then Azure says how it went before that. */
function end(event: DraftEvent, atMs: number, random: Random): DraftEvent {
  if (!random.chance(0.03)) return event.complete(atMs);
  return event.list(atMs, { status: 'Completed' }).complete(atMs + random.int(2, 60) * second);
}

const restart =
  (type: 'Reboot' | 'Redeploy', source: 'User' | 'Platform'): EventPlan =>
  (id, fromMs, setting) => {
    const { random } = setting;
    const vms = source === 'User' ? [random.pick(setting.vms)] : someVms(setting);
    const event = draft(id, fromMs, { type, source, resources: namesOf(vms), noticeSeconds: random.pick([600, 900]) });
    const readyMs = wait(event, fromMs, setting);
    const startMs = begin(event, readyMs, setting, source === 'User' ? 0.8 : 0.2);
    start(event, startMs, random);
    return addImpactAndEnd(event, startMs, { vms, random });
  };

/** The VMs go down one after the other, and not equally long. */
function addImpactAndEnd(event: DraftEvent, startMs: number, { vms, random }: Setting): DraftEvent {
  let backMs = startMs + second;
  for (const vm of vms) {
    if (!random.chance(0.95)) continue;
    const fromMs = startMs + random.int(300, random.pick([5000, 60_000, 240_000]));
    const lengthMs = random.int(15, 200) * second;
    if (!event.outage(vm, fromMs, lengthMs, { isClean: random.chance(0.6) })) continue;
    backMs = Math.max(backMs, fromMs + lengthMs);
    if (event.entry.type === 'Redeploy' || random.chance(0.2)) vm.movesMs.push(fromMs + lengthMs);
  }
  const doneMs =
    random.chance(0.25) && vms.length === 1
      ? backMs - random.int(1, 10) * second
      : backMs + random.int(0, 300) * second;
  return end(event, Math.max(doneMs, startMs + second), random);
}

function hardwareFailure(id: string, fromMs: number, setting: Setting): DraftEvent {
  const { random } = setting;
  const vms = someVms(setting);
  const event = new DraftEvent(id, {
    status: 'Started',
    type: 'Reboot',
    source: 'Platform',
    resources: namesOf(vms),
    notBeforeMs: null,
    durationSeconds: -1,
  });
  const listedMs = fromMs + random.int(0, 40) * second;
  let backMs = listedMs + second;
  for (const vm of vms) {
    const lengthMs = random.int(30, 300) * second;
    if (!event.outage(vm, fromMs + random.int(0, 3000), lengthMs, { isClean: false })) continue;
    backMs = Math.max(backMs, fromMs + lengthMs);
    if (random.chance(0.6)) vm.movesMs.push(fromMs + lengthMs);
  }
  event.startedMs = Math.min(listedMs, ...event.impacts.map((impact) => impact.fromMs));
  event.list(listedMs, { status: 'Started' });
  return event.complete(backMs + random.int(1, 300) * second);
}

const removal =
  (type: 'Preempt' | 'Terminate'): EventPlan =>
  (id, fromMs, setting) => {
    const { random } = setting;
    const vm = random.pick(setting.vms);
    const noticeSeconds = type === 'Preempt' ? 30 : random.pick([300, 600, 900]);
    const source = type === 'Terminate' ? 'User' : 'Platform';
    const event = draft(id, fromMs, { type, source, resources: [vm.name], noticeSeconds });
    const readyMs = noticeUntil(fromMs, noticeSeconds);
    // The others need a VM that remains; nothing can happen to a removed one.
    if (random.chance(0.5)) return event.cancel(fromMs + random.int(3, noticeSeconds - 5) * second);
    const isStarted = random.chance(0.6);
    if (isStarted) start(event, readyMs, random);
    else event.startedMs = readyMs;
    const goneMs = readyMs + random.int(500, 20_000);
    event.remove(vm, goneMs);
    return event.complete(goneMs + random.int(1, 60) * second);
  };

const canceled =
  (type: string): EventPlan =>
  (id, fromMs, setting) => {
    const { random } = setting;
    const source = type !== 'Freeze' && random.chance(0.3) ? 'User' : 'Platform';
    const vms = someVms(setting);
    const durationSeconds = random.pick([-1, 5]);
    const noticeSeconds = random.pick([900, 900, 86_400]);
    const event = draft(id, fromMs, { type, source, resources: namesOf(vms), noticeSeconds, durationSeconds });
    const readyMs = Math.min(wait(event, fromMs, setting), fromMs + 50 * minute);
    const listedMs = event.listings.at(-1)?.atMs ?? fromMs;
    const cancelMs = Math.max(listedMs + 2 * second, random.int(listedMs, Math.max(listedMs, readyMs - 10 * second)));
    if (random.chance(0.02)) event.list(cancelMs, { status: 'Canceled' });
    return event.cancel(cancelMs + 3 * second);
  };

/** Days ahead: the world ends before it does. */
function degradedHost(id: string, fromMs: number, setting: Setting): DraftEvent {
  const event = draft(id, fromMs, {
    type: 'Redeploy',
    resources: namesOf(someVms(setting)),
    noticeSeconds: 7 * 86_400,
  });
  if (setting.random.chance(0.5)) {
    event.list(fromMs + setting.random.int(10, 900) * second, { notBeforeMs: noticeUntil(fromMs, 3 * 86_400) });
  }
  return event;
}

const plans: readonly EventPlan[] = [
  freeze,
  freeze,
  freeze,
  restart('Reboot', 'User'),
  restart('Redeploy', 'User'),
  restart('Reboot', 'Platform'),
  restart('Redeploy', 'Platform'),
  restart('Redeploy', 'Platform'),
  hardwareFailure,
  removal('Preempt'),
  removal('Terminate'),
  canceled('Freeze'),
  canceled('Redeploy'),
  canceled('Reboot'),
  degradedHost,
];
