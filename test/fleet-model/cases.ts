import { DraftEvent, type DraftVm, finishVm, quietVm } from './draft.ts';
import type { Entry, World } from './world.ts';

/** What has to be said of one event, by one VM or (no VM) by the fold over all. */
export interface Expected {
  readonly event: string;
  readonly vm?: string;
  /** The last end; null: none. One of these phases. */
  readonly end?: readonly string[] | null;
  /** Of the last record, within two polls. */
  readonly noticeSeconds?: number | null;
  readonly startedSeconds?: number | null;
  readonly pauseMs?: number | null;
  readonly outageSeconds?: number | null;
  /** All phases in order. */
  readonly phases?: readonly string[];
  /** Evidence of the first record. */
  readonly begins?: readonly string[];
}

/** A small world made for one rule, with what has to be said of it. */
export interface Case {
  readonly title: string;
  readonly world: World;
  readonly expected: readonly Expected[];
}

const second = 1000;
const minute = 60 * second;
const day = 24 * 60 * minute;

/** Freeze of vm-a, announced a minute after the beginning, with 15 minutes of notice. */
const announcedMs = minute + 500;

const announce = (id: string, entry: Partial<Entry> = {}, atMs = announcedMs): DraftEvent =>
  new DraftEvent(id, {
    status: 'Scheduled',
    type: 'Freeze',
    source: 'Platform',
    resources: ['vm-a'],
    notBeforeMs: Math.floor(atMs / second) * second + 900 * second,
    durationSeconds: 5,
    ...entry,
  }).list(atMs);

interface Scene {
  readonly events: readonly DraftEvent[];
  readonly vms?: readonly DraftVm[];
  readonly lengthMs?: number;
  readonly witnessRate?: 0 | 1;
}

function world(title: string, { events, vms = [quietVm('vm-a')], lengthMs, witnessRate = 0 }: Scene): World {
  const lastMs = Math.max(...events.flatMap(({ listings }) => listings.map(({ atMs }) => atMs)));
  return {
    title,
    lengthMs: lengthMs ?? lastMs + 30 * minute,
    view: 'group',
    witnessRate,
    vms: vms.map((vm) => finishVm({ ...vm, joinsMs: vm.joinsMs === 0 ? -10 * minute : vm.joinsMs })),
    events: events.map((event) => event.finish()),
  };
}

const started = { status: 'Started' };

function anotherEventsMove(): Case {
  const vm = quietVm('vm-a');
  const freeze = announce('freeze').list(961_500, started);
  const redeploy = announce('redeploy', { type: 'Redeploy', notBeforeMs: day + minute, durationSeconds: -1 }, 90_500);
  freeze.pause(vm, 965_100, 3000);
  vm.movesMs.push(968_100);
  redeploy.cancel(968_200);
  freeze.complete(1_200_500);
  return {
    title: 'a pause and a change of host belong to the event that had started',
    world: world('move by another event', { events: [freeze, redeploy], vms: [vm] }),
    expected: [
      { event: 'redeploy', vm: 'vm-a', end: ['Canceled'], pauseMs: null },
      { event: 'freeze', vm: 'vm-a', end: ['Completed'], pauseMs: 3000 },
    ],
  };
}

function stallBeforeCancel(): Case {
  const vm = quietVm('vm-a');
  const leavesMs = 960_000 - 199 * second;
  vm.pauses.push({
    fromMs: leavesMs - 1200,
    toMs: leavesMs - 100,
    cause: null,
    pollInFlight: null,
    clocks: 'run',
  });
  return {
    title: 'a stall of the CPU 199 s before notBefore proves no freeze',
    world: world('stall before cancel', { events: [announce('freeze').cancel(leavesMs)], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', end: ['Canceled'] }],
  };
}

function ownRestart(title: string, entry: Partial<Entry>, leavesMs: number): Case {
  const vms = [quietVm('vm-a'), quietVm('vm-b')];
  vms[0]?.outages.push({ fromMs: leavesMs - 20_000, toMs: leavesMs + 20_000, cause: null, isClean: true });
  return {
    title,
    world: world(title, { events: [announce('event', entry).cancel(leavesMs)], vms, witnessRate: 1 }),
    expected: [
      { event: 'event', vm: 'vm-a', end: ['Canceled', 'Ended'], outageSeconds: null },
      { event: 'event', vm: 'vm-b', end: ['Canceled'] },
      { event: 'event', end: ['Canceled'] },
    ],
  };
}

function approvedEarly(): Case {
  const vm = quietVm('vm-a');
  const reboot = announce('reboot', { type: 'Reboot', source: 'User' }).list(announcedMs + 5300, started);
  reboot.outage(vm, announcedMs + 5450, 54_000);
  reboot.complete(announcedMs + 90_000);
  return {
    title: 'the last look before the outage ends the notice of an event approved after 5 s',
    world: world('approved early', { events: [reboot], vms: [vm] }),
    expected: [{ event: 'reboot', vm: 'vm-a', end: ['Completed'], outageSeconds: 56 }],
  };
}

function freezeTooShortToSee(): Case {
  const vm = quietVm('vm-a');
  const freeze = announce('freeze', { notBeforeMs: 360_000 });
  freeze.approved = { vm: 'vm-a', atMs: announcedMs + 58_000 };
  freeze.list(announcedMs + 59_550, started);
  freeze.pause(vm, announcedMs + 59_600, 5000);
  freeze.complete(announcedMs + 64_590);
  return {
    title: 'a measured pause ends the notice where Started was never seen',
    world: world('2 to 4', { events: [freeze], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', end: ['Completed'], noticeSeconds: 59, pauseMs: 5000 }],
  };
}

function startFoundAfterReboot(): Case {
  const vm = quietVm('vm-a');
  const reboot = announce('reboot', { type: 'Reboot' }).list(announcedMs + 897_300, started);
  reboot.outage(vm, announcedMs + 897_450, 238_000);
  reboot.complete(announcedMs + 1_300_000);
  return {
    title: 'Started found after the reboot does not lengthen the notice',
    world: world('started after reboot', { events: [reboot], vms: [vm] }),
    expected: [{ event: 'reboot', vm: 'vm-a', end: ['Completed'] }],
  };
}

function fastClock(): Case {
  const vm = quietVm('vm-a');
  vm.clock.push({ atMs: 0, errorMs: 3_600_000, isStep: false });
  const freeze = announce('freeze').cancel(500_500);
  return {
    title: 'a clock 1 h fast changes no notice',
    world: world('fast clock', { events: [freeze], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', noticeSeconds: 899 }],
  };
}

function firstOneBack(): Case {
  const vms = [quietVm('vm-a'), quietVm('vm-b')];
  const [a, b] = vms as [DraftVm, DraftVm];
  const redeploy = announce('redeploy', { type: 'Redeploy', resources: ['vm-a', 'vm-b'] }).list(961_500, started);
  redeploy.outage(a, 965_500, 60_000);
  redeploy.outage(b, 1_100_500, 60_000);
  a.movesMs.push(1_025_500);
  b.movesMs.push(1_160_500);
  a.endpoint.resets.push({ atMs: 1_025_500, emptyMs: 60_000, incarnation: 0 });
  redeploy.complete(1_300_500);
  return {
    title: 'the first VM back from a redeploy does not end it for the second',
    world: world('first one back', { events: [redeploy], vms }),
    expected: [
      { event: 'redeploy', vm: 'vm-b', end: ['Completed'], outageSeconds: 62 },
      { event: 'redeploy', end: ['Completed'] },
    ],
  };
}

const oddStatus = (): Case => ({
  title: 'an unknown status ends as Ended',
  world: world('InProgress', {
    events: [announce('freeze').list(120_500, { status: 'InProgress' }).complete(180_500)],
  }),
  expected: [{ event: 'freeze', vm: 'vm-a', end: ['Ended'] }],
});

const lowerCase = (): Case => ({
  title: 'a status is known without regard to case',
  world: world('started', { events: [announce('freeze').list(961_500, { status: 'started' }).complete(1_000_500)] }),
  expected: [{ event: 'freeze', vm: 'vm-a', phases: ['Scheduled', 'Started', 'Completed'] }],
});

function emptyAtFirst(): Case {
  const vm = quietVm('vm-a');
  vm.joinsMs = 970_500;
  vm.endpoint.resets.push({ atMs: 970_500, emptyMs: 60_000, incarnation: 1 });
  return {
    title: 'what appears in the minute after the first answer was there before',
    world: world('empty at first', {
      events: [announce('freeze').list(961_500, started).complete(1_300_500)],
      vms: [vm],
    }),
    expected: [{ event: 'freeze', vm: 'vm-a', begins: ['present-at-first-look'], noticeSeconds: null }],
  };
}

function emptyAfterADayOff(): Case {
  const vm = quietVm('vm-a');
  const backMs = 10_500 + 25 * 60 * minute;
  vm.processOutages.push({ fromMs: 10_500, toMs: backMs, isClean: true, losesState: false });
  vm.endpoint.resets.push({ atMs: backMs, emptyMs: 50_000, incarnation: 1 });
  const event = announce('freeze', {}, backMs - 3 * minute).cancel(backMs + 10 * minute);
  return {
    title: 'what appears in the window after 25 h without a poll was there before',
    world: world('a day off', { events: [event], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', begins: ['present-at-first-look'], noticeSeconds: null }],
  };
}

function outageOfAnother(): Case {
  const vm = quietVm('vm-a');
  const reboot = announce('reboot', { type: 'Reboot' }).list(961_500, started);
  const freeze = announce('freeze', { notBeforeMs: day }, 90_500);
  reboot.outage(vm, 965_500, 190_000);
  reboot.complete(1_300_500);
  freeze.cancel(1_500_500);
  return {
    title: 'an outage is booked to the event that caused it',
    world: world('outage of another', { events: [reboot, freeze], vms: [vm] }),
    expected: [
      { event: 'reboot', vm: 'vm-a', end: ['Completed'], outageSeconds: 192 },
      { event: 'freeze', vm: 'vm-a', end: ['Canceled'], outageSeconds: null },
    ],
  };
}

function failedPollInPause(): Case {
  const vm = quietVm('vm-a');
  const freeze = announce('freeze').list(961_500, started);
  freeze.pause(vm, 965_500, 5000, { pollInFlight: 'failed', clocks: 'wall-stops' });
  freeze.complete(990_500);
  // Two changes in the pause: the next document skips one.
  const other = announce('other', { resources: ['vm-b'] }, 966_500).list(967_500, { durationSeconds: 9 });
  return {
    title: 'a freeze in which the poll under way fails counts once',
    world: world('failed poll in pause', { events: [freeze, other], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', end: ['Completed'], pauseMs: 5000 }],
  };
}

function silentAfterBoot(): Case {
  const vm = quietVm('vm-a');
  const reboot = announce('reboot', { type: 'Reboot' }).list(961_500, started);
  reboot.outage(vm, 965_500, 49_500);
  vm.endpoint.failures.push({ fromMs: 1_015_000, toMs: 1_197_000, code: 'http-500' });
  reboot.complete(1_300_500);
  return {
    title: 'the first poll after the boot ends the outage, whatever it brings',
    world: world('silent after boot', { events: [reboot], vms: [vm] }),
    expected: [{ event: 'reboot', vm: 'vm-a', end: ['Completed'], outageSeconds: 52 }],
  };
}

function failureListedLate(): Case {
  const vm = quietVm('vm-a');
  const failure = new DraftEvent('failure', {
    status: 'Started',
    type: 'Reboot',
    source: 'Platform',
    resources: ['vm-a'],
    notBeforeMs: null,
    durationSeconds: -1,
  });
  failure.outage(vm, 100_500, 120_000);
  failure.startedMs = 100_500;
  failure.list(130_500).complete(400_500);
  return {
    title: 'a hardware failure first listed after the boot has the outage between the two looks',
    world: world('failure listed late', { events: [failure], vms: [vm] }),
    expected: [{ event: 'failure', vm: 'vm-a', end: ['Completed'], outageSeconds: 122 }],
  };
}

function clockSetBack(): Case {
  const vm = quietVm('vm-a');
  const freeze = announce('freeze').list(961_500, started);
  freeze.pause(vm, 965_500, 3000);
  vm.movesMs.push(968_500);
  vm.endpoint.resets.push({ atMs: 968_500, emptyMs: 60_000, incarnation: 0 });
  vm.clock.push({ atMs: 968_500, errorMs: 7_200_000, isStep: false }, { atMs: 990_500, errorMs: 0, isStep: true });
  freeze.complete(1_000_500);
  return {
    title: 'a clock set back does not stretch the window after a reset',
    world: world('clock set back', { events: [freeze], vms: [vm], lengthMs: 4 * 60 * minute }),
    expected: [{ event: 'freeze', vm: 'vm-a', end: ['Completed'] }],
  };
}

function clockSetInPause(): Case {
  const vm = quietVm('vm-a');
  const freeze = announce('freeze').list(961_500, started);
  freeze.pause(vm, 965_500, 3000);
  vm.clock.push({ atMs: 968_400, errorMs: 7_200_000, isStep: true });
  freeze.complete(1_000_500);
  return {
    title: 'a clock set 2 h ahead right after a pause is no part of it',
    world: world('clock set in a pause', { events: [freeze], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', end: ['Completed'], pauseMs: 3000 }],
  };
}

function slowAnswer(): Case {
  const vm = quietVm('vm-a');
  vm.endpoint.stride = 2;
  vm.endpoint.slow.push({ fromMs: 839_000, toMs: 841_000, answerMs: 3900, servedAfter: 1 });
  return {
    title: 'a slow answer is no pause',
    world: world('slow answer', { events: [announce('freeze').cancel(840_200)], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', end: ['Canceled', 'Ended'], pauseMs: null }],
  };
}

function unreadableEntryStays(): Case {
  const vm = quietVm('vm-a');
  const before = announce('before').list(961_500, started).complete(1_000_500);
  const during = announce('during', {}, 990_500).list(1_900_500, started).complete(1_990_500);
  vm.endpoint.unreadable.push({ fromMs: 995_500, toMs: 4 * 60 * minute });
  return {
    title: 'one unreadable entry that stays hides the other events for a while only',
    world: world('unreadable entry', { events: [before, during], vms: [vm], lengthMs: 3 * 60 * minute }),
    expected: [
      { event: 'before', vm: 'vm-a', end: ['Completed'] },
      { event: 'during', vm: 'vm-a', end: ['Completed'] },
    ],
  };
}

function mixedVersions(): Case {
  const vms = [quietVm('vm-a'), quietVm('vm-b')];
  if (vms[1]) vms[1].endpoint.apiVersion = '2019-01-01';
  const freeze = announce('freeze', { resources: ['vm-a', 'vm-b'] });
  freeze.list(120_500, { notBeforeMs: 1_200_000 }).cancel(300_500);
  return {
    title: 'VMs that ask different versions give an Updated one id',
    world: world('mixed versions', { events: [freeze], vms }),
    expected: [{ event: 'freeze', end: ['Canceled'] }],
  };
}

function lateJoiner(): Case {
  const vms = [quietVm('vm-a'), quietVm('vm-b')];
  if (vms[1]) vms[1].joinsMs = 200_000;
  const freeze = announce('freeze', { resources: ['vm-a', 'vm-b'] });
  freeze.list(120_500, { notBeforeMs: 1_200_000 }).list(180_500, { notBeforeMs: 960_000 });
  freeze.list(240_500, { notBeforeMs: 1_200_000 }).cancel(300_500);
  return {
    title: 'a VM that joins late after a move and its return sees the second as the first',
    world: world('late joiner', { events: [freeze], vms }),
    expected: [{ event: 'freeze', end: ['Canceled'] }],
  };
}

function startedTwice(): Case {
  const freeze = announce('freeze').list(961_500, started);
  freeze.list(966_500, { status: 'Scheduled', notBeforeMs: 1_030_000 }).list(970_500, { notBeforeMs: 1_060_000 });
  freeze.list(975_500, started).complete(980_500);
  return {
    title: 'Started, Scheduled, moved and Started again are four steps',
    world: world('started twice', { events: [freeze] }),
    expected: [{ event: 'freeze', vm: 'vm-a', end: ['Completed'], startedSeconds: 10 }],
  };
}

function slidingNotBefore(): Case {
  const freeze = announce('freeze', { notBeforeMs: 2 * day });
  for (let number = 1; number <= 7200; number += 1) {
    freeze.list(announcedMs + number * second, { notBeforeMs: 2 * day + number * second });
  }
  return {
    title: 'a notBefore that slides every second for 2 h leaves a small state',
    world: world('sliding notBefore', { events: [freeze.cancel(announcedMs + 7210 * second)] }),
    expected: [{ event: 'freeze', vm: 'vm-a', end: ['Canceled'] }],
  };
}

function clockSetWhileStarted(): Case {
  const vm = quietVm('vm-a');
  vm.clock.push({ atMs: 975_200, errorMs: 3_600_000, isStep: true });
  return {
    title: 'a clock set 1 h ahead while Started adds nothing',
    world: world('clock set', { events: [announce('freeze').list(961_500, started).complete(990_500)], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', end: ['Completed'], startedSeconds: 29 }],
  };
}

function noDate(): Case {
  const vm = quietVm('vm-a');
  vm.clock.push({ atMs: 0, errorMs: -3_600_000, isStep: false });
  vm.endpoint.withoutDate.push({ fromMs: 900_000, toMs: 1_100_000 });
  return {
    title: 'an answer without Date is judged with the offset that is known',
    world: world('no Date', { events: [announce('freeze').complete(970_500)], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', end: ['Completed', 'Ended'] }],
  };
}

function lostState(): Case {
  const vm = quietVm('vm-a');
  vm.processOutages.push({ fromMs: 300_500, toMs: 310_500, isClean: false, losesState: true });
  return {
    title: 'an event that left while the state was lost does not stay open',
    world: world('lost state', { events: [announce('freeze').cancel(305_500)], vms: [vm] }),
    expected: [],
  };
}

function lostStateWhileListed(): Case {
  const vm = quietVm('vm-a');
  vm.processOutages.push({ fromMs: 300_500, toMs: 310_500, isClean: false, losesState: true });
  return {
    title: 'a lost state ends no event that is still listed',
    world: world('lost state while listed', { events: [announce('freeze').cancel(600_500)], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', phases: ['Scheduled', 'Scheduled', 'Canceled'] }],
  };
}

function fastWitnessDies(): Case {
  const vms = [quietVm('vm-a'), quietVm('vm-b')];
  const [, b] = vms as [DraftVm, DraftVm];
  const freeze = announce('freeze', { resources: ['vm-a', 'vm-b'] });
  freeze.unlist(120_500).list(300_500).list(961_500, started).complete(990_500);
  b.clock.push({ atMs: 0, errorMs: 900_000, isStep: false });
  b.removedMs = 310_500;
  return {
    title: 'a return recorded by a clock 15 min fast does not withdraw the true end',
    world: world('fast witness dies', { events: [freeze], vms }),
    expected: [{ event: 'freeze', end: ['Completed'] }],
  };
}

function missingByMistake(): Case {
  const vm = quietVm('vm-a');
  vm.endpoint.mistakes.push({ eventId: 'freeze', fromMs: 120_500, toMs: 121_400 });
  return {
    title: 'one document in which the event is missing by mistake ends nothing',
    world: world('missing by mistake', { events: [announce('freeze').cancel(300_500)], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', phases: ['Scheduled', 'Canceled'] }],
  };
}

/**
 * The smallest worlds in which a known mistake shows. Two need more than one VM's polls and are tested elsewhere: a state that
 * comes back under a client with its entity tag (client and outbox), and an EventId that is no valid text (outbox).
 */
export const cases: readonly Case[] = [
  anotherEventsMove(),
  stallBeforeCancel(),
  ownRestart("a user's freeze canceled while the guest restarts", { source: 'User' }, announcedMs + 630_000),
  ownRestart(
    'a Terminate withdrawn 740 s early while the guest restarts',
    { type: 'Terminate', source: 'User' },
    announcedMs + 160_000,
  ),
  approvedEarly(),
  freezeTooShortToSee(),
  startFoundAfterReboot(),
  fastClock(),
  firstOneBack(),
  oddStatus(),
  lowerCase(),
  emptyAtFirst(),
  emptyAfterADayOff(),
  outageOfAnother(),
  failedPollInPause(),
  silentAfterBoot(),
  failureListedLate(),
  clockSetBack(),
  clockSetInPause(),
  slowAnswer(),
  unreadableEntryStays(),
  mixedVersions(),
  lateJoiner(),
  startedTwice(),
  slidingNotBefore(),
  clockSetWhileStarted(),
  noDate(),
  lostState(),
  lostStateWhileListed(),
  fastWitnessDies(),
  missingByMistake(),
];
