import { type DraftVm, quietVm } from './draft.ts';
import { announce, announcedMs, type Case, day, minute, second, started, world } from './scene.ts';

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
    title: 'an event that appears in the minute after the first answer existed before',
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
    title: 'an event that appears in the window after 25 h without a poll existed before',
    world: world('a day off', { events: [event], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', begins: ['present-at-first-look'], noticeSeconds: null }],
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

function unreadableEntryStays(): Case {
  const vm = quietVm('vm-a');
  const before = announce('before').list(961_500, started).complete(1_000_500);
  const during = announce('during', {}, 990_500).list(1_900_500, started).complete(1_990_500);
  vm.endpoint.unreadable.push({ fromMs: 1_000_500, toMs: 4 * 60 * minute });
  return {
    title: 'one unreadable entry that stays hides the other events for a while only',
    world: world('unreadable entry', { events: [before, during], vms: [vm], lengthMs: 3 * 60 * minute }),
    expected: [
      { event: 'before', vm: 'vm-a', end: ['Completed'] },
      { event: 'during', vm: 'vm-a', end: ['Completed'] },
    ],
  };
}

function eventUnreadable(): Case {
  const vm = quietVm('vm-a');
  const span = { fromMs: 120_500, toMs: 150_500 };
  vm.endpoint.mistakes.push({ eventId: 'freeze', ...span });
  vm.endpoint.unreadable.push(span);
  return {
    title: 'an entry that cannot be read may be the event that is missing',
    world: world('event unreadable', { events: [announce('freeze').cancel(300_500)], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', phases: ['Scheduled', 'Canceled'] }],
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
  // More contents than the bound on the state leaves room for.
  for (let number = 1; number <= 2400; number += 1) {
    freeze.list(announcedMs + 3 * number * second, { notBeforeMs: 2 * day + 3 * number * second });
  }
  return {
    title: 'a notBefore that slides every three seconds for 2 h leaves a small state',
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

function clockSetWithoutDate(): Case {
  const vm = quietVm('vm-a');
  vm.clock.push({ atMs: 975_200, errorMs: 3_600_000, isStep: true });
  vm.endpoint.withoutDate.push({ fromMs: 900_000, toMs: 1_100_000 });
  return {
    title: 'a clock set 1 h ahead while Started adds nothing where no answer has a Date',
    world: world('clock set without Date', {
      events: [announce('freeze').list(961_500, started).complete(990_500)],
      vms: [vm],
    }),
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
    title: 'one document without the event by mistake does not end it',
    world: world('missing by mistake', { events: [announce('freeze').cancel(300_500)], vms: [vm] }),
    expected: [{ event: 'freeze', vm: 'vm-a', phases: ['Scheduled', 'Canceled'] }],
  };
}

/** What documents, clocks and a lost state allow to say. */
export const documentCases: readonly Case[] = [
  fastClock(),
  oddStatus(),
  lowerCase(),
  emptyAtFirst(),
  emptyAfterADayOff(),
  clockSetBack(),
  unreadableEntryStays(),
  eventUnreadable(),
  mixedVersions(),
  lateJoiner(),
  startedTwice(),
  slidingNotBefore(),
  clockSetWhileStarted(),
  clockSetWithoutDate(),
  noDate(),
  lostState(),
  lostStateWhileListed(),
  fastWitnessDies(),
  missingByMistake(),
];
