import { DraftEvent, type DraftVm, quietVm } from './draft.ts';
import { announce, announcedMs, type Case, day, minute, second, started, world } from './scene.ts';
import type { Entry } from './world.ts';

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
    title: 'a stall of the CPU 199 s before notBefore is no evidence of a freeze',
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

function approvedAndCanceled(): Case {
  const event = announce('freeze');
  event.approved = { vm: 'vm-a', atMs: 300_500 };
  return {
    title: 'an event that leaves after our approval may have been carried out',
    world: world('approved and canceled', { events: [event.cancel(302_500)] }),
    expected: [{ event: 'freeze', vm: 'vm-a', end: ['Ended'] }],
  };
}

function watchedByTheOther(): Case {
  const vms = [quietVm('vm-a'), quietVm('vm-b')];
  vms[0]?.outages.push({ fromMs: 310_500, toMs: 350_500, cause: null, isClean: true });
  const event = announce('reboot', { type: 'Reboot', source: 'User' });
  event.approved = { vm: 'vm-a', atMs: 300_500 };
  return {
    title: 'an observed Canceled outranks a Completed whose start was not observed',
    world: world('watched by the other', { events: [event.cancel(330_500)], vms, witnessRate: 1 }),
    expected: [
      { event: 'reboot', vm: 'vm-b', end: ['Canceled'] },
      { event: 'reboot', end: ['Canceled'] },
    ],
  };
}

function approvedEarly(): Case {
  const vm = quietVm('vm-a');
  const reboot = announce('reboot', { type: 'Reboot', source: 'User' }).list(announcedMs + 5300, started);
  reboot.outage(vm, announcedMs + 5450, 54_000);
  reboot.complete(announcedMs + 90_000);
  return {
    title: 'the last observation before the outage ends the notice of an event approved after 5 s',
    world: world('approved early', { events: [reboot], vms: [vm] }),
    expected: [{ event: 'reboot', vm: 'vm-a', end: ['Completed'], noticeSeconds: 5, outageSeconds: 56 }],
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

function restartInItsTime(): Case {
  const vm = quietVm('vm-a');
  vm.outages.push({ fromMs: 955_500, toMs: 985_500, cause: null, isClean: true });
  return {
    title: 'a restart of the guest after notBefore is no evidence of a freeze',
    world: world('restart in its time', { events: [announce('freeze').cancel(970_500)], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', end: ['Ended'] }],
  };
}

function twoStarted(): Case {
  const vm = quietVm('vm-a');
  const other = announce('another').list(961_500, started).complete(1_100_500);
  const freeze = announce('freeze').list(962_500, started);
  freeze.pause(vm, 970_500, 3000);
  freeze.complete(1_000_500);
  return {
    title: 'a pause while two events are Started is ambiguous',
    world: world('two started', { events: [freeze, other], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', end: ['Completed'] }],
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
    expected: [{ event: 'reboot', vm: 'vm-a', end: ['Completed'], noticeSeconds: 896 }],
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
    title: 'a hardware failure first listed after the boot has the outage between the two observations',
    world: world('failure listed late', { events: [failure], vms: [vm] }),
    expected: [{ event: 'failure', vm: 'vm-a', end: ['Completed'], outageSeconds: 122 }],
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

/** Whose pause, outage or move it was, and how long the warning. */
export const impactCases: readonly Case[] = [
  anotherEventsMove(),
  stallBeforeCancel(),
  ownRestart("a user's freeze canceled while the guest restarts", { source: 'User' }, announcedMs + 630_000),
  ownRestart(
    'a Terminate canceled 740 s early while the guest restarts',
    { type: 'Terminate', source: 'User' },
    announcedMs + 160_000,
  ),
  approvedAndCanceled(),
  watchedByTheOther(),
  approvedEarly(),
  freezeTooShortToSee(),
  restartInItsTime(),
  twoStarted(),
  startFoundAfterReboot(),
  firstOneBack(),
  outageOfAnother(),
  failedPollInPause(),
  silentAfterBoot(),
  failureListedLate(),
  clockSetInPause(),
  slowAnswer(),
];
